import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { operationKey } from '../../../lib/core/identity/keys.ts';
import type { RunItem } from '../../../lib/core/ledger/items.ts';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import { PortError, type TargetCall } from '../../../lib/core/ports/index.ts';
import type { Deployment, DeploymentOptions } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { checkSound, watch } from '../../helpers/soundness.ts';
import { keyOfId, type Row, testSettings } from '../../model/index.ts';
import { account, accounts, altered, decide, deploy, receiveOne, SCHEDULED, theRun } from './stage.ts';

const GRACE_DAYS = 30;
/** Late enough that the grace of everything expired on the first day is over. */
const DELETION = SCHEDULED + (GRACE_DAYS + 1) * DAY_MILLIS;

function deleting(overrides: Partial<Record<SettingKey, string>> = {}) {
  const switched = { action: 'delete', allowDelete: 'yes', graceDays: String(GRACE_DAYS), policyVersion: 'v2' };
  return testSettings({ discoverySegments: '1', ...switched, ...overrides });
}

async function run(stage: Deployment, scheduledTime: number): Promise<RunItem> {
  stage.world.advance(Math.max(0, scheduledTime - stage.world.millis));
  await stage.dispatch(scheduledTime);
  await settle(stage);
  return theRun(stage, stage.runIdAt(scheduledTime));
}

/** Everything is expired by a run of the first day; deletion is switched on then. */
async function expired(rows: readonly Row[], options: Partial<Omit<DeploymentOptions, 'rows' | 'settings'>> = {}) {
  const stage = deploy(rows, {}, options);
  const seen = watch(stage);
  await run(stage, SCHEDULED);
  stage.settings = deleting();
  return { stage, sound: () => checkSound(stage, seen) };
}

function idsPlannedBy(stage: Deployment, runId: string): readonly string[] {
  const slices = stage.ledger.contents().slices.filter((slice) => slice.runId === runId);
  return slices.flatMap((slice) => slice.entries.map((entry) => JSON.parse(entry.key)[0].slice(1)));
}

describe('a deletion', () => {
  it('removes what an earlier run expired once the grace is over, and the proof holds', async () => {
    const { stage, sound } = await expired([
      ...accounts(7),
      account('new', { lastActivity: '2025-12-01T00:00:00.000Z' }),
    ]);
    const deletion = await run(stage, DELETION);
    expect(deletion).toMatchObject({ kind: 'delete', status: 'complete', cutoff: DELETION - GRACE_DAYS * DAY_MILLIS });
    expect(deletion.closing).toMatchObject({ outcomes: { deleted: 7 }, processed: 7, skipped: 0, remaining: 0 });
    expect(stage.records.rows().map((row) => row.id)).toEqual(['new']);
    sound();
  });

  it('P26: an expiry exactly at the cutoff is kept, one a millisecond older goes', async () => {
    const { stage } = await expired(accounts(2));
    const at = stage.records.writes[0]?.at ?? 0;
    expect(stage.records.writes.map((write) => write.at)).toEqual([at, at]);
    const [kept, gone] = [at + GRACE_DAYS * DAY_MILLIS, at + GRACE_DAYS * DAY_MILLIS + 1000];
    expect((await run(stage, kept)).plan).toMatchObject({ discovered: 0, records: 0, examined: 2 });
    expect((await run(stage, gone)).plan).toMatchObject({ discovered: 2, records: 2 });
    expect(stage.records.rows()).toEqual([]);
  });

  it('P73: plans nothing that was not expired by a run of this policy', async () => {
    const { stage, sound } = await expired([
      ...accounts(2),
      ...['by-hand', 'no-key', 'foreign', 'copied'].map((id) => account(id, { status: 'CLOSED' })),
    ]);
    const { operationKeyAttribute } = stage.settings;
    const first = await theRun(stage, 'accounts.v1.20260101T000000Z');
    const keyOf = (policyId: string, id: string) =>
      operationKey({ policyId, policyVersion: 'v1', recordKey: keyOfId(id), cutoff: first.cutoff, kind: 'expire' });
    const at = new Date(SCHEDULED).toISOString();
    stage.records.expireByHand('by-hand', at, { [operationKeyAttribute]: 'by hand' });
    stage.records.expireByHand('no-key', at);
    stage.records.expireByHand('foreign', at, { [operationKeyAttribute]: keyOf('other-policy', 'foreign') });
    stage.records.expireByHand('copied', at, { [operationKeyAttribute]: keyOf('accounts', 'a0000') });
    const deletion = await run(stage, DELETION);
    expect(idsPlannedBy(stage, deletion.runId)).toEqual(['a0000', 'a0001']);
    expect(deletion.plan).toMatchObject({ examined: 6, discovered: 2, held: 0 });
    expect(stage.records.rows().map((row) => row.id)).toEqual(['by-hand', 'copied', 'foreign', 'no-key']);
    sound();
  });

  it('P73: nor a record that carries our key and a time of expiry at which no run of ours was at work', async () => {
    const { stage } = await expired(accounts(2));
    const row = stage.records.row('a0000') ?? {};
    stage.records.put({ ...row, expiredAt: '2024-06-01T00:00:00.000Z' });
    expect(idsPlannedBy(stage, (await run(stage, DELETION)).runId)).toEqual(['a0001']);
  });

  it('finds what runs of several versions and days have expired', async () => {
    const stage = deploy(accounts(2));
    await run(stage, SCHEDULED);
    stage.records.put(account('b'));
    stage.settings = testSettings({ policyVersion: 'v1b', retentionDays: '300' });
    await run(stage, SCHEDULED + DAY_MILLIS);
    stage.settings = deleting();
    const deletion = await run(stage, DELETION + DAY_MILLIS);
    expect(idsPlannedBy(stage, deletion.runId)).toEqual(['a0000', 'a0001', 'b']);
  });

  it('P57: what is held at discovery is counted and not planned; what an index of keys does not show is kept by the write', async () => {
    const plain = await expired(accounts(2));
    plain.stage.records.hold('a0000');
    expect((await run(plain.stage, DELETION)).plan).toMatchObject({ discovered: 2, held: 1, records: 1 });
    const blind = await expired(accounts(2), { source: { projection: 'keys-only' } });
    blind.stage.records.hold('a0000');
    expect((await run(blind.stage, DELETION)).closing?.outcomes).toEqual({ deleted: 1, held: 1 });
    for (const { stage } of [plain, blind]) expect(stage.records.rows().map((row) => row.id)).toEqual(['a0000']);
  });

  it('in report-only counts what it would remove and removes nothing', async () => {
    const { stage } = await expired(accounts(3));
    const before = stage.records.rows();
    stage.settings = deleting({ mode: 'report-only' });
    expect(await run(stage, DELETION)).toMatchObject({ status: 'reported', plan: { records: 3 } });
    expect(stage.records.rows()).toEqual(before);
  });

  it('P14: refuses where times of expiry cannot be read', async () => {
    const { stage } = await expired(accounts(3));
    stage.records.expireByHand('a0000', '1767225600');
    expect(await run(stage, DELETION)).toMatchObject({
      status: 'refused',
      refusals: [{ parameter: 'TimestampFormat' }],
    });
    expect(stage.records.rows()).toHaveLength(3);
  });
});

describe('between the plan of a deletion and its write', () => {
  type Change = (stage: Deployment) => void;

  const CHANGES: readonly (readonly [what: string, outcome: string, Change])[] = [
    ['P57: is held', 'held', ({ records }) => records.hold('a')],
    ['P50: is removed by somebody else', 'absent', ({ records }) => records.remove('a')],
    ['comes back to life', 'state_changed', ({ records }) => records.reactivate('a')],
    ['is set back by support', 'state_changed', ({ records }) => records.restore('a')],
    ['is made again under the same key', 'state_changed', ({ records }) => records.recreate('a')],
    ['expires anew by hand', 'state_changed', ({ records }) => records.expireByHand('a', '2026-01-20T00:00:00.000Z')],
    [
      'is claimed by another operation',
      'state_changed',
      ({ records }) => records.expireByHand('a', String(records.row('a')?.expiredAt), { sweepOperationKey: 'another' }),
    ],
  ];

  it.each(CHANGES)('a record that %s is %s', async (_what, outcome, change) => {
    const { stage, sound } = await expired([account('a'), account('b')]);
    stage.world.advance(DELETION - stage.world.millis);
    await stage.dispatch(DELETION);
    change(stage);
    const before = stage.records.row('a');
    await settle(stage);
    const deletion = await theRun(stage, stage.runIdAt(DELETION));
    expect(deletion).toMatchObject({ status: 'complete', closing: { processed: 1, skipped: 1 } });
    expect(deletion.closing?.outcomes).toEqual({ deleted: 1, [outcome]: 1 });
    expect(stage.records.row('a')).toEqual(before);
    expect(stage.records.row('b')).toBeUndefined();
    sound();
  });

  it('a record made again that our next run has expired waits for a grace of its own', async () => {
    const { stage, sound } = await expired([account('a')]);
    const expiring = testSettings({ policyVersion: 'v3' });
    stage.records.recreate('a');
    stage.settings = expiring;
    await run(stage, DELETION + 400 * DAY_MILLIS);
    expect(stage.records.row('a')?.status).toBe('EXPIRED');
    stage.settings = deleting();
    const soon = DELETION + 401 * DAY_MILLIS;
    expect((await run(stage, soon)).plan).toMatchObject({ examined: 1, records: 0 });
    expect((await run(stage, soon + GRACE_DAYS * DAY_MILLIS)).closing?.outcomes).toEqual({ deleted: 1 });
    sound();
  });
});

describe('a deletion that finds nothing', () => {
  async function dispatchedDeletion() {
    const made = await expired([account('a')]);
    made.stage.world.advance(DELETION - made.stage.world.millis);
    await made.stage.dispatch(DELETION);
    return made;
  }

  async function outcomesOf(stage: Deployment) {
    await settle(stage);
    return (await theRun(stage, stage.runIdAt(DELETION))).closing?.outcomes;
  }

  it('on its first try says absent: somebody else removed it', async () => {
    const { stage } = await dispatchedDeletion();
    stage.records.remove('a');
    expect(await outcomesOf(stage)).toEqual({ absent: 1 });
  });

  it('P47: after a try of the same delivery whose answer was lost says gone, and counts it as processed', async () => {
    const { stage, sound } = await dispatchedDeletion();
    let calls = 0;
    const apply = async (call: TargetCall) => {
      calls += 1;
      const results = await stage.target.apply(call);
      if (calls === 1) throw new PortError('apply', { class: 'transient', error: 'TimeoutError' });
      return results;
    };
    await decide(stage, [await receiveOne(stage)], { target: altered(stage.target, { apply }) });
    expect(await outcomesOf(stage)).toEqual({ gone: 1 });
    expect(await theRun(stage, stage.runIdAt(DELETION))).toMatchObject({ closing: { processed: 1, skipped: 0 } });
    sound();
  });

  it('P47: in the next delivery after one that died says gone', async () => {
    const { stage, sound } = await dispatchedDeletion();
    stage.crew.interference = {
      fate: ({ name }, moment) => (name === 'target.apply' && moment === 'after' ? 'crash' : 'go'),
    };
    expect(await stage.consume(await stage.receive())).toMatchObject({ kind: 'crashed' });
    expect(stage.records.row('a')).toBeUndefined();
    stage.crew.interference = { fate: () => 'go' };
    expect(await outcomesOf(stage)).toEqual({ gone: 1 });
    sound();
  });

  it('after a try that was answered as failed, with the record still there, removes it: deleted', async () => {
    const { stage } = await dispatchedDeletion();
    stage.target.poison('a', { class: 'transient', error: 'ThrottlingError' });
    await stage.consume(await stage.receive());
    stage.target.heal('a');
    expect(await outcomesOf(stage)).toEqual({ deleted: 1 });
  });

  it('after a redrive says gone: an earlier generation may have removed it', async () => {
    const { stage } = await dispatchedDeletion();
    stage.target.poison('a', { class: 'permanent', error: 'AccessDenied' });
    await settle(stage);
    stage.target.heal('a');
    stage.records.remove('a');
    stage.world.advance(5 * 60_000);
    await stage.redrive();
    expect(await outcomesOf(stage)).toEqual({ gone: 1 });
  });

  it('an expiry never says gone: a record that is not there was removed by somebody else', async () => {
    const stage = deploy([account('a')]);
    await stage.dispatch();
    stage.target.poison('a', { class: 'transient', error: 'ThrottlingError' });
    await stage.consume(await stage.receive());
    stage.target.heal('a');
    stage.records.remove('a');
    await settle(stage);
    expect((await theRun(stage)).closing?.outcomes).toEqual({ absent: 1 });
  });
});
