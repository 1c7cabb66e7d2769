import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { NO_CONTROL, PAUSES_KEPT, type Pause } from '../../lib/core/ledger/items.ts';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { anEntry, aRunId, retried, storedRun, T0 } from './ledger-samples.ts';

export function aPause(at: number, requestId = `request-${at}`): Pause {
  return { actor: 'ada', reason: 'the index is wrong', requestId, at };
}

/** What every ledger must do with a policy’s switch. */
export function controlCases(ledgerOf: () => Ledger): void {
  const aPolicy = () => `p-${randomUUID()}`;

  it('knows of no pause where nobody has paused', async () => {
    const policyId = aPolicy();
    expect(await ledgerOf().readControl(policyId)).toEqual(NO_CONTROL);
    await ledgerOf().claimVersion(policyId, 'v1', 'digest');
    expect(await ledgerOf().readControl(policyId)).toEqual(NO_CONTROL);
    await ledgerOf().appendAudit({ kind: 'policy', policyId }, anEntry(0));
    const auditHead = { count: 1, hash: anEntry(0).hash };
    expect(await ledgerOf().readControl(policyId)).toEqual({ ...NO_CONTROL, auditHead });
  });

  it('pauses once: the second one is told who did', async () => {
    const policyId = aPolicy();
    const paused = { ...NO_CONTROL, pause: aPause(T0), intake: 'to-disable' };
    expect(await ledgerOf().pause(policyId, aPause(T0))).toEqual({ kind: 'moved', control: paused });
    expect(await ledgerOf().pause(policyId, aPause(T0 + 1))).toEqual({ kind: 'refused', control: paused });
    expect(await ledgerOf().readControl(policyId)).toEqual(paused);
    expect(await ledgerOf().readControl(aPolicy())).toEqual(NO_CONTROL);
  });

  it('the same request may say it again, because its first answer may have been lost', async () => {
    const policyId = aPolicy();
    await ledgerOf().pause(policyId, aPause(T0));
    expect((await ledgerOf().pause(policyId, aPause(T0))).kind).toBe('moved');
    const resumed = await ledgerOf().resume(policyId, T0, T0 + 9);
    expect(await ledgerOf().resume(policyId, T0, T0 + 9)).toEqual(resumed);
  });

  it('resumes the pause that was seen, and no other one', async () => {
    const policyId = aPolicy();
    expect(await ledgerOf().resume(policyId, T0, T0 + 1)).toEqual({ kind: 'refused', control: NO_CONTROL });
    const { control: paused } = await ledgerOf().pause(policyId, aPause(T0));
    expect(await ledgerOf().resume(policyId, T0 - 1, T0 + 1)).toEqual({ kind: 'refused', control: paused });
    const resumed = { ...NO_CONTROL, pauses: [{ from: T0, until: T0 + 5 }], intake: 'to-enable' };
    expect(await ledgerOf().resume(policyId, T0, T0 + 5)).toEqual({ kind: 'moved', control: resumed });
    expect(await ledgerOf().readControl(policyId)).toEqual(resumed);
    const { control: again } = await ledgerOf().pause(policyId, aPause(T0 + 7));
    expect(await ledgerOf().resume(policyId, T0, T0 + 8)).toEqual({ kind: 'refused', control: again });
  });

  it('of those who pause at once one does, and of those who resume at once none undoes another', async () => {
    const policyId = aPolicy();
    const paused = await Promise.all(
      ['a', 'b', 'c'].map((id) => retried(() => ledgerOf().pause(policyId, aPause(T0, id)))),
    );
    expect(paused.filter(({ kind }) => kind === 'moved')).toHaveLength(1);
    await Promise.all([1, 2, 3].map((n) => retried(() => ledgerOf().resume(policyId, T0, T0 + n))));
    const { pause, pauses } = await ledgerOf().readControl(policyId);
    expect([pause, pauses.length, pauses[0]?.from]).toEqual([undefined, 1, T0]);
  });

  it('remembers the latest pauses, oldest first, and forgets those before', async () => {
    const policyId = aPolicy();
    const times = Array.from({ length: PAUSES_KEPT + 2 }, (_, n) => T0 + 10 * n);
    for (const at of times) {
      await ledgerOf().pause(policyId, aPause(at));
      await ledgerOf().resume(policyId, at, at + 3);
    }
    const { pauses } = await ledgerOf().readControl(policyId);
    expect(pauses).toEqual(times.slice(2).map((from) => ({ from, until: from + 3 })));
  });

  it('notes that the mapping has followed, but not where somebody wants it otherwise by now', async () => {
    const policyId = aPolicy();
    expect(await ledgerOf().settleIntake(policyId, 'to-disable')).toBe('moved-on');
    expect(await ledgerOf().readControl(policyId)).toEqual(NO_CONTROL);
    await ledgerOf().pause(policyId, aPause(T0));
    expect(await ledgerOf().settleIntake(policyId, 'to-enable')).toBe('moved-on');
    expect((await ledgerOf().readControl(policyId)).intake).toBe('to-disable');
    expect(await ledgerOf().settleIntake(policyId, 'to-disable')).toBe('settled');
    expect(await ledgerOf().readControl(policyId)).toEqual({ ...NO_CONTROL, pause: aPause(T0) });
    await ledgerOf().resume(policyId, T0, T0 + 1);
    expect(await ledgerOf().settleIntake(policyId, 'to-disable')).toBe('moved-on');
    expect((await ledgerOf().readControl(policyId)).intake).toBe('to-enable');
  });

  it('keeps what the versions mean and the trail through pause and resume', async () => {
    const policyId = aPolicy();
    await ledgerOf().claimVersion(policyId, 'v1', 'digest');
    await ledgerOf().appendAudit({ kind: 'policy', policyId }, anEntry(0));
    await ledgerOf().pause(policyId, aPause(T0));
    await ledgerOf().resume(policyId, T0, T0 + 1);
    expect(await ledgerOf().versionDigest(policyId, 'v1')).toBe('digest');
    expect((await ledgerOf().readControl(policyId)).auditHead).toEqual({ count: 1, hash: anEntry(0).hash });
    expect(await ledgerOf().appendAudit({ kind: 'policy', policyId }, anEntry(1))).toBe('appended');
  });

  it('reads what may stop a unit, whether or not there is a run or a control item', async () => {
    const { policyId, runId } = await storedRun(ledgerOf());
    expect(await ledgerOf().readStops(policyId, runId)).toEqual({ control: NO_CONTROL, runStatus: 'planning' });
    const { control } = await ledgerOf().pause(policyId, aPause(T0));
    await ledgerOf().moveRun(runId, 'cancel', undefined, { cancelledAt: T0 });
    expect(await ledgerOf().readStops(policyId, runId)).toEqual({ control, runStatus: 'cancelled' });
    expect(await ledgerOf().readStops(policyId, aRunId())).toEqual({ control, runStatus: undefined });
    expect(await ledgerOf().readStops(aPolicy(), aRunId())).toEqual({ control: NO_CONTROL, runStatus: undefined });
  });
}
