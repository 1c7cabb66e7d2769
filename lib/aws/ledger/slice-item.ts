import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Slice, SliceEntry, SliceHead } from '../../core/ledger/items.ts';
import type { Attributes } from '../item-size.ts';
import { decodeFields, encodeFields, type Field, number } from './fields.ts';
import { itemKey, runPartition, sliceSort } from './schema.ts';

const SLICE_FIELDS = {
  runId: 'text',
  ordinal: 'number',
  epoch: 'number',
  tenant: 'text',
  keysDigest: 'text',
  digest: 'text',
} as const satisfies Record<Exclude<keyof Slice, 'entries'>, Field>;

/** Far above any slice that fits into an item. */
const INFLATED_LIMIT_BYTES = 64 * 1024 * 1024;

/** Keys, witnesses and write units as columns: like stands beside like, so they compress best. */
type Columns = readonly [readonly string[], readonly string[], number | readonly number[]];

export function sliceKey(runId: string, ordinal: number): Attributes {
  return itemKey(runPartition(runId), sliceSort(ordinal));
}

export function encodeSlice(slice: Slice): Attributes {
  return {
    ...sliceKey(slice.runId, slice.ordinal),
    ...encodeFields(SLICE_FIELDS, slice),
    count: number(slice.entries.length),
    entries: { B: packJson(columnsOf(slice.entries)) },
  };
}

export function decodeSlice(item: Attributes): Slice {
  const columns = unpackJson<Columns>(item.entries?.B ?? new Uint8Array());
  return { ...decodeFields<Omit<Slice, 'entries'>>(SLICE_FIELDS, item), entries: entriesOf(columns) };
}

export const SLICE_HEAD_ATTRIBUTES = ['ordinal', 'tenant', 'keysDigest', 'count'] as const;

export function decodeSliceHead(item: Attributes): SliceHead {
  const head = decodeFields<Omit<SliceHead, 'records'>>(SLICE_FIELDS, item);
  return { ...head, records: Number(item.count?.N) };
}

/** JSON, deflated. Brotli is a few percent smaller, and a hundred times slower at that. */
export function packJson(value: unknown): Uint8Array {
  // Not a Buffer: what is read back compares with what was put.
  return new Uint8Array(deflateRawSync(JSON.stringify(value), { level: 9 }));
}

export function unpackJson<T>(packed: Uint8Array): T {
  return JSON.parse(inflateRawSync(packed, { maxOutputLength: INFLATED_LIMIT_BYTES }).toString()) as T;
}

function columnsOf(entries: readonly SliceEntry[]): Columns {
  const units = entries.map((entry) => entry.writeUnits);
  const first = units[0] ?? 1;
  return [
    entries.map((entry) => entry.key),
    entries.map((entry) => entry.witness),
    units.every((unit) => unit === first) ? first : units,
  ];
}

function entriesOf([keys, witnesses, units]: Columns): SliceEntry[] {
  return keys.map((key, position) => ({
    key,
    witness: witnesses[position] ?? '',
    writeUnits: typeof units === 'number' ? units : (units[position] ?? 1),
  }));
}
