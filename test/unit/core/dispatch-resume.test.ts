import { describe, expect, it } from 'vitest';
import { LEASE_MILLIS } from '../../../lib/core/plan/lease.ts';
import { parseReference } from '../../../lib/core/publish/reference.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import type { Fate } from '../../helpers/process.ts';
import { settle } from '../../helpers/settle.ts';
import { testSettings } from '../../model/index.ts';
import { accounts, deploy, expiredIds, plannedIds, theRun } from './stage.ts';

/** The next time a call of this name comes for the nth time, this happens to it; every later call goes through. */
function strike(stage: Deployment, name: string, nth: number, fate: Fate, moment: 'before' | 'after' = 'before'): void {
  let seen = 0;
  stage.crew.interference = {
    fate: (call, when) => {
      if (call.name !== name || when !== moment) return 'go';
      seen += 1;
      return seen === nth ? fate : 'go';
    },
  };
}

/** Units in the order in which they were sent, resends included. */
function sentUnits(stage: Deployment): readonly string[] {
  return stage.queue.sent.map(({ body }) => {
    const parsed = parseReference(body);
    if (parsed.kind === 'bad') throw new Error(body);
    return parsed.reference.unit;
  });
}

const ALL = Array.from({ length: 25 }, (_, ordinal) => String(ordinal));

describe('resuming a dispatch', () => {
  it('P9: killed after 13 of 25 sends, failed at its next read, it publishes each batch under the identity it had', async () => {
    const stage = deploy(accounts(75), {}, { ledger: { paging: { size: 13, emptyPages: 'none' } } });
    const cursors: number[] = [];
    stage.ledger.onRunMoved = (_before, after) => cursors.push(after.published?.batches ?? 0);

    strike(stage, 'queue.send', 3, 'crash');
    expect(await stage.dispatch()).toMatchObject({ kind: 'crashed' });
    expect((await theRun(stage)).published?.batches).toBe(13);
    stage.world.advance(LEASE_MILLIS);
    strike(stage, 'ledger.sliceHeads', 1, 'fail');
    expect(await stage.dispatch()).toMatchObject({ kind: 'failed' });
    expect((await theRun(stage)).published?.batches).toBe(13);
    stage.world.advance(LEASE_MILLIS);
    expect(await stage.dispatch()).toMatchObject({ kind: 'done', value: { kind: 'dispatched' } });

    expect(sentUnits(stage)).toHaveLength(25);
    expect([...new Set(sentUnits(stage))].sort()).toEqual([...ALL].sort());
    expect(cursors).toEqual([...cursors].sort((a, b) => a - b));
    const run = await theRun(stage);
    expect(run.published).toMatchObject({ batches: 25, records: 75, digest: run.plan?.digest });
  });

  it('P9: killed between sends and the saved cursor, it sends the same references again and no others', async () => {
    const stage = deploy(accounts(75), {}, { ledger: { paging: { size: 13, emptyPages: 'none' } } });
    strike(stage, 'queue.send', 2, 'crash', 'after');
    await stage.dispatch();
    expect((await theRun(stage)).published?.batches).toBe(0);
    const first = stage.queue.sent.map(({ body }) => body);
    stage.world.advance(LEASE_MILLIS);
    await stage.dispatch();
    const again = stage.queue.sent.slice(first.length).map(({ body }) => body);
    for (const body of first) expect(again).toContain(body);
    expect([...new Set(sentUnits(stage))].sort()).toEqual([...ALL].sort());
    await settle(stage);
    expect(stage.records.writes).toHaveLength(75);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 75 } });
  });

  it.each([1, 3, 7])('P9: killed at page %i of discovery, it plans every record once', async (page) => {
    const stage = deploy(accounts(30), { discoverySegments: '2' });
    strike(stage, 'source.page', page, 'crash');
    await stage.dispatch();
    expect(stage.queue.sent).toHaveLength(0);
    stage.world.advance(LEASE_MILLIS);
    await stage.dispatch();
    await settle(stage);
    expect(stage.records.writes).toHaveLength(30);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', plan: { discovered: 30, records: 30 } });
  });

  it('P9: short of time, discovery saves its place and goes on from there', async () => {
    const stage = deploy(accounts(30));
    expect(await stage.dispatch(undefined, { looksAtDeadline: 3 })).toMatchObject({ value: { kind: 'out-of-time' } });
    const saved = await theRun(stage);
    expect(saved).toMatchObject({ status: 'planning', lease: { until: 0 }, checkpoint: { nextTally: 1 } });
    expect(saved.checkpoint.nextOrdinal).toBeGreaterThan(0);
    const before = plannedIds(stage);
    const pagesBefore = stage.crew.calls.filter(({ name }) => name === 'source.page').length;
    expect(await stage.dispatch()).toMatchObject({ value: { kind: 'dispatched' } });
    expect(plannedIds(stage).slice(0, before.length)).toEqual(before);
    expect(plannedIds(stage).flat().sort()).toEqual(accounts(30).map((row) => row.id));
    // Four rows to a page, and one more page that finds the end.
    const pages = stage.crew.calls.filter(({ name }) => name === 'source.page').length;
    expect(pages).toBe(8);
    expect(pagesBefore).toBe(4);
  });

  it('P9: short of time, publishing saves its place and goes on from there', async () => {
    const stage = deploy(accounts(30));
    // Looks: one per page of discovery, then one per page of publishing.
    expect(await stage.dispatch(undefined, { looksAtDeadline: 10 })).toMatchObject({ value: { kind: 'out-of-time' } });
    expect(await theRun(stage)).toMatchObject({ status: 'publishing', lease: { until: 0 }, published: { batches: 6 } });
    await stage.dispatch();
    expect(sentUnits(stage)).toHaveLength(10);
    expect(await theRun(stage)).toMatchObject({ status: 'draining' });
  });

  it('what a dead dispatcher wrote beyond the plan is no part of it, and its message would be refused', async () => {
    const stage = deploy(accounts(12));
    strike(stage, 'ledger.moveRun', 1, 'crash');
    await stage.dispatch();
    expect(stage.ledger.contents().slices).toHaveLength(4);
    for (const row of accounts(12).slice(3)) stage.records.remove(String(row.id));
    stage.world.advance(LEASE_MILLIS);
    await stage.dispatch();
    expect(stage.ledger.contents().slices).toHaveLength(4);
    expect((await theRun(stage)).plan).toMatchObject({ batches: 1, records: 3 });
    expect(sentUnits(stage)).toEqual(['0']);
    await settle(stage);
    expect(expiredIds(stage)).toEqual(['a0000', 'a0001', 'a0002']);
  });

  it('the lease is renewed while discovery goes on, and given back at the end', async () => {
    const stage = deploy(accounts(40));
    const left: number[] = [];
    stage.crew.interference = {
      fate: ({ name }, moment) => {
        if (name !== 'source.page' || moment !== 'before') return 'go';
        stage.world.advance(30_000);
        left.push((stage.ledger.contents().runs[0]?.lease.until ?? 0) - stage.world.millis);
        return 'go';
      },
    };
    expect(await stage.dispatch()).toMatchObject({ value: { kind: 'dispatched' } });
    expect(left.length * 30_000).toBeGreaterThan(2 * LEASE_MILLIS);
    expect(Math.min(...left)).toBeGreaterThan(0);
    expect((await theRun(stage)).lease).toMatchObject({ epoch: 1, until: 0 });
  });

  it.each(['slices', 'send'] as const)(
    'goes on with a run whose policy was given a new version meanwhile (%s)',
    async (call) => {
      const stage = deploy(accounts(7));
      strike(stage, call === 'slices' ? 'ledger.slices' : 'queue.send', 1, 'crash');
      await stage.dispatch();
      stage.settings = testSettings({ policyVersion: 'v2', retentionDays: '300' });
      await settle(stage);
      const { runs } = stage.ledger.contents();
      expect(runs.map(({ policyVersion, status }) => [policyVersion, status])).toEqual([['v1', 'complete']]);
      expect(expiredIds(stage)).toHaveLength(7);
    },
  );

  it('makes no run where it is asked to go on with one that is not there', async () => {
    const stage = deploy(accounts(7));
    const ended = await stage.resume({ runId: 'accounts.v0.20260101T000000Z', scheduledTime: stage.scheduledTime });
    expect(ended).toMatchObject({ kind: 'failed', error: { name: 'RefusedRequest' } });
    expect(stage.ledger.contents().runs).toEqual([]);
  });

  it('does not try a refused run again where it is only to go on', async () => {
    const stage = deploy(accounts(7), { capRecords: '3' });
    await stage.dispatch();
    stage.settings = testSettings();
    const { runId, scheduledTime } = stage;
    expect(await stage.resume({ runId, scheduledTime })).toMatchObject({
      value: { kind: 'joined', status: 'refused' },
    });
  });
});
