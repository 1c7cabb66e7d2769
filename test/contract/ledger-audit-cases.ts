import { expect, it } from 'vitest';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { allOf, anEntry, aRun, aRunId, retried, runScope, storedRun, T0 } from './ledger-samples.ts';

/** What every ledger must do with audit trails and bad messages. */
export function auditCases(ledgerOf: () => Ledger): void {
  it('appends to a run where the number is the head’s count, and moves the head', async () => {
    const run = await storedRun(ledgerOf());
    const scope = runScope(run.runId);
    expect(await ledgerOf().appendAudit(scope, anEntry(1))).toBe('moved-on');
    expect(await ledgerOf().appendAudit(scope, anEntry(0))).toBe('appended');
    expect(await ledgerOf().readRun(run.runId)).toEqual({ ...run, auditHead: { count: 1, hash: anEntry(0).hash } });
    expect(await ledgerOf().appendAudit(scope, anEntry(0, 'another'))).toBe('moved-on');
    for (let number = 1; number < 12; number += 1) await ledgerOf().appendAudit(scope, anEntry(number));
    const trail = await allOf((cursor) => ledgerOf().auditTrail(scope, cursor));
    expect(trail).toEqual(Array.from({ length: 12 }, (_, number) => anEntry(number)));
  });

  it('has a trail of its own for a policy, from its first entry on', async () => {
    const { policyId, runId } = await storedRun(ledgerOf());
    const scope = { kind: 'policy', policyId } as const;
    expect(await ledgerOf().appendAudit(scope, anEntry(1))).toBe('moved-on');
    expect(await ledgerOf().appendAudit(scope, anEntry(0))).toBe('appended');
    expect(await ledgerOf().appendAudit(scope, anEntry(1, 'second'))).toBe('appended');
    expect(await allOf((cursor) => ledgerOf().auditTrail(scope, cursor))).toEqual([anEntry(0), anEntry(1, 'second')]);
    expect(await allOf((cursor) => ledgerOf().auditTrail(runScope(runId), cursor))).toEqual([]);
  });

  it('appends behind what the head does not know, where the head still counts what the caller read', async () => {
    const run = await storedRun(ledgerOf());
    for (const scope of [runScope(run.runId), { kind: 'policy', policyId: run.policyId } as const]) {
      expect(await ledgerOf().appendAudit(scope, anEntry(0))).toBe('appended');
      expect(await ledgerOf().appendAudit(scope, anEntry(3), 0)).toBe('moved-on');
      expect(await ledgerOf().appendAudit(scope, anEntry(3), 1)).toBe('appended');
      expect(await ledgerOf().appendAudit(scope, anEntry(4))).toBe('appended');
      const trail = await allOf((cursor) => ledgerOf().auditTrail(scope, cursor));
      expect(trail.map(({ number }) => number)).toEqual([0, 3, 4]);
    }
  });

  it('makes no trail of a run that is not there', async () => {
    const runId = aRunId();
    expect(await ledgerOf().appendAudit(runScope(runId), anEntry(0))).toBe('moved-on');
    expect(await ledgerOf().readRun(runId)).toBeUndefined();
    expect(await allOf((cursor) => ledgerOf().auditTrail(runScope(runId), cursor))).toEqual([]);
  });

  it('of entries appended at once, one has the number and the others have moved on', async () => {
    const run = await storedRun(ledgerOf());
    const reasons = ['a', 'b', 'c', 'd'];
    const ends = await Promise.all(
      reasons.map((reason) => retried(() => ledgerOf().appendAudit(runScope(run.runId), anEntry(0, reason)))),
    );
    expect(ends.filter((end) => end === 'appended')).toHaveLength(1);
    const [entry, ...more] = await allOf((cursor) => ledgerOf().auditTrail(runScope(run.runId), cursor));
    expect(more).toEqual([]);
    expect(entry?.reason).toBe(reasons[ends.indexOf('appended')]);
    expect((await ledgerOf().readRun(run.runId))?.auditHead).toEqual({ count: 1, hash: entry?.hash });
  });

  it('keeps the first sighting of a bad message', async () => {
    const { policyId } = aRun();
    await ledgerOf().recordBadMessage({ policyId, digest: 'd1', reason: 'malformed', at: T0 });
    await ledgerOf().recordBadMessage({ policyId, digest: 'd1', reason: 'forged', at: T0 + 1 });
    await ledgerOf().recordBadMessage({ policyId, digest: 'd2', reason: 'forged', at: T0 + 2 });
    expect(await allOf((cursor) => ledgerOf().badMessages(policyId, cursor))).toEqual([
      { policyId, digest: 'd1', reason: 'malformed', at: T0 },
      { policyId, digest: 'd2', reason: 'forged', at: T0 + 2 },
    ]);
  });
}
