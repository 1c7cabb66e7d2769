import { describe, expect, it } from 'vitest';
import type { RunItem } from '../../../lib/core/ledger/items.ts';
import { isTerminalUnit } from '../../../lib/core/ledger/lifecycle.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { NO_INTERFERENCE } from '../../helpers/process.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import { walk } from '../../helpers/walker.ts';
import { testSettings } from '../../model/index.ts';
import {
  actedAtWork,
  ask,
  lettersOf,
  MINUTE_MILLIS,
  NAMED,
  onlyActs,
  poisonBatch,
  refusalOf,
  statesOf,
  trailOf,
  untilDone,
  wellEnded,
} from './acts-stage.ts';
import { accounts, deploy, published, theRun, theUnit } from './stage.ts';

const RECORDS = 2_400;

/** Passes of the reconciler until what was under way is over. */
async function settled(stage: Deployment): Promise<RunItem> {
  for (let pass = 0; pass < 5; pass += 1) {
    await deliverAll(stage);
    await wellEnded(stage.reconcile());
    stage.world.advance(5 * MINUTE_MILLIS);
  }
  return theRun(stage);
}

function checkCounts({ plan, closing }: RunItem, writes: number): void {
  const { processed = -1, skipped = -1, remaining = -1 } = closing ?? {};
  expect(processed + skipped + remaining).toBe(plan?.records);
  expect(processed).toBe(writes);
}

/** Two units wait in the ledger; the act died when the run was cancelled. */
async function killedBeforeClosing(): Promise<Deployment> {
  const stage = await published(accounts(6));
  await ask(stage, 'pause');
  stage.intake.state = 'on';
  await deliverAll(stage);
  await ask(stage, 'resume', {}, { timeoutMillis: 1_000 });
  stage.crew.interference = {
    fate: ({ name }, moment) => (name === 'ledger.moveRun' && moment === 'after' ? 'crash' : 'go'),
  };
  expect(await stage.act({ act: 'cancel', ...NAMED, run: stage.runId })).toMatchObject({ kind: 'crashed' });
  stage.crew.interference = NO_INTERFERENCE;
  expect(statesOf(stage)).toEqual({ 0: 'planned', 1: 'planned' });
  return stage;
}

describe('cancelling a run', () => {
  it.each([10_000, 12_500, 15_000, 40_000])(
    'after %i ms of work: what is finished stays, what is under way stops within ten seconds, nothing else begins',
    async (after) => {
      const stage = await published(accounts(RECORDS), { batchSize: '200' }, { target: { recordsPerCall: 5 } });
      const cancelled = () => ask(stage, 'cancel', { run: stage.runId });
      const { starts, answeredAt } = await actedAtWork(stage, after, cancelled);
      expect(starts.some((start) => start > answeredAt)).toBe(true);
      expect(Math.max(...starts)).toBeLessThanOrEqual(answeredAt + 10_000);
      const states = Object.values(statesOf(stage));
      expect(states.filter((state) => state === 'committed')).toHaveLength(after > 30_000 ? 3 : 0);
      const stopped = stage.ledger.contents().units.filter(({ reason }) => reason === 'cancelled_after_start');
      expect(stopped).toHaveLength(3);
      for (const unit of stopped) expect(unit.counts?.expired).toBeGreaterThan(0);
      const writes = stage.records.writes.length;
      const run = await settled(stage);
      expect(run).toMatchObject({ status: 'cancelled', closing: { remaining: 0, abandoned: 0 } });
      checkCounts(run, writes);
      expect(run.closing?.cancelled).toBe(RECORDS - writes);
      expect(stage.ledger.contents().units.every(({ state }) => isTerminalUnit(state))).toBe(true);
      expect(stage.records.writes).toHaveLength(writes);
      expect([lettersOf(stage), stage.queue.work.copies()]).toEqual([{}, []]);
    },
  );

  it('closes at once the units whose items wait, is audited on the run and says so', async () => {
    const stage = await published(accounts(9));
    await ask(stage, 'pause');
    stage.intake.state = 'on';
    await deliverAll(stage);
    expect(Object.values(statesOf(stage))).toEqual(['planned', 'planned', 'planned']);
    expect(await ask(stage, 'cancel', { run: stage.runId })).toEqual({
      ...{ act: 'cancel', runId: stage.runId, result: 'done', closedUnits: 3 },
    });
    expect(statesOf(stage)).toEqual({ 0: 'cancelled', 1: 'cancelled', 2: 'cancelled' });
    expect((await trailOf(stage)).entries).toMatchObject([{ act: 'cancel', ...NAMED, units: [] }]);
    expect(stage.log.named('run_cancelled')).toHaveLength(1);
    await ask(stage, 'resume');
    const run = await settled(stage);
    expect(run).toMatchObject({ closing: { processed: 0, skipped: 9, cancelled: 9, remaining: 0 } });
    expect(stage.queue.sent).toHaveLength(3);
  });

  it('writes its totals only when nothing of it can be under way any more, and then never again', async () => {
    const stage = await published(accounts(9));
    await stage.consume((await stage.receive()).slice(0, 1));
    await ask(stage, 'cancel', { run: stage.runId });
    for (let minute = 0; minute < 14; minute += 1) {
      await wellEnded(stage.reconcile());
      expect((await theRun(stage)).closing).toBeUndefined();
      stage.world.advance(MINUTE_MILLIS);
    }
    const run = await settled(stage);
    expect(run).toMatchObject({ closing: { processed: 3, skipped: 6, cancelled: 6, remaining: 0 } });
    expect(await settled(stage)).toEqual(run);
  });

  it('leaves what waits for a person to be given up: counted as remaining, and no redrive brings it back', async () => {
    const stage = await published(accounts(9));
    poisonBatch(stage, 1);
    for (let round = 0; round < 10; round += 1) {
      const deliveries = await stage.queue.receive(10);
      await stage.consume(deliveries.filter(({ body }) => JSON.parse(body).unit === '1'));
      stage.world.advance(5 * MINUTE_MILLIS);
    }
    expect(statesOf(stage)).toEqual({ 1: 'quarantined' });
    await ask(stage, 'cancel', { run: stage.runId });
    const run = await settled(stage);
    expect(run).toMatchObject({ closing: { processed: 0, skipped: 6, cancelled: 6, remaining: 3 } });
    expect(await ask(stage, 'redrive', { all: true })).toMatchObject({ moved: 0, leftOut: { cancelledRun: 1 } });
    expect(await ask(stage, 'abandon', { all: true })).toMatchObject({ moved: 1, deleted: 1 });
    expect(stage.records.writes).toEqual([]);
  });

  it('while it is published or planned sends nothing more of it', async () => {
    const stage = deploy(accounts(90), {}, { ledger: { paging: { size: 3, emptyPages: 'none' } } });
    let sends = 0;
    stage.crew.interference = {
      fate: ({ name }, moment) => {
        if (name === 'queue.send' && moment === 'before') sends += 1;
        return name === 'queue.send' && sends > 3 ? 'crash' : 'go';
      },
    };
    await stage.dispatch();
    stage.crew.interference = NO_INTERFERENCE;
    expect((await theRun(stage)).status).toBe('publishing');
    const sent = stage.queue.sent.length;
    expect(await ask(stage, 'cancel', { run: stage.runId })).toMatchObject({ result: 'done' });
    stage.world.advance(60 * MINUTE_MILLIS);
    await stage.dispatch();
    await settled(stage);
    expect(stage.queue.sent).toHaveLength(sent);
    expect(stage.records.writes).toEqual([]);
    expect(await theRun(stage)).toMatchObject({
      status: 'cancelled',
      closing: { processed: 0, cancelled: 90, remaining: 0 },
    });

    const early = deploy(accounts(90));
    await early.dispatch(undefined, { looksAtDeadline: 2 });
    expect((await theRun(early)).status).toBe('planning');
    await ask(early, 'cancel', { run: early.runId });
    early.world.advance(60 * MINUTE_MILLIS);
    await early.dispatch();
    await settled(early);
    expect([await theRun(early), early.queue.sent]).toMatchObject([{ status: 'cancelled' }, []]);
  });

  it('is refused where the run is not under way, with a sentence that says what it is, and then nothing is done', async () => {
    const complete = await published(accounts(3));
    await settle(complete);
    const reported = deploy(accounts(3), { mode: 'report-only' });
    await reported.dispatch();
    for (const [stage, status] of [
      [complete, 'complete'],
      [reported, 'reported'],
    ] as const) {
      const before = stage.ledger.contents();
      const refusal = await refusalOf(ask(stage, 'cancel', { run: stage.runId }));
      expect(refusal).toContain(`The run is ${status}`);
      expect(refusal).toMatch(/only a run that is planning, .* can be cancelled\. Received "accounts/);
      expect(stage.ledger.contents()).toEqual(before);
    }
    expect(await refusalOf(ask(complete, 'cancel', { run: 'accounts.v9.unheard' }))).toMatch(/No run of this id/);
  });

  it('of another policy’s run is refused', async () => {
    const stage = await published(accounts(3));
    const run = await theRun(stage);
    await stage.ledger.createRun({ ...run, runId: 'others.v1.x', policyId: 'others' });
    expect(await refusalOf(ask(stage, 'cancel', { run: 'others.v1.x' }))).toMatch(/No run of this id/);
    expect(await theRun(stage, 'others.v1.x')).toMatchObject({ status: 'draining' });
  });

  it('that closes at that very moment is refused, for there is nothing left to cancel', async () => {
    const stage = await published(accounts(3));
    await deliverAll(stage);
    const { appendAudit } = stage.ledger;
    stage.ledger.appendAudit = async (...parameters) => {
      await wellEnded(stage.reconcile());
      return appendAudit.apply(stage.ledger, parameters);
    };
    expect(await refusalOf(ask(stage, 'cancel', { run: stage.runId }))).toMatch(
      /The run is complete by now and was not cancelled/,
    );
    expect((await trailOf(stage)).verified).toBe(true);
  });

  it('again is answered as done already, and audits nothing more', async () => {
    const stage = await published(accounts(6));
    await ask(stage, 'cancel', { run: stage.runId });
    expect(await ask(stage, 'cancel', { run: stage.runId })).toMatchObject({ result: 'already', closedUnits: 0 });
    expect((await trailOf(stage)).entries).toHaveLength(1);
  });

  it('killed at any call and asked for again: everything is closed, counted and left alone', {
    timeout: 60_000,
  }, async () => {
    const { calls, plays } = await walk(
      onlyActs<Deployment>({
        make: (interference) => deploy(accounts(12), {}, { interference }),
        play: async (stage) => {
          await stage.dispatch();
          await stage.consume((await stage.receive()).slice(0, 1));
          stage.target.poison('a0004', { class: 'transient', error: 'Throttled' });
          await stage.consume(await stage.receive());
          await untilDone(stage, { act: 'cancel', run: stage.runId });
          await settled(stage);
        },
        check: (stage) => {
          const { runs, units } = stage.ledger.contents();
          const [run] = runs;
          expect(run?.status).toBe('cancelled');
          if (run !== undefined) checkCounts(run, stage.records.writes.length);
          expect(units.every(({ state }) => isTerminalUnit(state))).toBe(true);
          expect(stage.queue.work.copies()).toEqual([]);
          expect(lettersOf(stage)).toEqual({});
        },
      }),
    );
    expect(plays).toBe(1 + 4 * calls.length);
  });

  it('leaves a unit to the delivery that has it in hand: a duplicate does not close it over what was done', async () => {
    const stage = await published(accounts(200), { batchSize: '200' }, { target: { recordsPerCall: 5 } });
    const [copy] = stage.queue.work.copies();
    await actedAtWork(stage, 10_000, async () => {
      await ask(stage, 'cancel', { run: stage.runId });
      if (copy !== undefined) stage.queue.work.add(copy);
      await stage.consume(await stage.receive(), { name: 'of the duplicate' });
    });
    const whys = stage.decisions.map(({ why }) => why);
    expect([whys[0], whys.filter((why) => why === 'cancelled').length]).toEqual(['in_progress_elsewhere', 1]);
    const run = await settled(stage);
    expect(stage.records.writes.length).toBeGreaterThan(0);
    checkCounts(run, stage.records.writes.length);
    expect(stage.queue.work.copies()).toEqual([]);
  });

  it('closes a unit whose consumer died with the next delivery of its message', async () => {
    const stage = await published(accounts(3));
    stage.crew.interference = { fate: ({ name }) => (name === 'target.apply' ? 'crash' : 'go') };
    await stage.consume(await stage.receive());
    stage.crew.interference = NO_INTERFERENCE;
    await ask(stage, 'cancel', { run: stage.runId });
    expect(statesOf(stage)).toEqual({ 0: 'in_progress' });
    await settled(stage);
    expect(statesOf(stage)).toEqual({ 0: 'cancelled' });
    expect(stage.queue.work.copies()).toEqual([]);
  });

  it('between a pass of the reconciler reading the run and its units raises no alarm over the proof', async () => {
    const stage = await published(accounts(6));
    await ask(stage, 'pause');
    stage.intake.state = 'on';
    await deliverAll(stage);
    await ask(stage, 'resume', {}, { timeoutMillis: 1_000 });
    let cancelled = false;
    const admit = async ({ name, process }: { readonly name: string; readonly process: string }) => {
      if (cancelled || name !== 'ledger.units' || !process.startsWith('reconciler')) return;
      cancelled = true;
      await ask(stage, 'cancel', { run: stage.runId });
    };
    stage.crew.interference = { ...NO_INTERFERENCE, admit };
    expect(await wellEnded(stage.reconcile())).toMatchObject({ mismatched: 0 });
    expect(statesOf(stage)).toEqual({ 0: 'cancelled', 1: 'cancelled' });
    expect(stage.log.named('proof_mismatch')).toEqual([]);
  });

  it('closes a unit whose consumer died and whose message is gone, with the totals', async () => {
    const stage = await published(accounts(6));
    stage.crew.interference = { fate: ({ name }) => (name === 'target.apply' ? 'crash' : 'go') };
    await stage.consume(await stage.receive());
    stage.crew.interference = NO_INTERFERENCE;
    stage.queue.purge();
    await ask(stage, 'cancel', { run: stage.runId });
    expect(Object.values(statesOf(stage))).toContain('in_progress');
    await settled(stage);
    expect(new Set(Object.values(statesOf(stage)))).toEqual(new Set(['cancelled']));
    expect(await theRun(stage)).toMatchObject({ closing: { processed: 0, cancelled: 6, remaining: 0 } });
  });

  it('while it is planned again after a refusal counts nothing of the plan that was refused', async () => {
    const stage = deploy(accounts(6), { capRecords: '3' });
    await stage.dispatch();
    expect(await theRun(stage)).toMatchObject({ status: 'refused', plan: { records: 6 } });
    stage.settings = testSettings({ discoverySegments: '1' });
    await stage.dispatch(stage.scheduledTime, { looksAtDeadline: 0 });
    await ask(stage, 'cancel', { run: stage.runId });
    await settled(stage);
    const run = await theRun(stage);
    expect(run).toMatchObject({ status: 'cancelled', closing: { processed: 0, skipped: 0, remaining: 0 } });
    expect(run.plan).toBeUndefined();
  });

  it('killed before it closed what waits sends nothing of it; asked for again, it closes it', async () => {
    const stage = await killedBeforeClosing();
    stage.world.advance(MINUTE_MILLIS);
    expect(await wellEnded(stage.reconcile())).toMatchObject({ published: 0 });
    expect(statesOf(stage)).toEqual({ 0: 'planned', 1: 'planned' });
    expect(await ask(stage, 'cancel', { run: stage.runId })).toMatchObject({ result: 'already', closedUnits: 2 });
    expect(statesOf(stage)).toEqual({ 0: 'cancelled', 1: 'cancelled' });
  });

  it('killed before it closed what waits, and never asked for again: its units are closed with its totals', async () => {
    const stage = await killedBeforeClosing();
    const run = await settled(stage);
    expect(run).toMatchObject({ closing: { cancelled: 6, remaining: 0 } });
    expect(statesOf(stage)).toEqual({ 0: 'cancelled', 1: 'cancelled' });
    expect(stage.queue.sent).toHaveLength(2);
  });

  it('has the last word on a unit that a consumer had put back', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0001', { class: 'transient', error: 'Throttled' });
    await deliverAll(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'published', counts: { expired: 2 } });
    await ask(stage, 'cancel', { run: stage.runId });
    expect(await theUnit(stage)).toMatchObject({ state: 'cancelled', counts: { expired: 2 } });
    const run = await settled(stage);
    expect(run).toMatchObject({ closing: { processed: 2, cancelled: 1, skipped: 1, remaining: 0 } });
  });
});
