import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import { NO_CHECKPOINT } from '../../lib/core/ledger/items.ts';
import { RUN_EDGES } from '../../lib/core/ledger/lifecycle.ts';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { allOf, anEntry, aRun, aRunId, PLAN, retried, storedRun, T0 } from './ledger-samples.ts';

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
    const checkpoint = {
      ...NO_CHECKPOINT,
      nextOrdinal: 2,
      planned: 150,
      cursors: { s0: { kind: 'at', cursor: 'c' } as const },
    };
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

  it('keeps why a run was refused and its plan, and begins anew without them when it is tried again', async () => {
    const run = await storedRun(ledgerOf());
    const refusals = [{ parameter: 'CapRecords', received: '5', message: 'CapRecords 5: the plan has 7 records.' }];
    const notes = [{ note: 'first_run', message: 'There is no earlier run.' }] as const;
    await ledgerOf().takeLease(run.runId, run.lease, 'a', T0, T0 + 60_000);
    const refused = await ledgerOf().moveRun(run.runId, 'refuse', 1, { refusals, notes, plan: PLAN, leaseUntil: 0 });
    expect(refused).toMatchObject({ kind: 'moved', run: { status: 'refused', refusals, notes, plan: PLAN } });
    expect((await ledgerOf().moveRun(run.runId, 'retry', 0, {})).kind).toBe('refused');
    const settings = { ...run.settings, capRecords: null, graceDays: 7 };
    const mended = { settings, policyDigest: 'another', cutoff: T0 - DAY_MILLIS, kind: 'delete' } as const;
    const again = { ...mended, checkpoint: NO_CHECKPOINT, refusals: [], notes: [] };
    await ledgerOf().moveRun(run.runId, 'retry', 1, again);
    const wanted = { ...run, ...again, status: 'planning', lease: { owner: 'a', until: 0, epoch: 1 } };
    expect(await ledgerOf().readRun(run.runId)).toEqual(wanted);
  });

  it('lets a policy version mean one thing only, and the same thing as often as it is claimed', async () => {
    const policyId = `p-${randomUUID()}`;
    expect(await ledgerOf().versionDigest(policyId, 'v1')).toBeUndefined();
    expect(await ledgerOf().claimVersion(policyId, 'v1', 'one')).toBe('claimed');
    expect(await ledgerOf().claimVersion(policyId, 'v1', 'other')).toBe('other');
    expect(await ledgerOf().claimVersion(policyId, 'v1', 'one')).toBe('claimed');
    expect(await ledgerOf().claimVersion(policyId, 'v1_2-b', 'other')).toBe('claimed');
    expect(await ledgerOf().versionDigest(policyId, 'v1')).toBe('one');
    expect(await ledgerOf().versionDigest(policyId, 'v1_2-b')).toBe('other');
    expect(await ledgerOf().versionDigest(policyId, 'v1_2')).toBeUndefined();
    expect(await ledgerOf().versionDigest(`p-${randomUUID()}`, 'v1')).toBeUndefined();
  });

  it('of two who claim one version at once for different meanings, one gets it', async () => {
    const policyId = `p-${randomUUID()}`;
    const digests = ['a', 'b', 'c'];
    const claims = await Promise.all(
      digests.map((digest) => retried(() => ledgerOf().claimVersion(policyId, 'v1', digest))),
    );
    const winners = digests.filter((_, index) => claims[index] === 'claimed');
    expect(winners).toHaveLength(1);
    expect(await ledgerOf().versionDigest(policyId, 'v1')).toBe(winners[0]);
  });

  it('claims a version whether or not the policy has a trail of its own, and leaves the trail as it is', async () => {
    const policyId = `p-${randomUUID()}`;
    const scope = { kind: 'policy', policyId } as const;
    await ledgerOf().claimVersion(policyId, 'v1', 'one');
    expect(await ledgerOf().appendAudit(scope, anEntry(0))).toBe('appended');
    expect(await ledgerOf().claimVersion(policyId, 'v2', 'two')).toBe('claimed');
    expect(await ledgerOf().appendAudit(scope, anEntry(1))).toBe('appended');
    expect(await ledgerOf().versionDigest(policyId, 'v1')).toBe('one');
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
