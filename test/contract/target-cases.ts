import { expect } from 'vitest';
import type { Item } from '../../lib/aws/targets/dynamodb/values.ts';
import { failureOf, type WorkItem } from '../../lib/core/ports/index.ts';
import {
  applyTo,
  type ContractCase,
  CUTOFF,
  dueItem,
  expired,
  HOLDS,
  keyOf,
  NO_HOLDS,
  NOW,
  only,
  planNow,
} from './target-fixture.ts';
import type { RecordTable, TargetHarness } from './target-harness.ts';

const KEY = keyOf('a');

/** Plans one due record, changes it, applies the plan, and wants the outcome and an unchanged record. */
async function changedSince(harness: TargetHarness, change: Record<string, Item[string] | undefined>, outcome: string) {
  const table = await harness.table();
  await table.put(dueItem('a'));
  const plan = await planNow(table);
  const changed = dueItem('a', change);
  await table.put(changed);
  expect(await applyTo(table, plan.values())).toEqual({ [KEY]: outcome });
  expect(await table.read(KEY)).toEqual(changed);
}

async function expireOnce(harness: TargetHarness): Promise<{ table: RecordTable; plan: Map<string, WorkItem> }> {
  const table = await harness.table();
  await table.put(dueItem('a'));
  const plan = await planNow(table);
  expect(await applyTo(table, plan.values())).toEqual({ [KEY]: 'expired/now' });
  return { table, plan };
}

/** What core relies on, over tables with a single string as key. */
export const TARGET_CASES: readonly ContractCase[] = [
  {
    name: 'expires a due record: state, time and operation key are written, all else stays',
    async run(harness) {
      const table = await harness.table();
      const item = dueItem('a', { list: { L: [{ S: 'x' }, { N: '1' }] }, nothing: { NULL: true } });
      await table.put(item);
      const plan = await planNow(table);
      expect(await applyTo(table, plan.values())).toEqual({ [KEY]: 'expired/now' });
      expect(await table.read(KEY)).toEqual(expired(table, item, only(plan, KEY)));
    },
  },
  {
    name: 'writes the time of expiry in the format of the policy',
    async run(harness) {
      for (const [timestampFormat, text] of [
        ['epoch-seconds', '1600000000'],
        ['epoch-millis', '1600000000123'],
      ] as const) {
        const table = await harness.table({ timestampFormat });
        const item = dueItem('a', { lastActivity: { N: text } });
        await table.put(item);
        const plan = await planNow(table);
        expect(await applyTo(table, plan.values())).toEqual({ [KEY]: 'expired/now' });
        expect(await table.read(KEY)).toEqual(expired(table, item, only(plan, KEY)));
      }
    },
  },
  {
    name: 'P50: a record that was removed is absent and is not made again',
    async run(harness) {
      const table = await harness.table();
      await table.put(dueItem('a'));
      const plan = await planNow(table);
      await table.remove(KEY);
      expect(await applyTo(table, plan.values())).toEqual({ [KEY]: 'absent/not' });
      expect(await table.read(KEY)).toBeUndefined();
    },
  },
  {
    name: 'P19: a record that was active again since the plan is left alone',
    run: (harness) => changedSince(harness, { lastActivity: { S: '2025-12-31T00:00:00Z' } }, 'state_changed/not'),
  },
  {
    name: 'the timestamp must be the planned one even where the new one is due as well',
    run: (harness) => changedSince(harness, { lastActivity: { S: '2021-06-01T12:00:01Z' } }, 'state_changed/not'),
  },
  {
    name: 'the timestamp must be the planned one in its spelling and its type',
    async run(harness) {
      await changedSince(harness, { lastActivity: { S: '2021-06-01T12:00:00.000Z' } }, 'state_changed/not');
      await changedSince(harness, { lastActivity: { N: '2021' } }, 'state_changed/not');
      await changedSince(harness, { lastActivity: { NULL: true } }, 'state_changed/not');
      await changedSince(harness, { lastActivity: undefined }, 'state_changed/not');
    },
  },
  {
    name: 'P15, P17: whatever became of the timestamp since the plan, the write leaves the record alone',
    async run(harness) {
      const since: readonly (Item[string] | undefined)[] = [
        undefined,
        { NULL: true },
        { S: '' },
        { S: '2021-06-01T14:00:00+02:00' },
        { S: '2021-06-01T12:00:00+00:00' },
        { S: '2021-06-31T12:00:00Z' },
        { S: ' 2021-06-01T12:00:00Z' },
        { N: '1622548800' },
        { BOOL: true },
        { L: [{ S: '2021-06-01T12:00:00Z' }] },
      ];
      for (const lastActivity of since) await changedSince(harness, { lastActivity }, 'state_changed/not');
    },
  },
  {
    name: 'P14: a timestamp that came to be of the other unit since the plan is another one',
    async run(harness) {
      for (const [timestampFormat, planned, since] of [
        ['epoch-seconds', '1600000000', '1600000000000'],
        ['epoch-millis', '1600000000000', '1600000000'],
      ] as const) {
        const table = await harness.table({ timestampFormat });
        await table.put(dueItem('a', { lastActivity: { N: planned } }));
        const plan = await planNow(table);
        await table.put(dueItem('a', { lastActivity: { N: since } }));
        expect(await applyTo(table, plan.values())).toEqual({ [KEY]: 'state_changed/not' });
        expect(await table.read(KEY)).toEqual(dueItem('a', { lastActivity: { N: since } }));
      }
    },
  },
  {
    name: 'a record in another state, or in none, is left alone',
    async run(harness) {
      await changedSince(harness, { status: { S: 'CLOSED' } }, 'state_changed/not');
      await changedSince(harness, { status: { S: 'EXPIRED' } }, 'state_changed/not');
      await changedSince(harness, { status: { NULL: true } }, 'state_changed/not');
      await changedSince(harness, { status: undefined }, 'state_changed/not');
    },
  },
  {
    name: 'P57: a hold placed after the plan stops the write, whatever value it has',
    async run(harness) {
      for (const hold of Object.values(HOLDS)) await changedSince(harness, { hold }, 'held/not');
    },
  },
  {
    name: 'P57: absent, NULL, false and empty are no hold',
    async run(harness) {
      const table = await harness.table();
      const items = Object.entries(NO_HOLDS).map(([id, hold]) => dueItem(id, { hold }));
      for (const item of items) await table.put(item);
      const plan = await planNow(table);
      const outcomes = await applyTo(table, plan.values());
      expect(outcomes).toEqual(Object.fromEntries(Object.keys(NO_HOLDS).map((id) => [keyOf(id), 'expired/now'])));
    },
  },
  {
    name: 'P57: any one of several hold attributes holds a record',
    async run(harness) {
      const table = await harness.table({ holdAttributes: 'legalHold,dispute,hold' });
      const names = ['legalHold', 'dispute', 'hold'];
      for (const id of [...names, 'none']) await table.put(dueItem(id));
      const plan = await planNow(table);
      for (const name of names) await table.put(dueItem(name, { [name]: { BOOL: true } }));
      await table.put(dueItem('none', { legalHold: { BOOL: false }, dispute: { NULL: true }, hold: { S: '' } }));
      const held = Object.fromEntries(names.map((name) => [keyOf(name), 'held/not']));
      expect(await applyTo(table, plan.values())).toEqual({ ...held, [keyOf('none')]: 'expired/now' });
    },
  },
  {
    name: 'without a hold attribute nothing holds',
    async run(harness) {
      const table = await harness.table({ holdAttributes: '' });
      await table.put(dueItem('a', { hold: { BOOL: true } }));
      const plan = await planNow(table);
      expect(await applyTo(table, plan.values())).toEqual({ [KEY]: 'expired/now' });
    },
  },
  {
    name: 'P55: a second try finds the write of the first and changes nothing',
    async run(harness) {
      const { table, plan } = await expireOnce(harness);
      const before = await table.read(KEY);
      expect(await applyTo(table, plan.values(), { now: NOW + 60_000 })).toEqual({ [KEY]: 'expired/earlier' });
      expect(await table.read(KEY)).toEqual(before);
    },
  },
  {
    name: 'P55: our key in the record proves our write even where the record was made eligible again',
    async run(harness) {
      const { table, plan } = await expireOnce(harness);
      for (const change of [
        { status: { S: 'ACTIVE' } },
        { status: { S: 'ACTIVE' }, hold: { BOOL: true } },
        { status: { S: 'ARCHIVED' }, lastActivity: { S: '2025-01-01T00:00:00Z' } },
      ]) {
        const restored = { ...(await table.read(KEY)), ...change } as Item;
        await table.put(restored);
        expect(await applyTo(table, plan.values(), { now: NOW + 60_000 })).toEqual({ [KEY]: 'expired/earlier' });
        expect(await table.read(KEY)).toEqual(restored);
      }
    },
  },
  {
    name: 'a record that carries the key of an earlier operation can expire again',
    async run(harness) {
      const { table } = await expireOnce(harness);
      const restored = { ...(await table.read(KEY)), status: { S: 'ACTIVE' } } as Item;
      await table.put(restored);
      const plan = await planNow(table, CUTOFF, 'run-2');
      expect(await applyTo(table, plan.values(), { now: NOW + 1_000 })).toEqual({ [KEY]: 'expired/now' });
      expect(await table.read(KEY)).toEqual(expired(table, restored, only(plan, KEY), NOW + 1_000));
    },
  },
  {
    name: 'records of one call do not touch each other',
    async run(harness) {
      const table = await harness.table();
      const ids = Array.from({ length: table.target.recordsPerCall }, (_, n) => `r${n}`);
      for (const id of ids) await table.put(dueItem(id));
      const plan = await planNow(table);
      const outcomes = ['expired/now', 'held/not', 'absent/not', 'state_changed/not'] as const;
      for (const [n, id] of ids.entries()) {
        if (n % 4 === 1) await table.put(dueItem(id, { hold: { S: 'court' } }));
        if (n % 4 === 2) await table.remove(keyOf(id));
        if (n % 4 === 3) await table.put(dueItem(id, { status: { S: 'CLOSED' } }));
      }
      const wanted = Object.fromEntries(ids.map((id, n) => [keyOf(id), outcomes[n % 4]]));
      expect(await applyTo(table, plan.values())).toEqual(wanted);
    },
  },
  {
    name: 'a run that undoes is refused for good and changes nothing',
    async run(harness) {
      const table = await harness.table();
      await table.put(dueItem('a'));
      const plan = await planNow(table);
      const kind = 'undo';
      const thrown = await applyTo(table, plan.values(), { kind }).catch((error: unknown) => failureOf(error).class);
      expect(thrown).toBe('permanent');
      expect(await table.read(KEY)).toEqual(dueItem('a'));
    },
  },
];
