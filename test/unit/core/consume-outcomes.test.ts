import { describe, expect, it } from 'vitest';
import { keysDigest } from '../../../lib/core/identity/digests.ts';
import { PortError, type TargetCall } from '../../../lib/core/ports/index.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { keyOfId } from '../../model/index.ts';
import {
  account,
  accounts,
  altered,
  decide,
  deploy,
  expiredIds,
  published,
  receiveOne,
  resent,
  theRun,
  theUnit,
} from './stage.ts';

const COMMITTED = { kind: 'acknowledge', why: 'committed' };

/** The target, with something happening between the consumer's read of the ledger and the write. */
function targetAfter(stage: Deployment, meanwhile: () => void) {
  return altered(stage.target, {
    apply: (call: TargetCall) => {
      meanwhile();
      return stage.target.apply(call);
    },
  });
}

async function outcomesOf(stage: Deployment) {
  await settle(stage);
  const { status, plan, closing } = await theRun(stage);
  return { status, held: plan?.held, planned: plan?.records, outcomes: closing?.outcomes };
}

describe('what becomes of a record', () => {
  it('reactivated, held, removed or closed between plan and write: skipped by its reason, and nothing is written', async () => {
    const stage = await published(accounts(6), { batchSize: '6' });
    stage.records.reactivate('a0001');
    stage.records.hold('a0002');
    stage.records.remove('a0003');
    stage.records.close('a0004');
    const before = stage.records.rows();
    expect(await decide(stage, [await receiveOne(stage)])).toEqual([COMMITTED]);
    expect(await theUnit(stage)).toMatchObject({
      state: 'committed',
      counts: { expired: 2, state_changed: 2, held: 1, absent: 1 },
      keysDigest: keysDigest(accounts(6).map((row) => keyOfId(String(row.id)))),
    });
    expect((await theUnit(stage)).exceptions).toEqual({ state_changed: [1, 4], held: [2], absent: [3] });
    expect(expiredIds(stage)).toEqual(['a0000', 'a0005']);
    const untouched = stage.records.rows().filter((row) => row.status !== 'EXPIRED');
    expect(untouched).toEqual(before.filter((row) => !['a0000', 'a0005'].includes(String(row.id))));
  });

  it('that was not asked for is not counted, whatever the target says of it', async () => {
    const stage = await published(accounts(3));
    const apply = async (call: TargetCall) => [
      ...(await stage.target.apply(call)),
      { kind: 'outcome', key: 'of another batch', outcome: 'expired', applied: 'now' } as const,
    ];
    expect(await decide(stage, [await receiveOne(stage)], { target: altered(stage.target, { apply }) })).toEqual([
      COMMITTED,
    ]);
    expect((await theUnit(stage)).counts).toEqual({ expired: 3 });
    expect(await outcomesOf(stage)).toMatchObject({ status: 'complete', outcomes: { expired: 3 } });
  });

  it('P50: a record removed after dispatch is absent, and is not brought back as a shell', async () => {
    const stage = await published(accounts(3));
    for (const row of accounts(3)) stage.records.remove(String(row.id));
    expect(await outcomesOf(stage)).toMatchObject({ status: 'complete', outcomes: { absent: 3 } });
    expect(stage.records.rows()).toEqual([]);
  });

  it('P50: a record removed and made again under the same key is another record', async () => {
    const stage = await published(accounts(1));
    const again = account('a0000', { lastActivity: '2020-01-01T00:00:00Z', name: 'new' });
    stage.records.remove('a0000');
    stage.records.put(again);
    expect(await outcomesOf(stage)).toMatchObject({ outcomes: { state_changed: 1 } });
    expect(stage.records.row('a0000')).toEqual(again);
  });

  it('P55: a write whose answer was lost is found by its own key in the next try, and counts as expired', async () => {
    const stage = await published(accounts(3), { batchSize: '3' }, { target: { recordsPerCall: 3 } });
    let calls = 0;
    const apply = async (call: TargetCall) => {
      calls += 1;
      const results = await stage.target.apply(call);
      if (calls === 1) throw new PortError('apply', { class: 'transient', error: 'TimeoutError' });
      return results;
    };
    const target = altered(stage.target, { apply });
    expect(await decide(stage, [await receiveOne(stage)], { target })).toEqual([COMMITTED]);
    expect(calls).toBe(2);
    expect(await theUnit(stage)).toMatchObject({ counts: { expired: 3 }, exceptions: {} });
    expect(stage.records.writes).toHaveLength(3);
  });

  it('P55: also where every answer of a delivery was lost, and another process has the next', async () => {
    const stage = await published(accounts(3), {}, { target: { entryAnswerLost: 1 } });
    const delivery = await receiveOne(stage);
    expect(await decide(stage, [delivery])).toMatchObject([{ kind: 'retry', why: 'records_failed' }]);
    expect(stage.records.writes).toHaveLength(3);
    stage.target.calm();
    expect(await decide(stage, [resent(delivery)])).toEqual([COMMITTED]);
    expect(await theUnit(stage)).toMatchObject({ counts: { expired: 3 }, attempts: 2 });
    expect(stage.records.writes).toHaveLength(3);
  });

  it('P55: our key in a record proves our write, also where support set the state back; it is not expired twice', async () => {
    const stage = await published(accounts(2), {}, { target: { entryAnswerLost: 1 } });
    const delivery = await receiveOne(stage);
    await decide(stage, [delivery]);
    stage.target.calm();
    stage.records.restore('a0000');
    expect(await decide(stage, [resent(delivery)])).toEqual([COMMITTED]);
    expect(await theUnit(stage)).toMatchObject({ counts: { expired: 2 } });
    expect(expiredIds(stage)).toEqual(['a0001']);
    expect(stage.records.writes).toHaveLength(2);
  });
});

describe('a hold', () => {
  const HELD = [true, 'legal', 'false', ' ', 0, 1, [], {}, ['case-1'], { case: 1 }];
  const FREE = [undefined, null, false, ''];

  it.each(FREE)('P57: of %j holds nothing', async (hold) => {
    expect(await outcomesOf(await published([account('a', { hold })]))).toMatchObject({ outcomes: { expired: 1 } });
  });

  it.each(HELD)(
    'P57: of %j, set before selection, keeps the record out of the plan and in the counts',
    async (hold) => {
      const stage = await published([account('a', { hold }), account('b')]);
      expect(await outcomesOf(stage)).toEqual({ status: 'complete', held: 1, planned: 1, outcomes: { expired: 1 } });
      expect(expiredIds(stage)).toEqual(['b']);
    },
  );

  it.each(HELD)('P57: of %j, set after publish, keeps the record', async (hold) => {
    const stage = await published(accounts(2));
    stage.records.put(account('a0001', { hold }));
    expect(await outcomesOf(stage)).toMatchObject({ status: 'complete', outcomes: { expired: 1, held: 1 } });
    expect(expiredIds(stage)).toEqual(['a0000']);
  });

  it('P57: set between the consumer’s read and its write keeps the record', async () => {
    const stage = await published(accounts(2));
    const target = targetAfter(stage, () => stage.records.hold('a0001'));
    expect(await decide(stage, [await receiveOne(stage)], { target })).toEqual([COMMITTED]);
    expect(await theUnit(stage)).toMatchObject({ counts: { expired: 1, held: 1 } });
  });

  it('P57: set while the batch lies in the dead-letter queue keeps the record when it is redriven', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0001', { class: 'permanent', error: 'ItemCollectionSizeLimitExceeded' });
    await settle(stage);
    expect((await theRun(stage)).status).toBe('complete_with_quarantine');
    stage.target.heal('a0001');
    stage.records.hold('a0001');
    await stage.redrive();
    expect(await outcomesOf(stage)).toMatchObject({ status: 'complete', outcomes: { expired: 2, held: 1 } });
    expect(expiredIds(stage)).toEqual(['a0000', 'a0002']);
  });

  it('P57: any one of several hold attributes holds', async () => {
    const rows = [account('a', { dispute: 'open' }), account('b', { hold: true }), account('c', { dispute: '' })];
    const stage = deploy(rows, { holdAttributes: 'hold,dispute' });
    await stage.dispatch();
    stage.records.put(account('c', { dispute: 'late' }));
    expect(await outcomesOf(stage)).toEqual({ status: 'complete', held: 2, planned: 1, outcomes: { held: 1 } });
    expect(stage.records.writes).toHaveLength(0);
  });

  it('P57: set and released again before the write holds nothing', async () => {
    const stage = await published(accounts(1));
    stage.records.hold('a0000');
    stage.records.release('a0000');
    expect(await outcomesOf(stage)).toMatchObject({ outcomes: { expired: 1 } });
  });
});
