import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { dispatch } from '../../../lib/core/plan/dispatch.ts';
import { LEASE_MILLIS } from '../../../lib/core/plan/lease.ts';
import { newRun } from '../../../lib/core/plan/new-run.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { testSettings } from '../../model/index.ts';
import {
  account,
  accounts,
  CUTOFF,
  deploy,
  dispatchPorts,
  expiredIds,
  FEW_OF_MANY,
  plannedIds,
  SCHEDULED,
  theRun,
  timeLeft,
} from './stage.ts';

const REQUEST = { scheduledTime: SCHEDULED, startedBy: 'schedule' };

function start(stage: Deployment, owner = 'one', settings = stage.settings) {
  return dispatch(dispatchPorts(stage, { owner }), settings, REQUEST, timeLeft());
}

describe('dispatch of a scheduled time', () => {
  it('P5: twice, one after the other: one run, one set of messages, and the second names the first', async () => {
    const stage = deploy(accounts(7));
    const problems: unknown[] = [];
    expect(await start(stage)).toEqual({ kind: 'dispatched', runId: stage.runId, status: 'draining', problems });
    const sent = stage.queue.sent.map(({ body }) => body);
    expect(await start(stage, 'two')).toEqual({ kind: 'joined', runId: stage.runId, status: 'draining', problems });
    expect(stage.queue.sent.map(({ body }) => body)).toEqual(sent);
    expect(stage.ledger.contents().runs).toHaveLength(1);
  });

  it('P5: twice at the same moment: one run, one cutoff, one set of batches', async () => {
    const stage = deploy(accounts(7));
    const ends = await Promise.all([start(stage, 'one'), start(stage, 'two'), start(stage, 'three')]);
    expect(ends.map(({ kind }) => kind).sort()).toEqual(['dispatched', 'joined', 'joined']);
    expect(new Set(ends.map(({ runId }) => runId))).toEqual(new Set([stage.runId]));
    expect(stage.ledger.contents().runs).toHaveLength(1);
    expect(new Set(stage.queue.sent.map(({ body }) => body)).size).toBe(3);
    expect(stage.queue.sent).toHaveLength(3);
    expect(plannedIds(stage).flat()).toHaveLength(7);
  });

  it('P6: delivered 23 hours late, under another retention and with a fast clock, the run keeps its cutoff', async () => {
    const stage = deploy(accounts(3));
    await stage.ledger.createRun(newRun(stage.settings, REQUEST, SCHEDULED));
    stage.world.advance(23 * 3_600_000);
    const clock = stage.world.clock(300_000);
    const changed = testSettings({ retentionDays: '1' });
    await dispatch(dispatchPorts(stage, { clock }), changed, REQUEST, timeLeft());
    expect(await theRun(stage)).toMatchObject({ cutoff: CUTOFF, settings: stage.settings, status: 'draining' });
  });

  it('P6: begun 23 hours late, the run has the cutoff of its scheduled time', async () => {
    const stage = deploy(accounts(3));
    stage.world.advance(23 * 3_600_000);
    await dispatch(dispatchPorts(stage), stage.settings, REQUEST, timeLeft());
    expect(await theRun(stage)).toMatchObject({ cutoff: CUTOFF, status: 'draining' });
  });

  it('P6: refused, and tried again a day later, the run keeps its cutoff', async () => {
    const stage = deploy(accounts(3), { capRecords: '1' }, FEW_OF_MANY);
    expect(await start(stage)).toMatchObject({ kind: 'refused' });
    stage.world.advance(24 * 3_600_000);
    const mended = testSettings({ discoverySegments: '1', capRecords: '10' });
    expect(await start(stage, 'again', mended)).toMatchObject({ kind: 'dispatched' });
    expect(await theRun(stage)).toMatchObject({ cutoff: CUTOFF, status: 'draining' });
  });

  it('P8: joins a run whose lease is valid, and takes it over once the lease has lapsed', async () => {
    const stage = deploy(accounts(4));
    const run = newRun(stage.settings, REQUEST, SCHEDULED);
    await stage.ledger.createRun(run);
    await stage.ledger.takeLease(run.runId, run.lease, 'dead', SCHEDULED, SCHEDULED + LEASE_MILLIS);
    expect(await start(stage)).toMatchObject({ kind: 'joined', status: 'planning' });
    expect(stage.queue.sent).toHaveLength(0);
    stage.world.advance(LEASE_MILLIS - 1);
    expect(await start(stage)).toMatchObject({ kind: 'joined' });
    stage.world.advance(1);
    expect(await start(stage)).toMatchObject({ kind: 'dispatched' });
    expect((await theRun(stage)).lease).toEqual({ owner: 'one', until: 0, epoch: 2 });
  });

  it('P8: a run that died does not keep the next scheduled time from its own run', async () => {
    const stage = deploy(accounts(4));
    const run = newRun(stage.settings, REQUEST, SCHEDULED);
    await stage.ledger.createRun(run);
    await stage.ledger.takeLease(run.runId, run.lease, 'dead', SCHEDULED, SCHEDULED + LEASE_MILLIS);
    stage.world.advance(DAY_MILLIS);
    await stage.dispatch(SCHEDULED + DAY_MILLIS);
    await settle(stage);
    expect(stage.ledger.contents().runs.map(({ status }) => status)).toEqual(['complete', 'complete']);
    expect(expiredIds(stage)).toHaveLength(4);
    expect(stage.records.writes).toHaveLength(4);
  });

  it('P1: what a skipped scheduled time would have found is found by the next', async () => {
    const stage = deploy(
      [account('due-on-the-8th', { lastActivity: '2026-03-07T12:00:00Z' }), account('due-long-ago')],
      { retentionDays: '1' },
    );
    const ninth = Date.UTC(2026, 2, 9, 6, 30);
    stage.world.advance(ninth - stage.world.millis);
    await stage.dispatch(ninth);
    expect(plannedIds(stage).flat().sort()).toEqual(['due-long-ago', 'due-on-the-8th']);
    expect(stage.ledger.contents().runs).toHaveLength(1);
  });

  it('P65: finds nothing, says zero, publishes nothing and completes', async () => {
    const stage = deploy([]);
    await stage.dispatch();
    expect((await theRun(stage)).plan).toMatchObject({ discovered: 0, records: 0, batches: 0, held: 0, tenants: 0 });
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({
      status: 'complete',
      closing: { processed: 0, skipped: 0, remaining: 0 },
    });
    expect(stage.queue.sent).toHaveLength(0);
  });

  it('P57: report-only counts what enforcing would, writes no record and publishes no message', async () => {
    const rows = [...accounts(5), account('held', { hold: true }), account('odd', { lastActivity: null })];
    const [reporting, enforcing] = [deploy(rows, { mode: 'report-only' }, FEW_OF_MANY), deploy(rows, {}, FEW_OF_MANY)];
    expect(await start(reporting)).toMatchObject({ kind: 'dispatched', status: 'reported' });
    await start(enforcing);
    expect((await theRun(reporting)).plan).toEqual((await theRun(enforcing)).plan);
    expect(reporting.queue.sent).toHaveLength(0);
    await settle(reporting);
    expect(reporting.records.rows()).toEqual(deploy(rows).records.rows());
    expect(await start(reporting, 'again', enforcing.settings)).toMatchObject({ kind: 'joined', status: 'reported' });
    expect(reporting.queue.sent).toHaveLength(0);
  });

  it('publishes nothing before the whole plan is frozen', async () => {
    const stage = deploy(accounts(9));
    const seen: string[] = [];
    stage.ledger.onRunMoved = (before, after) =>
      seen.push(`${before.status}→${after.status} ${stage.queue.sent.length}`);
    await stage.dispatch();
    expect(seen.filter((step) => step.startsWith('planning'))).toEqual([
      'planning→planning 0',
      'planning→publishing 0',
    ]);
    expect(seen.at(-1)).toBe('publishing→draining 3');
  });

  it('has batches of one tenant, the tenant report, and message groups by tenant', async () => {
    const rows = ['x', 'y', 'x', 'y', 'x', 'x'].map((tenant, number) => account(`a${number}`, { tenant }));
    const more = [account('h', { tenant: 'z', hold: 'legal' }), account('n', { tenant: '' })];
    const stage = deploy([...rows, ...more], {}, FEW_OF_MANY);
    await stage.dispatch();
    const { slices, tenants } = stage.ledger.contents();
    expect(slices.map(({ tenant, entries }) => [tenant, entries.length])).toEqual([
      ...[
        ['x', 3],
        ['x', 1],
        ['y', 2],
      ], // in order of ordinals
    ]);
    expect(tenants.map(({ tenant, discovered, planned, held }) => [tenant, discovered, planned, held])).toEqual([
      ...[
        ['x', 4, 4, 0],
        ['y', 2, 2, 0],
        ['z', 1, 0, 1],
      ],
    ]);
    expect(stage.queue.sent.map(({ group }) => group).sort()).toEqual(['t.x', 't.x', 't.y']);
    expect((await theRun(stage)).plan).toMatchObject({ discovered: 7, held: 1, unreadable: { tenant_unreadable: 1 } });
  });
});
