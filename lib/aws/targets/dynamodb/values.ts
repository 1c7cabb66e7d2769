import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { StoredValue } from '../../../core/policy/timestamp.ts';

/** An item as DynamoDB has it. Items are never unmarshalled: JavaScript numbers lose digits (pitfall P20). */
export type Item = Readonly<Record<string, AttributeValue>>;

/** Types that a key may have. */
export type KeyType = 'S' | 'N' | 'B';

/** A string, number or binary as text behind its type: `Sabc`, `N12`, `BAQI=`. Undefined for any other type. */
export function tagged(value: AttributeValue | undefined): string | undefined {
  if (value?.S !== undefined) return `S${value.S}`;
  if (value?.N !== undefined) return `N${value.N}`;
  if (value?.B !== undefined) return `B${Buffer.from(value.B).toString('base64')}`;
  return undefined;
}

/** The value behind tagged text; undefined where the text is none. */
export function untagged(text: string): AttributeValue | undefined {
  const rest = text.slice(1);
  switch (text[0]) {
    case 'S':
      return { S: rest };
    case 'N':
      return rest === '' ? undefined : { N: rest };
    case 'B':
      return { B: Buffer.from(rest, 'base64') };
    default:
      return undefined;
  }
}

/** What core needs to judge a timestamp. */
export function storedValue(value: AttributeValue | undefined): StoredValue {
  if (value === undefined) return { type: 'missing', text: '' };
  if (value.S !== undefined) return { type: 'S', text: value.S };
  if (value.N !== undefined) return { type: 'N', text: value.N };
  if (value.NULL !== undefined) return { type: 'NULL', text: '' };
  return { type: 'other', text: '' };
}

/** The other way round, for timestamps that core spelled. */
export function attributeValue({ type, text }: StoredValue): AttributeValue {
  if (type === 'S') return { S: text };
  if (type === 'N') return { N: text };
  throw new Error(`A timestamp of type ${type} cannot be written.`);
}
