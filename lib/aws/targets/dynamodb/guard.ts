import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Settings } from '../../../core/policy/settings.ts';
import { writeTimestamp } from '../../../core/policy/timestamp.ts';
import type { TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { refusal } from '../../errors.ts';
import { attributeValue, type Item, tagged, untagged } from './values.ts';

/** What a clause asks of one attribute. All values are strings or numbers. */
export type Test =
  | { readonly kind: 'is'; readonly attribute: string; readonly value: AttributeValue }
  /** Also true where the attribute is missing. */
  | { readonly kind: 'is-not'; readonly attribute: string; readonly value: AttributeValue }
  /** True where the attribute is absent, NULL, false or empty (pitfall P57). */
  | { readonly kind: 'no-hold'; readonly attribute: string };

export type ClauseName = 'state' | 'timestamp' | 'no-hold' | 'not-ours';

/** One clause of a record's own condition; the write takes effect only where all of them hold. */
export interface Clause {
  readonly name: ClauseName;
  readonly test: Test;
}

/** Makes the condition of one record's write. */
export type Guard = (settings: Settings, item: WorkItem) => readonly Clause[];

/**
 * The condition of an expiry, once as data: both kinds of statement are spelled from it, and the old item of a failed
 * condition is judged by it. That the record exists follows from its state being there.
 */
export const expiryGuard: Guard = (settings, item) => [
  { name: 'state', test: { kind: 'is', attribute: settings.stateAttribute, value: { S: settings.eligibleState } } },
  { name: 'timestamp', test: { kind: 'is', attribute: settings.timestampAttribute, value: witnessValue(item) } },
  ...holdAttributes(settings).map((attribute): Clause => ({ name: 'no-hold', test: { kind: 'no-hold', attribute } })),
  {
    name: 'not-ours',
    test: { kind: 'is-not', attribute: settings.operationKeyAttribute, value: { S: item.operationKey } },
  },
];

/** What an expiry writes, in the order of the statement. */
export function expiryChange(
  { settings, now }: TargetCall,
  item: WorkItem,
): readonly (readonly [string, AttributeValue])[] {
  return [
    [settings.stateAttribute, { S: settings.expiredState }],
    [settings.expiredAtAttribute, attributeValue(writeTimestamp(now, settings.timestampFormat))],
    [settings.operationKeyAttribute, { S: item.operationKey }],
  ];
}

export function holdAttributes(settings: Settings): readonly string[] {
  return settings.holdAttributes.split(',').filter((name) => name !== '');
}

/** True where any hold attribute of the item holds it back. */
export function isHeld(item: Item, settings: Settings): boolean {
  return holdAttributes(settings).some((attribute) => !satisfies(item, { kind: 'no-hold', attribute }));
}

/** Judges an item as the store would. */
export function satisfies(item: Item, test: Test): boolean {
  const value = item[test.attribute];
  switch (test.kind) {
    case 'is':
      return sameScalar(value, test.value);
    case 'is-not':
      return !sameScalar(value, test.value);
    case 'no-hold':
      return value === undefined || value.NULL === true || value.BOOL === false || value.S === '';
  }
}

// Numbers are compared as text: what DynamoDB gives back is in one spelling, and the witness is what it gave before.
function sameScalar(a: AttributeValue | undefined, b: AttributeValue): boolean {
  return a !== undefined && tagged(a) !== undefined && tagged(a) === tagged(b);
}

function witnessValue(item: WorkItem): AttributeValue {
  const value = untagged(item.witness);
  if (value === undefined) throw refusal('read a witness', 'MalformedWitness');
  return value;
}
