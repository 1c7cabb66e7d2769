import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { checkSound, watch } from '../../helpers/soundness.ts';
import { testSettings } from '../../model/index.ts';
import { account, accounts, CUTOFF, deploy, expiredIds, instant, plannedIds, SCHEDULED, theRun } from './stage.ts';

describe('the window', () => {
  const DAYS = 7;
  const EDGE = CUTOFF - DAYS * DAY_MILLIS;
  const rows = Object.entries({
    'at-cutoff': CUTOFF,
    newest: CUTOFF - 1,
    'at-edge': EDGE,
    'past-edge': EDGE - 1,
    ancient: EDGE - 900 * DAY_MILLIS,
  }).map(([id, at]) => account(id, { lastActivity: instant(at) }));

  it('takes records that became due at most so many days before the scheduled time, the last instant included', async () => {
    const stage = deploy([...rows, account('held', { hold: true })], { windowDays: String(DAYS) });
    await stage.dispatch();
    await settle(stage);
    expect(expiredIds(stage)).toEqual(['at-edge', 'newest']);
    expect((await theRun(stage)).plan).toMatchObject({ discovered: 2, held: 0, records: 2, overLimit: 0, examined: 6 });
  });

  it('none takes them all, and opening it under the same version finds the older ones the next day', async () => {
    const stage = deploy(rows, { windowDays: String(DAYS) });
    await stage.dispatch();
    await settle(stage);
    stage.settings = testSettings({ windowDays: 'none' });
    stage.world.advance(DAY_MILLIS);
    await stage.dispatch(SCHEDULED + DAY_MILLIS);
    await settle(stage);
    expect(expiredIds(stage)).toEqual(['ancient', 'at-cutoff', 'at-edge', 'newest', 'past-edge']);
  });

  it('moves with the scheduled time, not with the day on which the run is really made', async () => {
    const stage = deploy(rows, { windowDays: String(DAYS) });
    stage.world.advance(6 * DAY_MILLIS);
    await stage.dispatch(SCHEDULED);
    expect(plannedIds(stage).flat().sort()).toEqual(['at-edge', 'newest']);
  });
});

describe('records per run', () => {
  const LIMIT = 10;

  /** Runs of one day after the other, each to its end. */
  async function days(stage: Deployment, count: number) {
    const plans = [];
    for (let day = 0; day < count; day += 1) {
      const scheduledTime = SCHEDULED + day * DAY_MILLIS;
      stage.world.advance(Math.max(0, scheduledTime - stage.world.millis));
      await stage.dispatch(scheduledTime);
      await settle(stage);
      const { status, plan, closing } = await theRun(stage, stage.runIdAt(scheduledTime));
      plans.push([status, plan?.discovered, plan?.records, plan?.overLimit, closing?.processed]);
    }
    return plans;
  }

  it('a backlog of three times the limit drains over three runs, each complete, the rest counted', async () => {
    const stage = deploy([...accounts(30), account('held', { hold: true })], { recordsPerRun: String(LIMIT) });
    const seen = watch(stage);
    expect(await days(stage, 4)).toEqual([
      ['complete', 31, 10, 20, 10],
      ['complete', 21, 10, 10, 10],
      ['complete', 11, 10, 0, 10],
      ['complete', 1, 0, 0, 0],
    ]);
    expect(stage.records.writes).toHaveLength(30);
    checkSound(stage, seen);
  });

  it.each([9, 10, 11])('of %i due records at most ten are planned', async (due) => {
    const stage = deploy(accounts(due), { recordsPerRun: String(LIMIT) });
    await stage.dispatch();
    const planned = Math.min(due, LIMIT);
    expect((await theRun(stage)).plan).toMatchObject({ discovered: due, records: planned, overLimit: due - planned });
    expect(plannedIds(stage).flat()).toHaveLength(planned);
  });

  it('counts by tenant what is over the limit', async () => {
    const rows = ['x', 'y'].flatMap((tenant) =>
      accounts(8).map((row) => ({ ...row, tenant, id: `${tenant}${row.id}` })),
    );
    const stage = deploy(rows, { recordsPerRun: String(LIMIT), discoverySegments: '3' });
    await stage.dispatch();
    const { tenants } = stage.ledger.contents();
    const sum = (name: 'planned' | 'overLimit') => tenants.reduce((total, tenant) => total + tenant[name], 0);
    expect([sum('planned'), sum('overLimit')]).toEqual([10, 6]);
    for (const { discovered, held, planned, overLimit } of tenants) expect(discovered).toBe(held + planned + overLimit);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'P9: a dispatcher out of time after %i looks goes on and keeps the limit',
    async (looks) => {
      const stage = deploy(accounts(30), { recordsPerRun: String(LIMIT), discoverySegments: '2' });
      const seen = watch(stage);
      for (let tries = 0; tries < 4; tries += 1) await stage.dispatch(SCHEDULED, { looksAtDeadline: looks });
      await settle(stage);
      expect((await theRun(stage)).plan).toMatchObject({ discovered: 30, records: LIMIT, overLimit: 20 });
      expect(stage.records.writes).toHaveLength(LIMIT);
      checkSound(stage, seen);
    },
  );
});

describe('what a plan counts', () => {
  const WINDOW = 10;
  const record = fc.record({
    tenant: fc.constantFrom('x', 'y', 'z'),
    days: fc.integer({ min: -3, max: 14 }),
    hold: fc.constantFrom(undefined, 'legal'),
  });
  const policy = fc.record({
    limit: fc.constantFrom('none', '1', '3', '8'),
    window: fc.constantFrom('none', String(WINDOW)),
    batchSize: fc.constantFrom('1', '2', '5'),
    segments: fc.constantFrom('1', '3'),
    looks: fc.constantFrom(1, 2, 3, 1_000),
  });

  it('discovered = planned + held + over the limit, in all and by tenant, for any table and policy, resumed or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 25 }), policy, async (records, { limit, window, ...how }) => {
        const rows = records.map(({ tenant, days, hold }, number) =>
          account(`r${number}`, { tenant, hold, lastActivity: instant(CUTOFF - days * DAY_MILLIS - 1) }),
        );
        const settings = { batchSize: how.batchSize, discoverySegments: how.segments };
        const stage = deploy(rows, { ...settings, recordsPerRun: limit, windowDays: window });
        await stage.dispatch(SCHEDULED, { looksAtDeadline: how.looks });
        await settle(stage);
        const last = window === 'none' ? Number.POSITIVE_INFINITY : WINDOW - 1;
        const due = records.filter(({ days }) => days >= 0 && days <= last);
        const free = due.filter(({ hold }) => hold === undefined).length;
        const planned = limit === 'none' ? free : Math.min(free, Number(limit));
        const { plan, closing } = await theRun(stage);
        const counts = { discovered: due.length, held: due.length - free, records: planned, overLimit: free - planned };
        expect(plan).toMatchObject({ ...counts, examined: records.length, unreadable: {} });
        expect(closing).toMatchObject({ processed: planned, skipped: 0, remaining: 0 });
        for (const { tenant, discovered, held, planned: ofTenant, overLimit } of stage.ledger.contents().tenants) {
          expect(discovered).toBe(due.filter((one) => one.tenant === tenant).length);
          expect(discovered).toBe(ofTenant + held + overLimit);
        }
      }),
      { numRuns: 60 },
    );
  });
});
