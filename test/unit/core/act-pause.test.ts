import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { PAUSES_KEPT } from '../../../lib/core/ledger/items.ts';
import { type Intake, PortError } from '../../../lib/core/ports/index.ts';
import { EMPTY_PASSES } from '../../../lib/core/reconcile/lost.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import { walk } from '../../helpers/walker.ts';
import {
  actedAtWork,
  ask,
  lettersOf,
  MINUTE_MILLIS,
  NAMED,
  onlyActs,
  statesOf,
  trailOf,
  untilDone,
  wellEnded,
} from './acts-stage.ts';
import { accounts, deploy, published, theRun, theUnit } from './stage.ts';

const RECORDS = 1_800;
const AFTER_MILLIS = [10_000, 12_500, 15_000, 17_500];

/** Three consumers, half a minute to a unit, and a person who pauses after so long. */
async function pausedAtWork(afterMillis: number, intake: 'follows' | 'broken') {
  const stage = await published(accounts(RECORDS), { batchSize: '200' }, { target: { recordsPerCall: 5 } });
  if (intake === 'broken') breakIntake(stage);
  return { stage, ...(await actedAtWork(stage, afterMillis, () => ask(stage, 'pause'))) };
}

function breakIntake({ intake }: Deployment): Intake['set'] {
  const { set } = intake;
  intake.set = async () => {
    throw new PortError('setIntake', { class: 'transient', error: 'TooManyRequestsException' });
  };
  return set;
}

/** A month in which only the reconciler's schedule goes on. */
async function aMonth(stage: Deployment): Promise<void> {
  for (let day = 0; day < 31; day += 1) {
    await deliverAll(stage);
    await wellEnded(stage.reconcile());
    stage.world.advance(DAY_MILLIS);
  }
}

describe('pause', () => {
  it.each(AFTER_MILLIS.flatMap((after) => [[after, 'follows'] as const, [after, 'broken'] as const]))(
    'after %i ms of work: no target call begins later than ten seconds after the act answered (mapping %s)',
    async (after, intake) => {
      const { stage, starts, answeredAt } = await pausedAtWork(after, intake);
      expect(starts.some((start) => start > answeredAt)).toBe(true);
      expect(Math.max(...starts)).toBeLessThanOrEqual(answeredAt + 10_000);
      expect(stage.records.writes.length).toBeLessThan(RECORDS / 2);
      const { units } = stage.ledger.contents();
      const stopped = units.filter(({ startedAt }) => startedAt !== undefined);
      expect(stopped).toHaveLength(3);
      for (const unit of stopped) {
        expect(unit).toMatchObject({ state: 'planned', attempts: 0, reason: 'paused' });
        expect(unit.counts?.expired).toBeGreaterThan(0);
      }
      expect(new Set(units.map(({ state }) => state))).toEqual(new Set(['planned']));
    },
  );

  it.each(['follows', 'broken'] as const)(
    'for a month, in which messages expire: the resumed run completes, no attempt spent, no dead letter (mapping %s)',
    async (intake) => {
      const { stage } = await pausedAtWork(20_000, intake);
      const done = stage.records.writes.length;
      const sent = stage.queue.sent.length;
      await aMonth(stage);
      expect(stage.records.writes).toHaveLength(done);
      expect(stage.queue.sent).toHaveLength(sent);
      expect(stage.queue.work.copies()).toEqual([]);
      stage.intake.set = async (state) => {
        stage.intake.state = state;
      };
      expect(await ask(stage, 'resume')).toMatchObject({ result: 'done', paused: null, intake: 'settled' });
      expect(stage.intake.state).toBe('on');
      await settle(stage);
      expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: RECORDS, remaining: 0 } });
      expect(stage.records.writes).toHaveLength(RECORDS);
      for (const unit of stage.ledger.contents().units) expect(unit).toMatchObject({ state: 'committed', attempts: 1 });
      expect([lettersOf(stage), stage.log.named('dead_letters_missing')]).toEqual([{}, []]);
    },
  );

  it('says by whom and why, is audited on the policy, and switches the mapping off', async () => {
    const stage = await published(accounts(3));
    const paused = { ...NAMED, since: new Date(stage.world.millis).toISOString(), requestId: expect.any(String) };
    const answer = await ask(stage, 'pause');
    expect(answer).toEqual({
      act: 'pause',
      policyId: 'accounts',
      result: 'done',
      paused,
      intake: 'settled',
      published: 0,
    });
    expect(stage.intake.state).toBe('off');
    expect((await ask(stage, 'list')).paused).toEqual(paused);
    expect((await trailOf(stage, 'policy')).entries).toMatchObject([{ act: 'pause', ...NAMED, units: [] }]);
  });

  it('takes no message for lost, however long both queues stand empty', async () => {
    const stage = await published(accounts(3));
    await ask(stage, 'pause');
    stage.queue.purge();
    for (let pass = 0; pass < 3 * EMPTY_PASSES; pass += 1) {
      expect(await wellEnded(stage.reconcile())).toMatchObject({ recovered: 0 });
      stage.world.advance(DAY_MILLIS);
    }
    await ask(stage, 'resume');
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });

  it('takes effect past items that somebody put into the trail, and the trail says so', async () => {
    const stage = await published(accounts(3));
    await ask(stage, 'pause');
    await ask(stage, 'resume');
    const scope = { kind: 'policy' as const, policyId: stage.settings.policyId };
    const { items } = await stage.ledger.auditTrail(scope, undefined);
    for (const entry of items) stage.ledger.plantAudit(scope, { ...entry, number: entry.number + 2 });
    expect(await ask(stage, 'pause')).toMatchObject({ act: 'pause', result: 'done', paused: NAMED });
    expect((await stage.ledger.readControl(scope.policyId)).pause).toMatchObject(NAMED);
    const { verified, head, faults } = await trailOf(stage, 'policy');
    expect([verified, head.count, faults.map(({ number }) => number)]).toEqual([
      false,
      5,
      expect.arrayContaining([2, 3]),
    ]);
    expect(stage.log.named('audit_foreign_entry')).toHaveLength(1);
  });

  it('takes effect where nothing can be appended, and says that it is not on the trail', async () => {
    const stage = await published(accounts(3));
    stage.ledger.appendAudit = async () => 'occupied';
    expect(await ask(stage, 'pause')).toMatchObject({ result: 'done', paused: NAMED });
    expect(stage.log.named('pause_not_audited')).toHaveLength(1);
    await expect(ask(stage, 'resume')).rejects.toThrow(/`sweep audit` names them/);
    expect((await stage.ledger.readControl(stage.settings.policyId)).pause).toMatchObject(NAMED);
  });

  it('of what is paused leaves the first pause and its reason, audits nothing more and sees to the mapping again', async () => {
    const stage = await published(accounts(3));
    const set = breakIntake(stage);
    const first = await ask(stage, 'pause');
    expect([first.intake, stage.intake.state]).toEqual(['pending', 'on']);
    stage.intake.set = set;
    stage.world.advance(MINUTE_MILLIS);
    expect(await ask(stage, 'pause', { reason: 'another' })).toMatchObject({ result: 'already', paused: first.paused });
    expect(stage.intake.state).toBe('off');
    expect((await trailOf(stage, 'policy')).entries).toHaveLength(1);
    expect(await ask(stage, 'resume')).toMatchObject({ result: 'done' });
    expect(await ask(stage, 'resume')).toMatchObject({ result: 'already', paused: null });
    expect((await trailOf(stage, 'policy')).entries.map(({ act }) => act)).toEqual(['pause', 'resume']);
  });

  it('where the mapping cannot be switched holds all the same, and the reconciler switches it later', async () => {
    const stage = await published(accounts(6));
    const set = breakIntake(stage);
    expect(await ask(stage, 'pause')).toMatchObject({ result: 'done', intake: 'pending' });
    await deliverAll(stage);
    expect(stage.records.writes).toEqual([]);
    expect(Object.values(statesOf(stage))).toEqual(['planned', 'planned']);
    await wellEnded(stage.reconcile());
    expect(stage.intake.state).toBe('on');
    stage.intake.set = set;
    await wellEnded(stage.reconcile());
    expect(stage.intake.state).toBe('off');
    breakIntake(stage);
    expect(await ask(stage, 'resume')).toMatchObject({ result: 'done', intake: 'pending' });
    stage.intake.set = set;
    await wellEnded(stage.reconcile());
    expect(stage.intake.state).toBe('on');
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 6 } });
  });

  it('sends nothing: no publisher, no dispatcher, no redrive; what they plan waits', async () => {
    const stage = deploy(accounts(9));
    await ask(stage, 'pause');
    expect(await wellEnded(stage.dispatch())).toMatchObject({ kind: 'paused' });
    const run = await theRun(stage);
    expect(run).toMatchObject({ status: 'publishing', plan: { batches: 3 } });
    stage.world.advance(DAY_MILLIS);
    expect(await wellEnded(stage.reconcile())).toMatchObject({ resumed: 0, published: 0, recovered: 0 });
    expect(stage.queue.sent).toEqual([]);
    await ask(stage, 'resume');
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 9 } });
  });

  it('lets a person redrive, whose messages leave once the policy goes on', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0000', { class: 'permanent', error: 'Denied' });
    await settle(stage);
    stage.target.healAll();
    await ask(stage, 'pause');
    expect(await ask(stage, 'redrive', { filter: { errorClass: 'Denied' } })).toMatchObject({ moved: 1, published: 0 });
    expect(stage.queue.sent).toHaveLength(1);
    expect(await ask(stage, 'resume')).toMatchObject({ published: 1 });
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });

  it('is nobody’s age: a unit over its cap only by the pause is worked on, one over it without is not', async () => {
    const stage = await published(accounts(6), { unitAgeHours: '24' });
    await stage.consume((await stage.receive()).slice(0, 1), { timeoutMillis: 1_500 });
    await ask(stage, 'pause');
    stage.world.advance(10 * DAY_MILLIS);
    await ask(stage, 'resume');
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 6 } });

    const late = await published(accounts(3), { unitAgeHours: '24' });
    await ask(late, 'pause');
    late.world.advance(DAY_MILLIS);
    await ask(late, 'resume');
    late.world.advance(DAY_MILLIS + 1);
    await settle(late);
    expect(await theUnit(late)).toMatchObject({ state: 'quarantined', reason: 'too_old' });
  });

  it('many times in turn spends no attempt and no age: as many pauses as the ledger remembers', async () => {
    const stage = await published(accounts(90));
    for (let turn = 0; turn < PAUSES_KEPT; turn += 1) {
      await ask(stage, 'pause');
      stage.intake.state = 'on';
      await stage.consume((await stage.receive()).slice(0, 1));
      stage.world.advance(DAY_MILLIS);
      await ask(stage, 'resume');
      await stage.consume((await stage.receive()).slice(0, 1));
    }
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 90 } });
    for (const unit of stage.ledger.contents().units) expect(unit.attempts).toBe(1);
  });

  it('and resume, killed at any call and asked for again, end as asked, with the mapping as it should be', {
    timeout: 120_000,
  }, async () => {
    const { calls, plays } = await walk(
      onlyActs<Deployment>({
        make: (interference) => deploy(accounts(9), {}, { interference }),
        play: async (stage) => {
          await stage.dispatch();
          await stage.consume((await stage.receive()).slice(0, 1));
          await untilDone(stage, { act: 'pause' });
          expect((await stage.ledger.readControl('accounts')).pause).toBeDefined();
          await wellEnded(stage.reconcile());
          expect(stage.intake.state).toBe('off');
          stage.intake.state = 'on';
          await deliverAll(stage);
          expect(stage.records.writes).toHaveLength(3);
          await untilDone(stage, { act: 'resume' });
          await settle(stage);
        },
        check: (stage) => {
          expect(stage.intake.state).toBe('on');
          const { runs, units } = stage.ledger.contents();
          expect(runs[0]).toMatchObject({ status: 'complete', closing: { processed: 9 } });
          expect(stage.records.writes).toHaveLength(9);
          for (const unit of units) expect(unit.attempts).toBe(1);
          expect(lettersOf(stage)).toEqual({});
        },
      }),
    );
    expect(plays).toBe(1 + 4 * calls.length);
    expect(calls.map(({ name }) => name)).toContain('intake.set');
  });
});
