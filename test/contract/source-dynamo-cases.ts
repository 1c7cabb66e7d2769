import { expect } from 'vitest';
import { RefusedRequest } from '../../lib/core/plan/request.ts';
import type { SettingKey } from '../../lib/core/policy/settings.ts';
import { failureOf } from '../../lib/core/ports/index.ts';
import { type Verdicts, verdict } from './source-cases.ts';
import {
  applyTo,
  type ContractCase,
  CUTOFF,
  DELETION_CUTOFF,
  deleteFrom,
  discoverAll,
  dueItem,
  expiredItem,
  keyOf,
  planDeletion,
  planNow,
} from './target-fixture.ts';
import type { RecordTable, TableShape, TargetHarness } from './target-harness.ts';

/** What a deletion through an index needs. */
const BY_EXPIRY = {
  name: 'by-expiry',
  keys: ['status', 'expiredAt'],
  projects: ['tenant', 'sweepOperationKey'],
} as const;
const BY_STATUS = { name: 'by-status', keys: ['status', 'lastActivity'], projects: ['tenant'] } as const;

/** A table discovered through an index. */
function indexed(
  harness: TargetHarness,
  index: NonNullable<TableShape['indexes']>[number],
  overrides: Partial<Record<SettingKey, string>> = {},
  types: TableShape['types'] = {},
): Promise<RecordTable> {
  return harness.table({ recordIndexName: index.name, ...overrides }, { indexes: [index], types });
}

async function wantVerdicts(table: RecordTable, cutoff: number, verdicts: Verdicts): Promise<void> {
  for (const [id, [value]] of Object.entries(verdicts)) await table.put(dueItem(id, { lastActivity: value }));
  const found = await discoverAll(await table.source(cutoff));
  const seen = Object.fromEntries(found.map((record) => [record.key, verdict(record, cutoff)]));
  const wanted = Object.entries(verdicts).filter(([, [, verdict]]) => verdict !== 'unseen');
  expect(seen).toMatchObject(Object.fromEntries(wanted.map(([id, [, verdict]]) => [keyOf(id), verdict])));
  for (const [id, [, verdict]] of Object.entries(verdicts))
    if (verdict === 'unseen') expect(seen[keyOf(id)]).toBeUndefined();
}

async function refusals(opened: Promise<unknown>): Promise<readonly string[]> {
  const thrown = await opened.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(RefusedRequest);
  return thrown instanceof RefusedRequest ? thrown.problems.map((problem) => problem.message) : [];
}

/** Indexes, cursors of composite keys, prices: what only a source over DynamoDB has to get right. */
export const DYNAMO_SOURCE_CASES: readonly ContractCase[] = [
  {
    name: 'P20: a page with a number that no JavaScript number can hold is read whole',
    async run(harness) {
      const table = await harness.table({}, { types: { id: 'N' } });
      const ids = ['9007199254740992', '9007199254740993', '3'];
      for (const id of ids) await table.put({ ...dueItem('x', { huge: { N: `1${'0'.repeat(40)}` } }), id: { N: id } });
      const found = await discoverAll(await table.source(CUTOFF));
      expect(found.map((record) => record.key).sort()).toEqual(ids.map((id) => `["N${id}"]`).sort());
    },
  },
  {
    name: 'cursors carry keys of every type',
    async run(harness) {
      for (const [type, values] of [
        ['N', [{ N: '1' }, { N: '-2.5' }, { N: '9007199254740993' }]],
        ['B', [{ B: new Uint8Array([1]) }, { B: new Uint8Array([255, 0]) }, { B: new Uint8Array([7]) }]],
        ['S', [{ S: '"' }, { S: '\u{1F9F9}' }, { S: 'x' }]],
      ] as const) {
        const overrides = { sortKeyAttribute: 'position', discoverySegments: '1' };
        const table = await harness.table(overrides, { types: { position: type } });
        for (const position of values) await table.put(dueItem('a', { position }));
        const found = await discoverAll(await table.source(CUTOFF, { itemsPerPage: 1 }));
        expect(new Set(found.map((record) => record.key)).size).toBe(values.length);
        expect(found).toHaveLength(values.length);
      }
    },
  },
  {
    name: 'an index is scanned, and does not see what it leaves out',
    async run(harness) {
      const table = await indexed(harness, BY_STATUS, { discoverySegments: '2' });
      const ids = ['a', 'b', 'c', 'd', 'e'];
      for (const id of ids) await table.put(dueItem(id));
      await table.put(dueItem('closed', { status: { S: 'CLOSED' } }));
      await table.put(dueItem('missing', { lastActivity: undefined }));
      const source = await table.source(CUTOFF, { itemsPerPage: 2 });
      expect(source.seesUnreadable).toBe(false);
      const found = await discoverAll(source);
      expect(found.map((record) => record.key).sort()).toEqual(ids.map(keyOf));
      expect(found[0]).toMatchObject({ tenant: 'acme', held: false });
    },
  },
  {
    name: 'P15: a query up to the cutoff misses no canonical spelling',
    async run(harness) {
      const table = await indexed(harness, BY_STATUS, { indexPartitionValues: 'ACTIVE' });
      await wantVerdicts(table, CUTOFF, {
        at: [{ S: '2022-01-01T00:00:00Z' }, 'kept'],
        atMillis: [{ S: '2022-01-01T00:00:00.000Z' }, 'kept'],
        before: [{ S: '2021-12-31T23:59:59Z' }, 'due'],
        beforeMillis: [{ S: '2021-12-31T23:59:59.999Z' }, 'due'],
        long: [{ S: '2010-01-01T00:00:00Z' }, 'due'],
        later: [{ S: '2022-01-01T00:00:01Z' }, 'unseen'],
      });
      const half = CUTOFF + 500;
      await wantVerdicts(await indexed(harness, BY_STATUS, { indexPartitionValues: 'ACTIVE' }), half, {
        second: [{ S: '2022-01-01T00:00:00Z' }, 'due'],
        before: [{ S: '2022-01-01T00:00:00.499Z' }, 'due'],
        at: [{ S: '2022-01-01T00:00:00.500Z' }, 'kept'],
        later: [{ S: '2022-01-01T00:00:01.000Z' }, 'unseen'],
      });
    },
  },
  {
    name: 'P26: a query by number reaches up to the cutoff',
    async run(harness) {
      const cutoff = 1_700_000_000_500;
      const numeric = { lastActivity: 'N' } as const;
      for (const [timestampFormat, unit] of [
        ['epoch-seconds', 1000],
        ['epoch-millis', 1],
      ] as const) {
        const overrides = { indexPartitionValues: 'ACTIVE', timestampFormat };
        const table = await indexed(harness, BY_STATUS, overrides, numeric);
        const last = Math.ceil(cutoff / unit) - 1;
        await wantVerdicts(table, cutoff, {
          before: [{ N: String(last) }, 'due'],
          next: [{ N: String(last + 2) }, 'unseen'],
        });
      }
    },
  },
  {
    name: 'listed partitions are queried once each, and other states in them are left out',
    async run(harness) {
      const index = { name: 'by-shard', keys: ['shard', 'lastActivity'], projects: 'all' } as const;
      const table = await indexed(harness, index, { indexPartitionValues: '1, 2,1' }, { shard: 'N' });
      for (const [id, shard, status] of [
        ['a', '1', 'ACTIVE'],
        ['b', '2', 'ACTIVE'],
        ['c', '3', 'ACTIVE'],
        ['d', '1', 'CLOSED'],
      ] as const) {
        await table.put(dueItem(id, { shard: { N: shard }, status: { S: status } }));
      }
      const source = await table.source(CUTOFF, { itemsPerPage: 1 });
      expect(source.segments).toHaveLength(2);
      expect((await discoverAll(source)).map((record) => record.key).sort()).toEqual([keyOf('a'), keyOf('b')]);
    },
  },
  {
    name: 'P19: a hold that the index does not carry is not seen by discovery and stopped by the write',
    async run(harness) {
      const index = { ...BY_STATUS, projects: [] };
      const table = await indexed(harness, index, { tenantAttribute: '', indexPartitionValues: 'ACTIVE' });
      await table.put(dueItem('held', { hold: { BOOL: true } }));
      const found = await discoverAll(await table.source(CUTOFF));
      expect(found).toMatchObject([{ key: keyOf('held'), held: false, tenant: 'all' }]);
      const plan = await planNow(table);
      expect(await applyTo(table, plan.values())).toEqual({ [keyOf('held')]: 'held/not' });
      expect(await table.read(keyOf('held'))).toEqual(dueItem('held', { hold: { BOOL: true } }));
    },
  },
  {
    name: 'P74: odd attribute names in scans and queries',
    async run(harness) {
      const names = {
        timestampAttribute: 'a.b',
        stateAttribute: 'status',
        holdAttributes: 'x-y',
        tenantAttribute: 'ttl',
      };
      const index = { name: 'by.x-y', keys: ['status', 'a.b'], projects: ['x-y', 'ttl'] } as const;
      for (const through of [
        {},
        { recordIndexName: index.name },
        { recordIndexName: index.name, indexPartitionValues: 'ACTIVE' },
      ]) {
        const table = await harness.table({ ...names, ...through }, { indexes: [index] });
        await table.put(dueItem('a', { 'a.b': { S: '2020-01-01T00:00:00Z' }, ttl: { S: 't' }, 'x-y': { S: 'court' } }));
        await table.put(dueItem('b', { 'a.b': { S: '2020-01-01T00:00:00Z' }, ttl: { S: 't' }, hold: { S: 'x' } }));
        const found = [...(await discoverAll(await table.source(CUTOFF)))].sort((x, y) => (x.key < y.key ? -1 : 1));
        expect(found).toMatchObject([
          { key: keyOf('a'), tenant: 't', held: true },
          { key: keyOf('b'), tenant: 't', held: false },
        ]);
      }
    },
  },
  {
    name: 'quotes write units by the size after the update and by the indexes it touches',
    async run(harness) {
      const indexes = [
        { name: 'state-key', keys: ['status'], projects: [] },
        { name: 'carries-all', keys: ['tenant'], projects: 'all' },
        { name: 'untouched', keys: ['tenant', 'id'], projects: ['note'] },
        { name: 'not-in-it', keys: ['nowhere'], projects: 'all' },
      ] as const;
      const table = await harness.table({}, { indexes });
      await table.put(dueItem('small'));
      await table.put(dueItem('large', { note: { S: 'n'.repeat(1500) } }));
      const found = await discoverAll(await table.source(CUTOFF));
      const quotes = Object.fromEntries(found.map((record) => [record.key, record.writeUnits]));
      // Table, two entries of the index by state, one of the index that carries all.
      expect(quotes).toEqual({ [keyOf('small')]: 1 + 2 + 1, [keyOf('large')]: 2 + 2 + 2 });
    },
  },
  {
    name: 'refuses an index that does not carry what discovery needs, and settings that do not fit the table',
    async run(harness) {
      const bare = { name: 'bare', keys: ['tenant', 'id'], projects: [] } as const;
      expect(await refusals((await indexed(harness, bare)).source(CUTOFF))).toEqual([
        'RecordIndexName: the index does not carry "status". Received "bare".',
        'RecordIndexName: the index does not carry "lastActivity". Received "bare".',
      ]);
      const unsorted = { name: 'unsorted', keys: ['status'], projects: 'all' } as const;
      const query = await indexed(harness, unsorted, { indexPartitionValues: 'ACTIVE' });
      expect(await refusals(query.source(CUTOFF))).toEqual([
        'RecordIndexName: to query partition values, the index must have one partition key and be sorted by "lastActivity". Received "unsorted".',
      ]);
    },
  },
  {
    name: 'P65: refuses a table that is not there, and an index that it does not have, by name',
    async run(harness) {
      const table = await harness.table();
      expect(await refusals(table.source(CUTOFF, { inTable: 'no-such-table' }))).toEqual([
        'RecordTableName: this account and Region have no table of this name. Received "no-such-table".',
      ]);
      const missing = await harness.table({ recordIndexName: 'none', indexPartitionValues: 'x' });
      expect(await refusals(missing.source(CUTOFF))).toEqual([
        `RecordIndexName: the table ${missing.settings.recordTableName} has no index of this name. Received "none".`,
      ]);
    },
  },
  {
    name: 'P73: sees all records that count by scan, and only due ones by query or through a sparse index',
    async run(harness) {
      const seesAll = async (opened: Promise<RecordTable>, kind: 'expire' | 'delete' = 'expire') =>
        (await (await opened).source(CUTOFF, { kind })).seesAll;
      expect(await seesAll(harness.table())).toBe(true);
      expect(await seesAll(indexed(harness, BY_STATUS))).toBe(true);
      expect(await seesAll(indexed(harness, BY_STATUS, { indexPartitionValues: 'ACTIVE' }))).toBe(false);
      const sparse = { name: 'due', keys: ['markedAsDue'], projects: 'all' } as const;
      expect(await seesAll(indexed(harness, sparse))).toBe(false);
      expect(await seesAll(indexed(harness, BY_EXPIRY), 'delete')).toBe(true);
      // Not every expired record need have a timestamp of activity.
      expect(await seesAll(indexed(harness, { ...BY_STATUS, projects: 'all' }), 'delete')).toBe(false);
    },
  },
  {
    name: 'P19: a deletion finds expired records through an index, scanned or queried by the time of expiry',
    async run(harness) {
      for (const indexPartitionValues of ['', 'EXPIRED']) {
        const table = await indexed(harness, BY_EXPIRY, { indexPartitionValues });
        await table.put(expiredItem('due'));
        await table.put(expiredItem('held', { hold: { BOOL: true } }));
        await table.put(expiredItem('later', { expiredAt: { S: '2026-03-02T00:00:00.000Z' } }));
        await table.put(expiredItem('active', { status: { S: 'ACTIVE' } }));
        const found = await discoverAll(await table.source(DELETION_CUTOFF, { kind: 'delete' }));
        const keys = ['due', 'held', ...(indexPartitionValues === '' ? ['later'] : [])].map(keyOf);
        expect(found.map((record) => record.key).sort()).toEqual(keys.sort());
        const plan = await planDeletion(table);
        // The index carries no hold: the write stops it.
        expect(await deleteFrom(table, plan.values())).toEqual({
          [keyOf('due')]: 'deleted/now',
          [keyOf('held')]: 'held/not',
        });
      }
    },
  },
  {
    name: 'P15: a deletion by query up to the cutoff misses no canonical spelling',
    async run(harness) {
      const table = await indexed(harness, BY_EXPIRY, { indexPartitionValues: 'EXPIRED' });
      const spellings = { at: '2026-03-01T00:00:00Z', atMillis: '2026-03-01T00:00:00.000Z' };
      const due = { before: '2026-02-28T23:59:59Z', beforeMillis: '2026-02-28T23:59:59.999Z' };
      for (const [id, text] of Object.entries({ ...spellings, ...due })) {
        await table.put(expiredItem(id, { expiredAt: { S: text } }));
      }
      expect([...(await planDeletion(table)).keys()].sort()).toEqual(Object.keys(due).map(keyOf).sort());
    },
  },
  {
    name: 'P73: refuses to delete through an index that does not carry what a deletion must know',
    async run(harness) {
      const refused = async (...[index, overrides]: [Parameters<typeof indexed>[1], Parameters<typeof indexed>[2]?]) =>
        refusals((await indexed(harness, index, overrides)).source(DELETION_CUTOFF, { kind: 'delete' }));
      expect(await refused(BY_STATUS)).toEqual([
        'RecordIndexName: the index does not carry "expiredAt". Received "by-status".',
        'RecordIndexName: the index does not carry "sweepOperationKey". Received "by-status".',
      ]);
      expect(await refused({ ...BY_STATUS, projects: 'all' }, { indexPartitionValues: 'EXPIRED' })).toEqual([
        'RecordIndexName: to query partition values, the index must have one partition key and be sorted by "expiredAt". Received "by-status".',
      ]);
      expect(await refused(BY_EXPIRY, { indexPartitionValues: 'ACTIVE' })).toEqual([
        'IndexPartitionValues: the index is partitioned by the state, and no record in the state "EXPIRED" would be found. Received "ACTIVE".',
      ]);
    },
  },
  {
    name: 'quotes write units of a deletion by the size of the record and by the indexes that it is in',
    async run(harness) {
      const indexes = [
        { name: 'keys-only', keys: ['status'], projects: [] },
        { name: 'carries-all', keys: ['tenant'], projects: 'all' },
        { name: 'not-in-it', keys: ['nowhere'], projects: 'all' },
      ] as const;
      const table = await harness.table({}, { indexes });
      await table.put(expiredItem('small'));
      await table.put(expiredItem('large', { note: { S: 'n'.repeat(1500) } }));
      const found = await discoverAll(await table.source(DELETION_CUTOFF, { kind: 'delete' }));
      const quotes = Object.fromEntries(found.map((record) => [record.key, record.writeUnits]));
      expect(quotes).toEqual({ [keyOf('small')]: 1 + 1 + 1, [keyOf('large')]: 2 + 1 + 2 });
    },
  },
  {
    name: 'a run that undoes has no source',
    async run(harness) {
      const table = await harness.table();
      const thrown = await table.source(CUTOFF, { kind: 'undo' }).catch((error: unknown) => failureOf(error).class);
      expect(thrown).toBe('permanent');
    },
  },
];
