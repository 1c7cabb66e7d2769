import { expect, it } from 'vitest';
import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import { NO_CHECKPOINT } from '../../lib/core/ledger/items.ts';
import { RUN_EDGES } from '../../lib/core/ledger/lifecycle.ts';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { allOf, aRun, aRunId, PLAN, retried, storedRun, T0 } from './ledger-samples.ts';

/** What every ledger must do with runs and their leases. */
export function runCases(ledgerOf: () => Ledger): void {
  it('P5: creates a run once; the second creator is told what is there', async () => {
    const run = aRun();
    expect(await ledgerOf().createRun(run)).toEqual({ kind: 'created' });
    const second = { ...run, createdAt: run.createdAt + 5, startedBy: 'somebody else' };
    expect(await ledgerOf().createRun(second)).toEqual({ kind: 'exists', run });
    expect(await ledgerOf().readRun(run.runId)).toEqual(run);
  });

  it('P5: of two creators at once one creates', async () => {
    const run = aRun();
    const kinds = await Promise.all([0, 1].map(() => retried(() => ledgerOf().createRun(run))));
    expect(kinds.map(({ kind }) => kind).sort()).toEqual(['created', 'exists']);
  });

  it('reads nothing of a run that is not there', async () => {
    expect(await ledgerOf().readRun(aRunId())).toBeUndefined();
  });

  it('lists the runs of a policy by page, newest scheduled time first', async () => {
    const { policyId, runId } = await storedRun(ledgerOf());
    const later = await storedRun(ledgerOf(), policyId, T0 + DAY_MILLIS);
    const latest = await storedRun(ledgerOf(), policyId, T0 + 2 * DAY_MILLIS);
    await storedRun(ledgerOf());
    const ids = await allOf((cursor) => ledgerOf().runIds(policyId, 2, cursor));
    expect(ids).toEqual([latest.runId, later.runId, runId]);
  });

  it('P8: gives a lease only where it has lapsed, and never twice for one epoch', async () => {
    const { runId, lease } = await storedRun(ledgerOf());
    const taken = await ledgerOf().takeLease(runId, lease, 'a', T0, T0 + 60_000);
    expect(taken).toMatchObject({ kind: 'moved', run: { lease: { owner: 'a', until: T0 + 60_000, epoch: 1 } } });
    const held = { owner: 'a', until: T0 + 60_000, epoch: 1 };
    expect((await ledgerOf().takeLease(runId, lease, 'b', T0 + 90_000, T0 + 99_000)).kind).toBe('refused');
    expect((await ledgerOf().takeLease(runId, held, 'b', T0 + 59_999, T0 + 99_000)).kind).toBe('refused');
    const next = await ledgerOf().takeLease(runId, held, 'b', T0 + 60_000, T0 + 99_000);
    expect(next).toMatchObject({ kind: 'moved', run: { lease: { owner: 'b', epoch: 2 } } });
    expect(await ledgerOf().takeLease(aRunId(), lease, 'a', T0, T0 + 1)).toEqual({ kind: 'refused', run: undefined });
  });

  it('P8: of those who take a lapsed lease at once, one gets it', async () => {
    const { runId, lease } = await storedRun(ledgerOf());
    const owners = ['a', 'b', 'c', 'd'];
    const taken = await Promise.all(
      owners.map((owner) => retried(() => ledgerOf().takeLease(runId, lease, owner, T0, T0 + 60_000))),
    );
    const winners = owners.filter((_, index) => taken[index]?.kind === 'moved');
    expect(winners).toHaveLength(1);
    expect((await ledgerOf().readRun(runId))?.lease).toEqual({ owner: winners[0], until: T0 + 60_000, epoch: 1 });
  });

  it('moves a run along its edges and keeps what a move does not set', async () => {
    const run = await storedRun(ledgerOf());
    const checkpoint = { ...NO_CHECKPOINT, nextOrdinal: 2, cursors: { s0: { kind: 'at', cursor: 'c' } as const } };
    const cost = { calls: 3, readUnits: 2.5, writeUnits: 4 };
    await ledgerOf().moveRun(run.runId, 'checkpoint', 0, { checkpoint, cost, leaseUntil: T0 + 7 });
    await ledgerOf().moveRun(run.runId, 'freeze', 0, { plan: PLAN, frozenAt: T0 });
    const { tenants: _tenants, ...chain } = { tenants: 0, batches: 2, records: 3, digest: 'd' };
    const moved = await ledgerOf().moveRun(run.runId, 'advance', 0, { published: chain });
    const lease = { ...run.lease, until: T0 + 7 };
    const wanted = {
      ...run,
      status: 'publishing',
      checkpoint,
      cost,
      lease,
      plan: PLAN,
      frozenAt: T0,
      published: chain,
    };
    expect(moved).toEqual({ kind: 'moved', run: wanted });
    expect(await ledgerOf().readRun(run.runId)).toEqual(wanted);
  });

  it('refuses every edge that does not leave the status the run is in', async () => {
    const run = await storedRun(ledgerOf());
    for (const [edge, { from }] of Object.entries(RUN_EDGES)) {
      if ((from as readonly string[]).includes('planning')) continue;
      const refused = await ledgerOf().moveRun(run.runId, edge as keyof typeof RUN_EDGES, 0, { frozenAt: 1 });
      expect(refused, edge).toEqual({ kind: 'refused', run });
    }
  });

  it('refuses a move of another epoch, older or newer', async () => {
    const { runId, lease } = await storedRun(ledgerOf());
    await ledgerOf().takeLease(runId, lease, 'a', T0, T0 + 60_000);
    for (const epoch of [0, 2]) {
      expect((await ledgerOf().moveRun(runId, 'freeze', epoch, { plan: PLAN })).kind).toBe('refused');
    }
    expect((await ledgerOf().moveRun(runId, 'freeze', 1, { plan: PLAN })).kind).toBe('moved');
    expect((await ledgerOf().moveRun(runId, 'drain', undefined, {})).kind).toBe('moved');
  });

  it('does not make a run by moving it', async () => {
    const runId = aRunId();
    expect(await ledgerOf().moveRun(runId, 'freeze', undefined, {})).toEqual({ kind: 'refused', run: undefined });
    expect(await ledgerOf().readRun(runId)).toBeUndefined();
  });
}
