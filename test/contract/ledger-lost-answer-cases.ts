import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import type { DynamoLedger } from '../../lib/aws/ledger/ledger.ts';
import { aPause } from './ledger-control-cases.ts';
import { ledgerOn } from './ledger-dynamo.ts';
import { allOf, anEntry, aRunId, aSlice, aTenant, PLAN, runScope, start, storedRun, T0 } from './ledger-samples.ts';
import { aChild } from './ledger-split-cases.ts';

/** What a ledger on a table must do where a write took effect and its answer was lost. */
export function lostAnswerCases(
  ledgerOf: () => DynamoLedger,
  makeClient: () => DynamoDBClient,
  tableOf: () => string,
): void {
  /** A ledger whose every write takes effect, loses its answer once, and is sent again by the SDK. */
  const forgetful = () => {
    const client = makeClient();
    const lost = { count: 0 };
    client.middlewareStack.add(
      (next, context) => {
        let answers = 0;
        return async (args) => {
          const answer = await next(args);
          answers += 1;
          if (answers > 1 || !/Put|Update|Transact/.test(context.commandName ?? '')) return answer;
          lost.count += 1;
          throw Object.assign(new Error('the answer was lost'), { code: 'ECONNRESET' });
        };
      },
      { step: 'finalizeRequest', priority: 'low', name: 'losesAnswers' },
    );
    return { ledger: ledgerOn(client, tableOf()), lost };
  };

  it('P55: knows its own lease, move and fenced puts again', async () => {
    const run = await storedRun(ledgerOf());
    const { ledger, lost } = forgetful();
    const taken = await ledger.takeLease(run.runId, run.lease, 'me', T0, T0 + 60_000);
    expect(taken).toMatchObject({ kind: 'moved', run: { lease: { owner: 'me', epoch: 1 } } });
    expect(await ledger.putSlice(aSlice(run.runId, 0, 1))).toBe('written');
    expect(await ledger.putTenant(aTenant(run.runId, 'acme', 1))).toBe('written');
    const frozen = await ledger.moveRun(run.runId, 'freeze', 1, { plan: PLAN, frozenAt: T0 });
    expect(frozen).toMatchObject({ kind: 'moved', run: { status: 'publishing', plan: PLAN } });
    const drained = await ledger.moveRun(run.runId, 'drain', 1, { publishedAt: T0, leaseUntil: 0 });
    expect(drained).toMatchObject({ kind: 'moved', run: { status: 'draining' } });
    expect(await ledger.claimVersion(run.policyId, 'v1', 'digest')).toBe('claimed');
    expect(lost.count).toBe(6);
  });

  it('P55: does not take another’s lease or move for its own', async () => {
    const run = await storedRun(ledgerOf());
    await ledgerOf().takeLease(run.runId, run.lease, 'other', T0, T0 + 60_000);
    const { ledger } = forgetful();
    expect((await ledger.takeLease(run.runId, run.lease, 'me', T0, T0 + 60_000)).kind).toBe('refused');
    await ledgerOf().moveRun(run.runId, 'freeze', 1, { plan: PLAN, frozenAt: T0 });
    expect((await ledger.moveRun(run.runId, 'freeze', 1, { plan: PLAN, frozenAt: T0 + 1 })).kind).toBe('refused');
  });

  it('P55: counts its own attempt once and knows its own commit again', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    const { ledger, lost } = forgetful();
    expect(await start(ledger, ref, 0)).toMatchObject({ kind: 'moved', unit: { attempts: 1 } });
    const change = { since: T0 + 1, finishedAt: T0 + 1, counts: { expired: 3 }, keysDigest: 'k' };
    const committed = await ledger.moveUnit(ref, 'commit', { generation: 0 }, change);
    expect(committed).toMatchObject({ kind: 'moved', unit: { state: 'committed', attempts: 1 } });
    expect(lost.count).toBe(2);
  });

  it('P55: a delivery is not told that another one’s start was its own', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await start(ledgerOf(), ref, 0, 'other');
    expect((await start(forgetful().ledger, ref, 0, 'mine')).kind).toBe('refused');
  });

  it('P55: knows its own split, copy, release and abandonment again', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    const child = { runId: ref.runId, unit: '0.2' };
    const { ledger, lost } = forgetful();
    await start(ledgerOf(), ref, 0);
    const release = { since: T0 + 1, attempts: 0, errorClass: 'ThrottlingError' };
    expect((await ledger.moveUnit(ref, 'release', { generation: 0, attempts: 1 }, release)).kind).toBe('moved');
    await start(ledgerOf(), ref, 0);
    const change = { since: T0 + 2, finishedAt: T0 + 2, counts: { expired: 2 }, keysDigest: 'k', split: [2] };
    const split = await ledger.splitUnit(ref, { generation: 0, attempts: 1 }, change, [aChild('0.2')]);
    expect(split).toMatchObject({ kind: 'moved', unit: { state: 'committed', split: [2] } });
    const copy = { since: T0 + 7, copiedAt: T0 + 9, copiedGeneration: 0 };
    expect((await ledger.moveUnit(child, 'copy', { generation: 0 }, copy)).kind).toBe('moved');
    expect((await ledger.moveUnit(child, 'abandon', { generation: 0 }, { since: T0 + 11 })).kind).toBe('moved');
    expect(lost.count).toBe(4);
  });

  it('P55: does not take another’s split for its own', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await start(ledgerOf(), ref, 0);
    const change = { since: T0 + 2, finishedAt: T0 + 2, keysDigest: 'k', split: [2] };
    await ledgerOf().splitUnit(ref, { generation: 0 }, change, [aChild('0.2')]);
    const other = { ...change, since: T0 + 3 };
    expect((await forgetful().ledger.splitUnit(ref, { generation: 0 }, other, [aChild('0.2')])).kind).toBe('refused');
  });

  it('P55: pauses and resumes once, and knows that it was itself', async () => {
    const { policyId } = await storedRun(ledgerOf());
    const { ledger, lost } = forgetful();
    expect(await ledger.pause(policyId, aPause(T0))).toMatchObject({ kind: 'moved', control: { pause: aPause(T0) } });
    const resumed = await ledger.resume(policyId, T0, T0 + 5);
    expect(resumed).toMatchObject({ kind: 'moved', control: { pauses: [{ from: T0, until: T0 + 5 }] } });
    expect(await ledgerOf().readControl(policyId)).toEqual(resumed.control);
    await ledger.settleIntake(policyId, 'to-enable');
    expect((await ledgerOf().readControl(policyId)).intake).toBeUndefined();
    expect(lost.count).toBe(3);
  });

  it('P55: appends an audit entry once, and creates a run that it then joins or made', async () => {
    const { ledger, lost } = forgetful();
    const run = await storedRun(ledger);
    expect(await ledgerOf().readRun(run.runId)).toEqual(run);
    expect(await ledger.appendAudit(runScope(run.runId), anEntry(0))).toBe('appended');
    expect(await allOf((cursor) => ledger.auditTrail(runScope(run.runId), cursor))).toEqual([anEntry(0)]);
    expect(lost.count).toBe(2);
  });
}
