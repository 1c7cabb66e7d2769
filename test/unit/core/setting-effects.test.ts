import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { settle } from '../../helpers/settle.ts';
import {
  account,
  accounts,
  CUTOFF,
  decide,
  deploy,
  expiredIds,
  instant,
  plannedIds,
  published,
  receiveOne,
  SCHEDULED,
  theRun,
  theUnit,
  timeLeft,
} from './stage.ts';

const HOUR_MILLIS = 3_600_000;

/** Operation keys that the expired records carry. */
async function keysUnder(settings: Parameters<typeof deploy>[1]): Promise<readonly unknown[]> {
  const stage = deploy(accounts(2), settings);
  await settle(stage);
  return stage.records.rows().map((row) => row[stage.settings.operationKeyAttribute]);
}

describe('what a setting changes', () => {
  it('PolicyId and PolicyVersion: the name of the run, and the key that every record carries', async () => {
    const stage = deploy(accounts(1), { policyId: 'orders', policyVersion: '2026-a' });
    await settle(stage);
    const { runId } = await theRun(stage);
    expect([runId.includes('orders'), runId.includes('2026-a')]).toEqual([true, true]);
    const keys = [
      ...(await keysUnder({})),
      ...(await keysUnder({ policyId: 'orders' })),
      ...(await keysUnder({ policyVersion: 'v2' })),
    ];
    expect(new Set(keys).size).toBe(6);
  });

  it('RetentionDays: the cutoff, and with it which records are due', async () => {
    const rows = [
      account('old', { lastActivity: instant(CUTOFF - 1) }),
      account('newer', { lastActivity: instant(SCHEDULED - 30 * DAY_MILLIS - 1) }),
      account('kept', { lastActivity: instant(SCHEDULED - 30 * DAY_MILLIS) }),
    ];
    expect(plannedIds(await published(rows, { retentionDays: '365' }))).toEqual([['old']]);
    expect(plannedIds(await published(rows, { retentionDays: '30' }))).toEqual([['newer', 'old']]);
  });

  it('EligibleState and ExpiredState: which records may expire, and what they become', async () => {
    const rows = [account('a'), account('b', { status: 'IDLE' })];
    const stage = deploy(rows, { eligibleState: 'IDLE', expiredState: 'GONE' });
    await settle(stage);
    expect(stage.records.rows().map(({ status }) => status)).toEqual(['ACTIVE', 'GONE']);
  });

  it('StateAttribute, ExpiredAtAttribute and OperationKeyAttribute: where an expiry is written', async () => {
    const names = { stateAttribute: 'phase', expiredAtAttribute: 'endedAt', operationKeyAttribute: 'endedBy' };
    const stage = deploy([account('a', { phase: 'ACTIVE', status: 'untouched' })], names);
    await settle(stage);
    expect(stage.records.rows()).toEqual([
      expect.objectContaining({
        phase: 'EXPIRED',
        status: 'untouched',
        endedAt: expect.stringMatching(/^2026-/),
        endedBy: expect.stringMatching(/^.{20,}$/),
      }),
    ]);
  });

  it('TimestampAttribute: whose age decides', async () => {
    const rows = [account('a', { seenAt: instant(SCHEDULED) }), account('b', { seenAt: instant(CUTOFF - 1) })];
    expect(plannedIds(await published(rows, { timestampAttribute: 'seenAt' }))).toEqual([['b']]);
  });

  it('TenantAttribute: batches never cross its values; without one all records are of one tenant', async () => {
    const rows = ['x', 'y', 'x'].map((team, at) => account(`a${at}`, { team }));
    expect(plannedIds(await published(rows, { tenantAttribute: 'team' }))).toEqual([['a0', 'a2'], ['a1']]);
    expect(plannedIds(await published(rows, { tenantAttribute: '' }))).toEqual([['a0', 'a1', 'a2']]);
  });

  it('HoldAttributes: what holds a record back', async () => {
    const rows = [account('a', { dispute: true }), account('b', { hold: true })];
    expect(plannedIds(await published(rows, { holdAttributes: 'dispute' }))).toEqual([['b']]);
    expect(plannedIds(await published(rows, { holdAttributes: '' }))).toEqual([['a', 'b']]);
  });

  it.each([1, 4, 10])('BatchSize %i: how many records one message is for', async (batchSize) => {
    const stage = await published(accounts(10), { batchSize: String(batchSize) });
    const sizes = plannedIds(stage).map(({ length }) => length);
    expect(Math.max(...sizes)).toBe(batchSize);
    expect(stage.queue.work.copies()).toHaveLength(Math.ceil(10 / batchSize));
  });

  it.each([1, 5])('DiscoverySegments %i: how many parts of the table are read side by side', async (segments) => {
    const stage = deploy(accounts(10), { discoverySegments: String(segments) });
    await stage.dispatch();
    expect(Object.keys((await theRun(stage)).checkpoint.cursors)).toHaveLength(segments);
    expect(plannedIds(stage).flat()).toHaveLength(10);
  });

  it.each([3, 7])('MaxAttempts %i: how often a batch is tried before a person is asked', async (maxAttempts) => {
    const stage = deploy(accounts(1), { maxAttempts: String(maxAttempts) });
    stage.target.poison('a0000', { class: 'transient', error: 'ThrottlingException' });
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', attempts: maxAttempts });
  });

  it.each([1, 100])(
    'UnitAgeHours %i: a batch that is older is not worked on, one of just that age is',
    async (unitAgeHours) => {
      const stage = await published(accounts(2), { unitAgeHours: String(unitAgeHours) });
      const delivery = await receiveOne(stage);
      const { frozenAt = 0 } = await theRun(stage);
      stage.world.advance(frozenAt + unitAgeHours * HOUR_MILLIS + 1 - stage.world.millis);
      expect(await decide(stage, [delivery])).toEqual([{ kind: 'acknowledge', why: 'quarantined' }]);
      expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', reason: 'too_old', attempts: 0 });
      expect(stage.records.writes).toEqual([]);

      const young = await published(accounts(2), { unitAgeHours: String(unitAgeHours) });
      const inTime = await receiveOne(young);
      const run = await theRun(young);
      young.world.advance((run.frozenAt ?? 0) + unitAgeHours * HOUR_MILLIS - young.world.millis);
      expect(await decide(young, [inTime])).toEqual([{ kind: 'acknowledge', why: 'committed' }]);
      expect(expiredIds(young)).toHaveLength(2);
    },
  );

  it('RecordsPerSecond: a batch takes the time that its records are worth, and one that has none left waits', async () => {
    const stage = await published(accounts(100), { batchSize: '100', recordsPerSecond: '20' });
    const delivery = await receiveOne(stage);
    const before = stage.world.millis;
    expect(await decide(stage, [delivery])).toEqual([{ kind: 'acknowledge', why: 'committed' }]);
    const [grant] = stage.admission.grants;
    expect(grant).toMatchObject({ amount: 100 });
    expect((grant?.until ?? 0) - (grant?.from ?? 0)).toBe(5_000);
    expect(stage.world.millis - before).toBeGreaterThan(4_000);

    const short = await published(accounts(100), { batchSize: '100', recordsPerSecond: '20' });
    const [decision] = await decide(short, [await receiveOne(short)], {}, timeLeft(6_000));
    expect(decision?.kind).not.toBe('acknowledge');
    expect(short.records.writes).toEqual([]);

    const free = await published(accounts(100), { batchSize: '100', recordsPerSecond: 'none' });
    await decide(free, [await receiveOne(free)]);
    expect(free.admission.grants).toEqual([]);
  });

  it('RedriveGenerations: how often a unit may come back before it must be asked for by name', async () => {
    for (const redriveGenerations of ['1', '2', '4']) {
      const stage = await published(accounts(3), { redriveGenerations });
      for (const { id } of accounts(3)) stage.target.poison(String(id), { class: 'transient', error: 'Throttled' });
      await settle(stage);
      let redriven = 0;
      for (let time = 0; time < 5; time += 1) {
        const end = await stage.act({ act: 'redrive', all: true, actor: 'eve', reason: 'again' });
        if (end.kind !== 'done' || !('moved' in end.value)) throw new Error(end.kind);
        redriven += end.value.moved;
        await settle(stage);
      }
      expect(redriven).toBe(Number(redriveGenerations) - 1);
    }
  });

  it('SuccessSamplePercent: how many of the changed records get a line of their own', async () => {
    const linesAt = async (successSamplePercent: string) => {
      const stage = await published(accounts(300), { successSamplePercent });
      await settle(stage);
      expect(stage.records.writes).toHaveLength(300);
      return stage.log.named('record');
    };
    expect(await linesAt('none')).toEqual([]);
    const all = await linesAt('100');
    expect(all).toHaveLength(300);
    expect(Object.keys(all[0]?.fields ?? {}).sort()).toEqual(
      ['generation', 'outcome', 'policyVersion', 'position', 'runId', 'unit'].sort(),
    );
    const some = (await linesAt('20')).length;
    expect(some).toBeGreaterThan(30);
    expect(some).toBeLessThan(90);
  });
});
