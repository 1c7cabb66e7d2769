import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { EpochMillis } from '../../../core/identity/instant.ts';
import type { Settings } from '../../../core/policy/settings.ts';
import { writeTimestamp } from '../../../core/policy/timestamp.ts';
import { attributeValue, type KeyType } from './values.ts';

/** The listed partition values, each once and without spaces around it; undefined where one does not fit the type. */
export function partitionValues(settings: Settings, type: KeyType): readonly AttributeValue[] | undefined {
  const texts = new Set(settings.indexPartitionValues.split(',').map((text) => text.trim()));
  if (type === 'B' || texts.has('')) return undefined;
  if (type === 'S') return [...texts].map((text) => ({ S: text }));
  return [...texts].every((text) => /^-?\d{1,38}$/.test(text)) ? [...texts].map((text) => ({ N: text })) : undefined;
}

/**
 * A sort-key value with no due record behind it, whatever canonical spelling the record has: in text, `…00.000Z`
 * stands before `…00Z`. A record of the cutoff's own second may be before it too; core judges every record again.
 */
export function upperBound(cutoff: EpochMillis, format: Settings['timestampFormat']): AttributeValue {
  const wholeSecond = Math.floor(cutoff / 1000) * 1000;
  const bound = writeTimestamp(format === 'epoch-millis' ? cutoff : wholeSecond, format);
  return attributeValue({ ...bound, text: bound.text.replace('.000Z', 'Z') });
}
