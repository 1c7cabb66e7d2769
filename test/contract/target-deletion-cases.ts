import { expect } from 'vitest';
import type { Item } from '../../lib/aws/targets/dynamodb/values.ts';
import type { WorkItem } from '../../lib/core/ports/index.ts';
import {
  applyTo,
  type ContractCase,
  DELETION_CUTOFF,
  deleteFrom,
  dueItem,
  EXPIRED_AT,
  expiredItem,
  HOLDS,
  keyOf,
  NO_HOLDS,
  only,
  planDeletion,
  planNow,
} from './target-fixture.ts';
import type { RecordTable, TargetHarness } from './target-harness.ts';

const KEY = keyOf('a');

type Changes = Readonly<Record<string, Item[string] | undefined>>;

async function planned(harness: TargetHarness): Promise<{ table: RecordTable; plan: Map<string, WorkItem> }> {
  const table = await harness.table();
  await table.put(expiredItem('a'));
  const plan = await planDeletion(table);
  expect([...plan.keys()]).toEqual([KEY]);
  return { table, plan };
}

/** Plans the deletion of one record, changes it, applies the plan, and wants the outcome and the record as changed. */
async function changedSince(harness: TargetHarness, change: Changes, outcome: string): Promise<void> {
  const { table, plan } = await planned(harness);
  const changed = expiredItem('a', change);
  await table.put(changed);
  expect(await deleteFrom(table, plan.values())).toEqual({ [KEY]: outcome });
  expect(await table.read(KEY)).toEqual(changed);
}

/** Deletions, over tables with a single string as key. */
export const DELETION_CASES: readonly ContractCase[] = [
  {
    name: 'P73: deletes what an expiry of ours left, in every format of timestamps, and nothing else',
    async run(harness) {
      for (const [timestampFormat, lastActivity] of [
        ['iso-8601', { S: '2021-06-01T12:00:00Z' }],
        ['epoch-seconds', { N: '1600000000' }],
        ['epoch-millis', { N: '1600000000123' }],
      ] as const) {
        const table = await harness.table({ timestampFormat });
        await table.put(dueItem('a', { lastActivity }));
        expect(await applyTo(table, (await planNow(table)).values())).toEqual({ [KEY]: 'expired/now' });
        const neighbour = dueItem('b', { lastActivity });
        await table.put(neighbour);
        const plan = await planDeletion(table);
        expect([...plan.keys()]).toEqual([KEY]);
        expect(await deleteFrom(table, plan.values())).toEqual({ [KEY]: 'deleted/now' });
        expect(await table.read(KEY)).toBeUndefined();
        expect(await table.read(keyOf('b'))).toEqual(neighbour);
      }
    },
  },
  {
    name: 'P50: a record that was removed since the plan is absent and is not made again',
    async run(harness) {
      const { table, plan } = await planned(harness);
      await table.remove(KEY);
      expect(await deleteFrom(table, plan.values())).toEqual({ [KEY]: 'absent/not' });
      expect(await table.read(KEY)).toBeUndefined();
    },
  },
  {
    name: 'P55: a second try finds nothing, and cannot say who removed it',
    async run(harness) {
      const { table, plan } = await planned(harness);
      expect(await deleteFrom(table, plan.values())).toEqual({ [KEY]: 'deleted/now' });
      expect(await deleteFrom(table, plan.values())).toEqual({ [KEY]: 'absent/not' });
    },
  },
  {
    name: 'P57: a hold placed between expiry and deletion stops the deletion, whatever value it has',
    async run(harness) {
      for (const hold of Object.values(HOLDS)) await changedSince(harness, { hold }, 'held/not');
    },
  },
  {
    name: 'P57: absent, NULL, false and empty do not hold a deletion',
    async run(harness) {
      const table = await harness.table();
      const ids = Object.keys(NO_HOLDS);
      for (const id of ids) await table.put(expiredItem(id, { hold: NO_HOLDS[id] }));
      const outcomes = await deleteFrom(table, (await planDeletion(table)).values());
      expect(outcomes).toEqual(Object.fromEntries(ids.map((id) => [keyOf(id), 'deleted/now'])));
    },
  },
  {
    name: 'P57: any one of several hold attributes stops a deletion',
    async run(harness) {
      const names = ['legalHold', 'dispute', 'hold'];
      const table = await harness.table({ holdAttributes: names.join(',') });
      for (const id of [...names, 'none']) await table.put(expiredItem(id));
      const plan = await planDeletion(table);
      for (const name of names) await table.put(expiredItem(name, { [name]: { S: 'open' } }));
      await table.put(expiredItem('none', { legalHold: { BOOL: false }, dispute: { NULL: true }, hold: { S: '' } }));
      const held = Object.fromEntries(names.map((name) => [keyOf(name), 'held/not']));
      expect(await deleteFrom(table, plan.values())).toEqual({ ...held, [keyOf('none')]: 'deleted/now' });
      for (const name of names) expect(await table.read(keyOf(name))).toBeDefined();
    },
  },
  {
    name: 'P73: a record made anew under the same key survives',
    async run(harness) {
      const anew: readonly Changes[] = [
        { status: { S: 'ACTIVE' }, expiredAt: undefined, sweepOperationKey: undefined },
        { expiredAt: undefined, sweepOperationKey: undefined },
      ];
      for (const change of anew) await changedSince(harness, change, 'state_changed/not');
    },
  },
  {
    name: 'P73: an expired record that does not carry the planned operation key survives',
    async run(harness) {
      for (const sweepOperationKey of [undefined, { NULL: true }, { S: '' }, { S: 'later:a' }] as const) {
        await changedSince(harness, { sweepOperationKey } as Changes, 'state_changed/not');
      }
    },
  },
  {
    name: 'P15, P17: a record that expired at another time, or in another spelling of it, survives',
    async run(harness) {
      const since: readonly (Item[string] | undefined)[] = [
        { S: '2026-02-01T02:00:00.000Z' },
        { S: '2026-01-01T02:00:05.250+00:00' },
        { S: '' },
        { N: '1767232805250' },
        { NULL: true },
        undefined,
      ];
      for (const expiredAt of since) await changedSince(harness, { expiredAt }, 'state_changed/not');
    },
  },
  {
    name: 'P73: a record that was set back to another state survives, though it still carries our key',
    async run(harness) {
      for (const status of [{ S: 'ACTIVE' }, { S: 'CLOSED' }, { NULL: true }, undefined] as const) {
        await changedSince(harness, { status } as Changes, 'state_changed/not');
      }
    },
  },
  {
    name: 'deletions of one call do not touch each other',
    async run(harness) {
      const table = await harness.table();
      const ids = Array.from({ length: table.target.recordsPerCall }, (_, n) => `r${n}`);
      for (const id of ids) await table.put(expiredItem(id));
      const plan = await planDeletion(table);
      const outcomes = ['deleted/now', 'held/not', 'absent/not', 'state_changed/not'] as const;
      for (const [n, id] of ids.entries()) {
        if (n % 4 === 1) await table.put(expiredItem(id, { hold: { S: 'court' } }));
        if (n % 4 === 2) await table.remove(keyOf(id));
        if (n % 4 === 3) await table.put(dueItem(id));
      }
      const wanted = Object.fromEntries(ids.map((id, n) => [keyOf(id), outcomes[n % 4]]));
      expect(await deleteFrom(table, plan.values())).toEqual(wanted);
      for (const [n, id] of ids.entries()) {
        expect((await table.read(keyOf(id))) !== undefined).toBe(n % 4 === 1 || n % 4 === 3);
      }
    },
  },
  {
    name: 'P13: a plan does not take what expired after it was made',
    async run(harness) {
      const { table, plan } = await planned(harness);
      await table.put(expiredItem('b', { expiredAt: { S: '2026-03-01T00:00:00Z' } }));
      expect([...(await planDeletion(table, DELETION_CUTOFF)).keys()]).toEqual([KEY]);
      expect(await deleteFrom(table, [only(plan, KEY)])).toEqual({ [KEY]: 'deleted/now' });
      expect(await table.read(keyOf('b'))).toMatchObject({ status: { S: 'EXPIRED' } });
      expect(EXPIRED_AT < '2026-03-01').toBe(true);
    },
  },
];
