import { type EpochMillis, formatInstant, parseInstant } from '../identity/instant.ts';
import type { Settings } from './settings.ts';

export type TimestampFormat = Settings['timestampFormat'];

/** A value as the store holds it: its type tag and its text. `missing` where there is none. */
export interface StoredValue {
  readonly type: 'S' | 'N' | 'NULL' | 'missing' | 'other';
  readonly text: string;
}

export const UNREADABLE_REASONS = [
  'missing',
  'null',
  'empty',
  'wrong_type',
  'not_canonical',
  'out_of_range',
  'tenant_unreadable',
] as const;
export type UnreadableReason = (typeof UNREADABLE_REASONS)[number];

export type ReadTimestamp =
  | { readonly kind: 'readable'; readonly millis: EpochMillis }
  | { readonly kind: 'unreadable'; readonly reason: UnreadableReason };

// Seconds read as milliseconds land in January 1970, milliseconds read as seconds beyond the year 50000. A range of
// dates that records can really have tells the units apart (pitfall P14).
const EARLIEST = Date.UTC(1980, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);

function unreadable(reason: UnreadableReason): ReadTimestamp {
  return { kind: 'unreadable', reason };
}

function inRange(millis: EpochMillis): ReadTimestamp {
  return millis >= EARLIEST && millis < LATEST ? { kind: 'readable', millis } : unreadable('out_of_range');
}

/** Reads a stored timestamp in the declared format. A record whose timestamp is unreadable is never touched. */
export function readTimestamp(value: StoredValue, format: TimestampFormat): ReadTimestamp {
  if (value.type === 'missing') return unreadable('missing');
  if (value.type === 'NULL') return unreadable('null');
  if (value.type === 'S' && value.text === '') return unreadable('empty');
  if (format === 'iso-8601') {
    if (value.type !== 'S') return unreadable('wrong_type');
    const millis = parseInstant(value.text);
    return millis === undefined ? unreadable('not_canonical') : inRange(millis);
  }
  if (value.type !== 'N') return unreadable('wrong_type');
  if (!/^-?\d{1,16}$/.test(value.text))
    return unreadable(/^-?\d+$/.test(value.text) ? 'out_of_range' : 'not_canonical');
  const units = Number(value.text);
  return inRange(format === 'epoch-seconds' ? units * 1000 : units);
}

/** Spells an instant as the policy's records do. Whole seconds for `epoch-seconds`, rounded down. */
export function writeTimestamp(millis: EpochMillis, format: TimestampFormat): StoredValue {
  switch (format) {
    case 'iso-8601':
      return { type: 'S', text: formatInstant(millis) };
    case 'epoch-millis':
      return { type: 'N', text: String(millis) };
    case 'epoch-seconds':
      return { type: 'N', text: String(Math.floor(millis / 1000)) };
  }
}
