import { expect } from 'vitest';
import type { Item } from '../../lib/aws/targets/dynamodb/values.ts';
import type { DiscoveredRecord } from '../../lib/core/ports/index.ts';
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
import type { RecordTable, TargetHarness } from './target-harness.ts';

/** What discovery makes of a timestamp, in one word: `due`, `kept` or the reason why it is unreadable. */
export function verdict({ timestamp }: DiscoveredRecord, cutoff: number): string {
  if (timestamp.kind === 'unreadable') return timestamp.reason;
  return timestamp.millis < cutoff ? 'due' : 'kept';
}

export type Verdicts = Readonly<Record<string, readonly [value: Item[string] | undefined, verdict: string]>>;

/**
 * Loads a record for each value, and wants discovery to judge it so and discovery and write together to expire
 * exactly those that are due.
 */
export async function judges(table: RecordTable, cutoff: number, verdicts: Verdicts): Promise<void> {
  const items = Object.entries(verdicts).map(([id, [value]]) => dueItem(id, { lastActivity: value }));
  for (const item of items) await table.put(item);
  const found = await discoverAll(await table.source(cutoff));
  const seen = Object.fromEntries(found.map((record) => [record.key, verdict(record, cutoff)]));
  expect(seen).toEqual(Object.fromEntries(Object.entries(verdicts).map(([id, [, wanted]]) => [keyOf(id), wanted])));
  const plan = await planNow(table, cutoff);
  await applyTo(table, plan.values());
  for (const [n, id] of Object.keys(verdicts).entries()) {
    const record = await table.read(keyOf(id));
    if (verdicts[id]?.[1] === 'due') expect(record?.[table.settings.stateAttribute]).toEqual({ S: 'EXPIRED' });
    else expect(record).toEqual(items[n]);
  }
}

/** The same for a deletion, which goes by the time of expiry. */
export async function judgesDeletions(table: RecordTable, cutoff: number, verdicts: Verdicts): Promise<void> {
  const items = Object.entries(verdicts).map(([id, [value]]) => expiredItem(id, { expiredAt: value }));
  for (const item of items) await table.put(item);
  const found = await discoverAll(await table.source(cutoff, { kind: 'delete' }));
  const seen = Object.fromEntries(found.map((record) => [record.key, verdict(record, cutoff)]));
  expect(seen).toEqual(Object.fromEntries(Object.entries(verdicts).map(([id, [, wanted]]) => [keyOf(id), wanted])));
  await deleteFrom(table, (await planDeletion(table, cutoff)).values());
  for (const [n, id] of Object.keys(verdicts).entries()) {
    expect(await table.read(keyOf(id))).toEqual(verdicts[id]?.[1] === 'due' ? undefined : items[n]);
  }
}

/** Runs under another time zone of the process; node reads it anew whenever it is set. */
async function inTimeZone(zone: string, run: () => Promise<void>): Promise<void> {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    // The runtime does go by it, or the case would show nothing.
    expect(new Date(2021, 0, 1).getTimezoneOffset()).not.toBe(0);
    await run();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

async function tenants(harness: TargetHarness, tenantAttribute: string, items: readonly Item[]) {
  const table = await harness.table({ tenantAttribute });
  for (const item of items) await table.put(item);
  const found = await discoverAll(await table.source(CUTOFF));
  return Object.fromEntries(found.map((record) => [JSON.parse(record.key)[0].slice(1), record.tenant]));
}

/** What core relies on, over tables with a single string as key. */
export const SOURCE_CASES: readonly ContractCase[] = [
  {
    name: 'finds every record in the eligible state once, and no other',
    async run(harness) {
      const table = await harness.table({ discoverySegments: '3' });
      const ids = Array.from({ length: 20 }, (_, n) => `r${n}`);
      for (const id of ids) await table.put(dueItem(id));
      for (const [n, status] of [{ S: 'CLOSED' }, { S: 'active' }, { NULL: true }, undefined].entries()) {
        await table.put(dueItem(`other${n}`, { status } as never));
      }
      const source = await table.source(CUTOFF, { itemsPerPage: 3 });
      expect(source).toMatchObject({ seesAll: true, seesUnreadable: true });
      expect(source.segments).toHaveLength(3);
      const keys = (await discoverAll(source)).map((record) => record.key);
      expect(keys.sort()).toEqual(ids.map(keyOf).sort());
    },
  },
  {
    name: 'P11: pages without a record are not the end',
    async run(harness) {
      const table = await harness.table({ discoverySegments: '1' });
      for (let n = 0; n < 12; n += 1) await table.put(dueItem(`r${n}`, { status: { S: 'CLOSED' } }));
      await table.put(dueItem('due'));
      const source = await table.source(CUTOFF, { itemsPerPage: 2 });
      const [segment = ''] = source.segments;
      const sizes: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await source.page(segment, cursor);
        sizes.push(page.records.length);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(sizes.filter((size) => size === 0).length).toBeGreaterThanOrEqual(5);
      expect(sizes.filter((size) => size === 1)).toHaveLength(1);
    },
  },
  {
    name: 'P9: a cursor goes on in another process',
    async run(harness) {
      const table = await harness.table({ discoverySegments: '1' });
      const ids = Array.from({ length: 7 }, (_, n) => `r${n}`);
      for (const id of ids) await table.put(dueItem(id));
      const keys: string[] = [];
      let cursor: string | undefined;
      do {
        const fresh = await table.source(CUTOFF, { itemsPerPage: 2 });
        const page = await fresh.page(fresh.segments[0] ?? '', cursor);
        keys.push(...page.records.map((record) => record.key));
        cursor = page.next;
      } while (cursor !== undefined);
      expect(keys.sort()).toEqual(ids.map(keyOf));
    },
  },
  {
    name: 'P15: only canonical instants are read, and by their time',
    async run(harness) {
      await judges(await harness.table(), Date.UTC(2021, 2, 1), {
        offsetLater: [{ S: '2021-02-28T23:30:00-02:00' }, 'not_canonical'],
        equalMillis: [{ S: '2021-03-01T00:00:00.000Z' }, 'kept'],
        equal: [{ S: '2021-03-01T00:00:00Z' }, 'kept'],
        equalOffset: [{ S: '2021-03-01T00:00:00+00:00' }, 'not_canonical'],
        offsetEarlier: [{ S: '2021-03-01T01:00:00+02:00' }, 'not_canonical'],
        justBefore: [{ S: '2021-02-28T23:59:59.999Z' }, 'due'],
        noSuchDay: [{ S: '2020-02-30T00:00:00Z' }, 'not_canonical'],
        noLeapDay: [{ S: '2019-02-29T00:00:00Z' }, 'not_canonical'],
        leapDay: [{ S: '2020-02-29T00:00:00Z' }, 'due'],
        noSuchMonth: [{ S: '2020-13-01T00:00:00Z' }, 'not_canonical'],
        noSuchHour: [{ S: '2020-01-01T24:00:00Z' }, 'not_canonical'],
        noSuchSecond: [{ S: '2016-12-31T23:59:60Z' }, 'not_canonical'],
        local: [{ S: '2020-01-01T00:00:00' }, 'not_canonical'],
        space: [{ S: '2020-01-01 00:00:00Z' }, 'not_canonical'],
        small: [{ S: '2020-01-01t00:00:00z' }, 'not_canonical'],
        ordinary: [{ S: 'Wed, 01 Jan 2020 00:00:00 GMT' }, 'not_canonical'],
        date: [{ S: '2020-02-28' }, 'not_canonical'],
      });
    },
  },
  {
    name: 'P14: seconds are not read as milliseconds, nor the reverse',
    async run(harness) {
      const cutoff = Date.UTC(2025, 5, 1);
      await judges(await harness.table({ timestampFormat: 'epoch-seconds' }), cutoff, {
        later: [{ N: '1767225600' }, 'kept'],
        earlier: [{ N: '1735689600' }, 'due'],
        millis: [{ N: '1735689600000' }, 'out_of_range'],
      });
      await judges(await harness.table({ timestampFormat: 'epoch-millis' }), cutoff, {
        later: [{ N: '1767225600000' }, 'kept'],
        earlier: [{ N: '1735689600000' }, 'due'],
        seconds: [{ N: '1735689600' }, 'out_of_range'],
      });
    },
  },
  {
    name: 'P17: a missing, NULL, empty or wrongly typed timestamp is seen, told apart and never touched',
    async run(harness) {
      await judges(await harness.table({ timestampFormat: 'epoch-seconds' }), Date.UTC(2025, 5, 1), {
        absent: [undefined, 'missing'],
        null: [{ NULL: true }, 'null'],
        empty: [{ S: '' }, 'empty'],
        text: [{ S: '1735689600' }, 'wrong_type'],
        list: [{ L: [{ N: '1' }] }, 'wrong_type'],
        fraction: [{ N: '1735689600.5' }, 'not_canonical'],
        valid: [{ N: '1735689600' }, 'due'],
      });
      await judges(await harness.table(), Date.UTC(2025, 5, 1), {
        absent: [undefined, 'missing'],
        null: [{ NULL: true }, 'null'],
        empty: [{ S: '' }, 'empty'],
        blank: [{ S: ' ' }, 'not_canonical'],
        number: [{ N: '1735689600' }, 'wrong_type'],
        bool: [{ BOOL: false }, 'wrong_type'],
        map: [{ M: { S: { S: '2024-01-01T00:00:00Z' } } }, 'wrong_type'],
        valid: [{ S: '2024-01-01T00:00:00Z' }, 'due'],
      });
    },
  },
  {
    name: 'P14: zero, negative and absurd numbers are no dates',
    async run(harness) {
      for (const [timestampFormat, valid] of [
        ['epoch-seconds', '1600000000'],
        ['epoch-millis', '1600000000000'],
      ] as const) {
        await judges(await harness.table({ timestampFormat }), Date.UTC(2025, 5, 1), {
          valid: [{ N: valid }, 'due'],
          zero: [{ N: '0' }, 'out_of_range'],
          negative: [{ N: '-1735689600' }, 'out_of_range'],
          absurd: [{ N: '9'.repeat(15) }, 'out_of_range'],
        });
      }
    },
  },
  {
    name: 'P15: the time zone of the process changes no verdict',
    async run(harness) {
      for (const zone of ['America/New_York', 'Pacific/Kiritimati']) {
        await inTimeZone(zone, async () => {
          await judges(await harness.table(), Date.UTC(2021, 2, 14, 7), {
            before: [{ S: '2021-03-14T06:59:59.999Z' }, 'due'],
            at: [{ S: '2021-03-14T07:00:00Z' }, 'kept'],
            local: [{ S: '2021-03-14T02:30:00' }, 'not_canonical'],
          });
          await judgesDeletions(await harness.table(), Date.UTC(2021, 2, 14, 7), {
            before: [{ S: '2021-03-14T06:59:59.999Z' }, 'due'],
            at: [{ S: '2021-03-14T07:00:00.000Z' }, 'kept'],
          });
        });
      }
    },
  },
  {
    name: 'P26: at the cutoff a record is kept, by discovery and by the write alike',
    async run(harness) {
      const cutoff = 1_700_000_000_000;
      await judges(await harness.table({ timestampFormat: 'epoch-millis' }), cutoff, {
        before: [{ N: String(cutoff - 1) }, 'due'],
        at: [{ N: String(cutoff) }, 'kept'],
        after: [{ N: String(cutoff + 1) }, 'kept'],
      });
      await judges(await harness.table({ timestampFormat: 'epoch-seconds' }), cutoff + 500, {
        before: [{ N: String(cutoff / 1000 - 1) }, 'due'],
        at: [{ N: String(cutoff / 1000) }, 'due'],
        after: [{ N: String(cutoff / 1000 + 1) }, 'kept'],
      });
    },
  },
  {
    name: 'P14, P15, P17, P26: a deletion judges the time of expiry as an expiry judges the timestamp',
    async run(harness) {
      const cutoff = Date.UTC(2026, 2, 1);
      await judgesDeletions(await harness.table(), cutoff, {
        before: [{ S: '2026-02-28T23:59:59.999Z' }, 'due'],
        at: [{ S: '2026-03-01T00:00:00.000Z' }, 'kept'],
        offset: [{ S: '2026-02-01T00:00:00+00:00' }, 'not_canonical'],
        noSuchDay: [{ S: '2026-02-29T00:00:00Z' }, 'not_canonical'],
        absent: [undefined, 'missing'],
        null: [{ NULL: true }, 'null'],
        empty: [{ S: '' }, 'empty'],
        number: [{ N: '1740787199' }, 'wrong_type'],
      });
      await judgesDeletions(await harness.table({ timestampFormat: 'epoch-seconds' }), cutoff, {
        before: [{ N: String(cutoff / 1000 - 1) }, 'due'],
        at: [{ N: String(cutoff / 1000) }, 'kept'],
        millis: [{ N: String(cutoff - 1) }, 'out_of_range'],
        text: [{ S: String(cutoff / 1000 - 1) }, 'wrong_type'],
      });
      await judgesDeletions(await harness.table({ timestampFormat: 'epoch-millis' }), cutoff, {
        before: [{ N: String(cutoff - 1) }, 'due'],
        at: [{ N: String(cutoff) }, 'kept'],
        seconds: [{ N: String(cutoff / 1000 - 1) }, 'out_of_range'],
      });
    },
  },
  {
    name: 'P73: a deletion finds expired records only, with the operation key that each carries',
    async run(harness) {
      const table = await harness.table();
      await table.put(expiredItem('ours'));
      await table.put(expiredItem('keyless', { sweepOperationKey: undefined }));
      await table.put(expiredItem('odd', { sweepOperationKey: { N: '1' } }));
      await table.put(expiredItem('held', { hold: { BOOL: true } }));
      await table.put(dueItem('active'));
      await table.put(expiredItem('back', { status: { S: 'ACTIVE' } }));
      const found = await discoverAll(await table.source(DELETION_CUTOFF, { kind: 'delete' }));
      const facts = found.map(({ key, operationKey, held, tenant }) => [key, { operationKey, held, tenant }]);
      const plain = { held: false, tenant: 'acme' };
      expect(Object.fromEntries(facts)).toEqual({
        [keyOf('ours')]: { ...plain, operationKey: 'earlier:ours' },
        [keyOf('keyless')]: { ...plain, operationKey: undefined },
        [keyOf('odd')]: { ...plain, operationKey: undefined },
        [keyOf('held')]: { ...plain, operationKey: 'earlier:held', held: true },
      });
      const eligible = await discoverAll(await table.source(CUTOFF));
      expect(eligible.map(({ key, operationKey }) => [key, operationKey]).sort()).toEqual([
        [keyOf('active'), undefined],
        [keyOf('back'), undefined],
      ]);
    },
  },
  {
    name: 'P55: the witness of a deletion tells two expiries of one record apart',
    async run(harness) {
      const table = await harness.table();
      const witnesses = new Set<string>();
      for (const changes of [
        {},
        { expiredAt: { S: '2026-01-01T02:00:05.251Z' } },
        { sweepOperationKey: { S: 'other' } },
      ]) {
        await table.put(expiredItem('a', changes));
        const [record] = await discoverAll(await table.source(DELETION_CUTOFF, { kind: 'delete' }));
        witnesses.add(record?.witness ?? '');
      }
      expect(witnesses.size).toBe(3);
    },
  },
  {
    name: 'P57: discovery and write mean the same by a hold',
    async run(harness) {
      const table = await harness.table({ holdAttributes: 'hold,dispute' });
      const values: readonly Item[string][] = [
        { BOOL: true },
        { BOOL: false },
        { NULL: true },
        { S: '' },
        { S: 'x' },
        { N: '0' },
        { L: [] },
        { M: {} },
      ];
      for (const n of values.keys()) await table.put(dueItem(`h${n}`));
      const plan = await planNow(table);
      for (const [n, value] of values.entries()) {
        await table.put(dueItem(`h${n}`, { [n % 2 === 0 ? 'hold' : 'dispute']: value }));
      }
      const found = await discoverAll(await table.source(CUTOFF));
      const outcomes = await applyTo(table, plan.values());
      for (const { key, held } of found) expect(outcomes[key]).toBe(held ? 'held/not' : 'expired/now');
      expect(found.filter((record) => record.held)).toHaveLength(5);
    },
  },
  {
    name: 'the tenant is the attribute as text; a record without a readable one has none',
    async run(harness) {
      const found = await tenants(harness, 'tenant', [
        dueItem('text', { tenant: { S: 'acme' } }),
        dueItem('number', { tenant: { N: '42' } }),
        dueItem('absent', { tenant: undefined }),
        dueItem('null', { tenant: { NULL: true } }),
        dueItem('empty', { tenant: { S: '' } }),
        dueItem('list', { tenant: { L: [{ S: 'acme' }] } }),
      ]);
      expect(found).toEqual({
        text: 'acme',
        number: '42',
        absent: undefined,
        null: undefined,
        empty: undefined,
        list: undefined,
      });
    },
  },
  {
    name: 'P29: a tenant that would not fit a message in ASCII is not readable',
    async run(harness) {
      const found = await tenants(harness, 'tenant', [
        dueItem('fits', { tenant: { S: 'x'.repeat(128) } }),
        dueItem('long', { tenant: { S: 'x'.repeat(129) } }),
        dueItem('escapes', { tenant: { S: '\uFFFE'.repeat(21) } }),
        dueItem('manyEscapes', { tenant: { S: '\uFFFE'.repeat(22) } }),
      ]);
      expect(
        Object.entries(found)
          .filter(([, tenant]) => tenant !== undefined)
          .map(([id]) => id)
          .sort(),
      ).toEqual(['escapes', 'fits']);
      expect(found.escapes).toBe('\uFFFE'.repeat(21));
    },
  },
  {
    name: 'without a tenant attribute all records are of one tenant',
    async run(harness) {
      const found = await tenants(harness, '', [dueItem('a'), dueItem('b', { tenant: undefined })]);
      expect(found).toEqual({ a: 'all', b: 'all' });
    },
  },
];
