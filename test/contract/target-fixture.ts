import { expect } from 'vitest';
import type { Item } from '../../lib/aws/targets/dynamodb/values.ts';
import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { RunKind } from '../../lib/core/identity/keys.ts';
import type { DiscoveredRecord, RecordSource, WorkItem } from '../../lib/core/ports/index.ts';
import type { RecordTable, TargetHarness } from './target-harness.ts';

/** One thing that every adapter over a record table must do. It throws where the adapter does not. */
export interface ContractCase {
  readonly name: string;
  run(harness: TargetHarness): Promise<void>;
}

export const CUTOFF = Date.UTC(2022, 0, 1);
export const NOW = Date.UTC(2026, 0, 1, 2, 0, 5, 250);

/** A deletion's cutoff is on the time of expiry. */
export const DELETION_CUTOFF = Date.UTC(2026, 2, 1);
/** Before it, and after the expiries of `applyTo`. */
export const DELETED_AT = Date.UTC(2026, 3, 1);

/** A record of `testSettings` that is due; `changes` go over it, and one of undefined takes an attribute out. */
export function dueItem(id: string, changes: Readonly<Record<string, Item[string] | undefined>> = {}): Item {
  const item = {
    id: { S: id },
    tenant: { S: 'acme' },
    status: { S: 'ACTIVE' },
    lastActivity: { S: '2021-06-01T12:00:00Z' },
    note: { S: `note of ${id}` },
    ...changes,
  };
  return Object.fromEntries(Object.entries(item).filter((entry) => entry[1] !== undefined)) as Item;
}

/** What an earlier run made of `dueItem`, as long ago as a deletion asks for. */
export function expiredItem(id: string, changes: Readonly<Record<string, Item[string] | undefined>> = {}): Item {
  const written = { status: { S: 'EXPIRED' }, expiredAt: { S: EXPIRED_AT }, sweepOperationKey: { S: `earlier:${id}` } };
  return dueItem(id, { ...written, ...changes });
}

export const EXPIRED_AT = '2026-01-01T02:00:05.250Z';

/** The record key of a table whose key is one string. */
export function keyOf(id: string): string {
  return JSON.stringify([`S${id}`]);
}

/** Everything that a source finds, in no particular order. */
export async function discoverAll(source: RecordSource): Promise<readonly DiscoveredRecord[]> {
  const found: DiscoveredRecord[] = [];
  for (const segment of source.segments) {
    let cursor: string | undefined;
    do {
      const page = await source.page(segment, cursor);
      found.push(...page.records);
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return found;
}

/** What a plan made now would hold, by record key; operation keys are made up from `run`. */
export async function planNow(table: RecordTable, cutoff = CUTOFF, run = 'run-1'): Promise<Map<string, WorkItem>> {
  const found = await discoverAll(await table.source(cutoff));
  const due = found.filter(
    ({ timestamp, held }) => timestamp.kind === 'readable' && timestamp.millis < cutoff && !held,
  );
  return new Map(due.map((record) => [record.key, workOf(record, run)]));
}

/** What the plan of a deletion made now would hold. */
export async function planDeletion(table: RecordTable, cutoff = DELETION_CUTOFF): Promise<Map<string, WorkItem>> {
  const found = await discoverAll(await table.source(cutoff, { kind: 'delete' }));
  const due = found.filter(
    ({ timestamp, held, operationKey }) =>
      timestamp.kind === 'readable' && timestamp.millis < cutoff && !held && operationKey !== undefined,
  );
  return new Map(due.map((record) => [record.key, workOf(record, 'deletion')]));
}

/** Applies a deletion; as `applyTo`. */
export function deleteFrom(table: RecordTable, items: Iterable<WorkItem>): Promise<Record<string, string>> {
  return applyTo(table, items, { now: DELETED_AT, kind: 'delete' });
}

/** Values that hold a record, and values that do not, by what they are (pitfall P57). */
export const HOLDS: Readonly<Record<string, Item[string]>> = {
  true: { BOOL: true },
  text: { S: 'x' },
  'the text "false"': { S: 'false' },
  zero: { N: '0' },
  'an empty list': { L: [] },
  'a list': { L: [{ S: 'legal' }] },
  'a map': { M: {} },
};

export const NO_HOLDS: Readonly<Record<string, Item[string] | undefined>> = {
  absent: undefined,
  NULL: { NULL: true },
  false: { BOOL: false },
  empty: { S: '' },
};

export function workOf({ key, witness, writeUnits }: DiscoveredRecord, run = 'run-1'): WorkItem {
  return { key, witness, writeUnits, operationKey: `${run}:${key}` };
}

/** Applies and gives `outcome/applied` per key; a failed record is `class/error`. */
export async function applyTo(
  table: RecordTable,
  items: Iterable<WorkItem>,
  { now = NOW, kind = 'expire' as RunKind } = {},
): Promise<Record<string, string>> {
  const call = { kind, settings: table.settings, now, items: [...items] };
  const results = await table.target.apply(call);
  expect(results.map((result) => result.key).sort()).toEqual(call.items.map((item) => item.key).sort());
  return Object.fromEntries(
    results.map((result) => [
      result.key,
      result.kind === 'outcome'
        ? `${result.outcome}/${result.applied}`
        : `${result.failure.class}/${result.failure.error}`,
    ]),
  );
}

/** What a due item must have become. */
export function expired(table: RecordTable, item: Item, { operationKey }: WorkItem, at: EpochMillis = NOW): Item {
  const { stateAttribute, expiredState, expiredAtAttribute, operationKeyAttribute, timestampFormat } = table.settings;
  const time = {
    'iso-8601': { S: new Date(at).toISOString() },
    'epoch-millis': { N: String(at) },
    'epoch-seconds': { N: String(Math.floor(at / 1000)) },
  }[timestampFormat];
  return {
    ...item,
    [stateAttribute]: { S: expiredState },
    [expiredAtAttribute]: time,
    [operationKeyAttribute]: { S: operationKey },
  };
}

/** The planned work of one record. */
export function only(plan: ReadonlyMap<string, WorkItem>, key: string): WorkItem {
  const item = plan.get(key);
  if (item === undefined) throw new Error(`The plan does not hold ${key}.`);
  return item;
}
