import { describe, expect, it } from 'vitest';
import { messageDigest } from '../../../lib/core/consume/quarantine.ts';
import { EMPTY_PASSES } from '../../../lib/core/reconcile/lost.ts';
import { type Tended, tendDeadLetters } from '../../../lib/core/redrive/tend.ts';
import { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { type QueueOptions, testSettings } from '../../model/index.ts';
import { ask, batchesInQuarantine, lettersOf, MINUTE_MILLIS, poisonBatch, statesOf, wellEnded } from './acts-stage.ts';
import { accounts, endsIn, published, reconcilePorts, theRun, theUnit, timeLeft } from './stage.ts';

const BLANK = { labels: {}, group: 'g' };

function tend(stage: Deployment, limit = 1_000, deadline = timeLeft()): Promise<Tended> {
  return tendDeadLetters(reconcilePorts(stage), deadline, limit);
}

/** SQS gives up on the messages of these batches by itself: unlabelled, with the id and the time of the first send. */
function movedByQueue({ queue }: Deployment, ...units: readonly string[]): void {
  for (const copy of queue.work.copies()) {
    if (!units.includes(JSON.parse(copy.body).unit)) continue;
    queue.work.drop(copy);
    queue.deadLetters.add({ ...copy, labels: {} }, copy);
  }
}

/** One more message like each that is there, as a second delivery that also failed leaves it. */
function doubled({ queue }: Deployment, labels: 'labelled' | 'unlabelled'): void {
  for (const copy of queue.deadLetters.copies()) {
    queue.deadLetters.add(labels === 'labelled' ? copy : { ...copy, labels: {} });
  }
}

describe('a look over the dead letters', () => {
  it('marks what SQS moved by itself and puts a labelled copy in its place, so that it is redriven like any other', async () => {
    const stage = await published(accounts(6));
    movedByQueue(stage, '0');
    expect(await tend(stage)).toMatchObject({ seen: 1, complete: true, labelled: 1, deleted: 1, waiting: 1 });
    expect(await theUnit(stage)).toMatchObject({
      ...{ state: 'quarantined', reason: 'dead_lettered', errorClass: 'ReceivesSpent', records: 3, generation: 0 },
      copiedGeneration: 0,
    });
    const [letter, ...others] = stage.queue.deadLetters.visible();
    expect([others.length, letter?.labels]).toEqual([
      0,
      { reason: 'dead_lettered', errorClass: 'ReceivesSpent', generation: '0' },
    ]);
    expect(stage.log.named('unit_quarantined')).toMatchObject([{ fields: { unit: '0', reason: 'dead_lettered' } }]);
    expect(await tend(stage)).toMatchObject({ labelled: 0, deleted: 0, waiting: 1 });
    expect(await ask(stage, 'redrive', { all: true })).toMatchObject({ moved: 1, published: 1, deleted: 1 });
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 6 } });
  });

  it('tells of what SQS moved why its unit failed last', async () => {
    const stage = await published(accounts(3), { maxAttempts: '10' });
    poisonBatch(stage, 0);
    await stage.consume(await stage.receive());
    movedByQueue(stage, '0');
    await tend(stage);
    expect(await theUnit(stage)).toMatchObject({
      reason: 'dead_lettered',
      errorClass: 'ThrottlingException',
      attempts: 1,
    });
  });

  it.each(['labelled', 'unlabelled'] as const)(
    'leaves exactly one of a unit’s messages where a second one is %s',
    async (labels) => {
      const stage = await batchesInQuarantine(4, [0, 1, 3]);
      doubled(stage, labels);
      for (let look = 0; look < 2; look += 1) await tend(stage);
      expect(lettersOf(stage)).toEqual({ 0: ['0'], 1: ['0'], 3: ['0'] });
      expect(stage.queue.deadLetters.visible()).toHaveLength(3);
    },
  );

  it('leaves exactly one where only unlabelled ones are there, its own copy among what it sees or not', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const rows = accounts(9);
      const settings = testSettings({ discoverySegments: '1' });
      const stage = new Deployment({ seed, settings, rows, queue: { receivesNothing: 0.3 } });
      await stage.dispatch();
      movedByQueue(stage, '0', '1', '2');
      doubled(stage, 'unlabelled');
      await tend(stage);
      const [copies, counts] = [lettersOf(stage), new Map<string, number>()];
      for (const [unit, labels] of Object.entries(copies)) counts.set(unit, labels.length);
      expect([...counts.keys()].sort()).toEqual(['0', '1', '2']);
      stage.world.advance(5 * MINUTE_MILLIS);
      await tend(stage);
      stage.world.advance(5 * MINUTE_MILLIS);
      await tend(stage);
      expect(lettersOf(stage)).toEqual({ 0: ['0'], 1: ['0'], 2: ['0'] });
    }
  });

  it('that lasts longer than it hides what it has seen does not take a message for a second one of itself', async () => {
    const batches = 60;
    const stage = await batchesInQuarantine(batches, [...Array(batches).keys()]);
    const { receiveDeadLetters } = stage.queue;
    stage.queue.receiveDeadLetters = async (hideSeconds) => {
      stage.world.advance(40_000);
      return receiveDeadLetters.call(stage.queue, hideSeconds);
    };
    await tend(stage);
    expect(stage.queue.deadLetters.copies()).toHaveLength(batches);
  });

  it('takes a message that SQS hands out twice at once for one', async () => {
    const stage = await batchesInQuarantine(2, [0, 1]);
    const { receiveDeadLetters } = stage.queue;
    stage.queue.receiveDeadLetters = async (hideSeconds) => {
      const letters = await receiveDeadLetters.call(stage.queue, hideSeconds);
      return letters.flatMap((letter) => [letter, letter]);
    };
    await tend(stage);
    expect(lettersOf(stage)).toEqual({ 0: ['0'], 1: ['0'] });
  });

  it('deletes what has no further use: of a unit that is done, given up, planned again or of a later generation', async () => {
    const stage = await batchesInQuarantine(5, [0, 1, 2]);
    stage.target.healAll();
    const letters = stage.queue.deadLetters.copies();
    const { runId: run } = stage;
    await ask(stage, 'redrive', { filter: { run, unit: '0' } });
    await ask(stage, 'abandon', { filter: { run, unit: '1' } });
    await settle(stage);
    const startAt = new Date(stage.world.millis + 60 * MINUTE_MILLIS).toISOString();
    await ask(stage, 'redrive', { filter: { run, unit: '2' }, startAt });
    expect(statesOf(stage)).toMatchObject({ 0: 'committed', 1: 'abandoned', 2: 'planned' });
    stage.queue.purgeDeadLetters();
    for (const letter of letters) stage.queue.deadLetters.add(letter);
    expect(await tend(stage)).toMatchObject({ seen: 3, deleted: 3, waiting: 0, labelled: 0 });
    expect(stage.queue.deadLetters.copies()).toEqual([]);
  });

  it('deletes what SQS moved of a unit that waits for its time in the ledger: the publisher sends it again', async () => {
    const stage = await published(accounts(3));
    movedByQueue(stage, '0');
    const make = { tenant: 't1', records: 3 };
    const change = { since: stage.world.millis, notBefore: stage.world.millis + 60 * MINUTE_MILLIS };
    await stage.ledger.moveUnit({ runId: stage.runId, unit: '0' }, 'postpone', { generation: 0, make }, change);
    expect(await tend(stage)).toMatchObject({ deleted: 1, labelled: 0 });
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });

  it('goes on after an answer with nothing in it, and ends after three of them', async () => {
    const stage = await batchesInQuarantine(12, [...Array(12).keys()]);
    const { receiveDeadLetters } = stage.queue;
    const empty = [false, true, true, false];
    stage.queue.receiveDeadLetters = async (seconds) =>
      (empty.shift() ?? true) ? [] : receiveDeadLetters.call(stage.queue, seconds);
    expect(await tend(stage)).toMatchObject({ seen: 12, complete: true, labelled: 0, deleted: 0 });
    expect(await tend(stage)).toMatchObject({ seen: 0, complete: false });
  });

  it('keeps the copy of the latest generation and deletes those of earlier ones', async () => {
    const stage = await batchesInQuarantine(1, [0]);
    const [old] = stage.queue.deadLetters.copies();
    await ask(stage, 'redrive', { all: true });
    await settle(stage);
    if (old !== undefined) stage.queue.deadLetters.add(old);
    expect(await tend(stage)).toMatchObject({ deleted: 1, waiting: 1 });
    expect(lettersOf(stage)).toEqual({ 0: ['1'] });
  });

  it('records a message that cannot be read once, under its digest, with a labelled copy in its place', async () => {
    const stage = await published(accounts(3));
    const forged = JSON.stringify({ ...JSON.parse(stage.queue.work.copies()[0]?.body ?? '{}'), tenant: 'other' });
    for (const body of ['{', '{', forged, '{"schemaVersion":9}']) stage.queue.deadLetters.add({ ...BLANK, body });
    expect(await tend(stage)).toMatchObject({ labelled: 3, deleted: 4, waiting: 0 });
    const known = stage.ledger.contents().badMessages;
    expect(known.map(({ digest, reason }) => [digest, reason]).sort()).toEqual(
      [
        ['{', 'malformed'],
        [forged, 'bad_signature'],
        ['{"schemaVersion":9}', 'unknown_schema'],
      ]
        .map(([body = '', reason]) => [messageDigest(body), reason])
        .sort(),
    );
    stage.world.advance(5 * MINUTE_MILLIS);
    expect(await tend(stage)).toMatchObject({ labelled: 0, deleted: 0 });
    expect(stage.ledger.contents().badMessages).toEqual(known);
    const letters = stage.queue.deadLetters.copies();
    expect(letters.map(({ labels }) => labels.digest).sort()).toEqual(known.map(({ digest }) => digest).sort());
    expect(JSON.stringify(stage.log.events)).not.toContain('schemaVersion');
  });

  it('stops in time, says that it was not complete, and lets everything be seen again', async () => {
    const stage = await batchesInQuarantine(25, [...Array(25).keys()]);
    const { receiveDeadLetters } = stage.queue;
    stage.queue.receiveDeadLetters = async (hideSeconds) => {
      stage.world.advance(1_000);
      return receiveDeadLetters.call(stage.queue, hideSeconds);
    };
    const cut = await tend(stage, 1_000, endsIn(stage.world, 16_500));
    expect(cut).toMatchObject({ seen: 20, complete: false, waiting: 20 });
    expect(stage.queue.deadLetters.visible()).toHaveLength(25);
    expect(await tend(stage, 10)).toMatchObject({ seen: 10, complete: false });
    expect(await tend(stage)).toMatchObject({ seen: 25, complete: true });
  });

  it('that fails half-way lets go of what it holds', async () => {
    const stage = await batchesInQuarantine(25, [...Array(25).keys()]);
    const { load } = stage.ledger;
    let loads = 0;
    stage.ledger.load = async (refs) => {
      loads += 1;
      if (loads === 2) throw new Error('no ledger');
      return load.call(stage.ledger, refs);
    };
    await expect(tend(stage)).rejects.toThrow('no ledger');
    expect(stage.queue.deadLetters.visible().length).toBeGreaterThanOrEqual(15);
    stage.world.advance(5 * MINUTE_MILLIS);
    expect(lettersOf(stage)).toEqual(Object.fromEntries([...Array(25).keys()].map((unit) => [unit, ['0']])));
  });

  it.each([{ deleteUnconfirmed: 0.5 }, { releaseFails: 0.5 }, { receivesNothing: 0.5 }, { depthReadsZero: 0.5 }])(
    'again and again over a queue that behaves badly (%j) comes to one message for each unit that waits',
    async (queue: Partial<QueueOptions>) => {
      const stage = await published(accounts(24), {}, { queue });
      for (const batch of [1, 2, 3, 5, 7]) poisonBatch(stage, batch);
      movedByQueue(stage, '4', '6');
      await settle(stage);
      stage.queue.calm();
      doubled(stage, 'unlabelled');
      doubled(stage, 'labelled');
      for (let look = 0; look < 4; look += 1) {
        stage.world.advance(5 * MINUTE_MILLIS);
        await tend(stage);
      }
      expect(lettersOf(stage)).toEqual(Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((unit) => [unit, ['0']])));
    },
  );
});

describe('the reconciler', () => {
  it('takes no message for lost while a look at the dead letters was not complete: it may be among them', async () => {
    const stage = await published(accounts(6));
    movedByQueue(stage, '0', '1');
    const held = await stage.queue.receiveDeadLetters(3_600);
    expect(held).toHaveLength(2);
    for (let pass = 0; pass < 2 * EMPTY_PASSES; pass += 1) {
      expect(await wellEnded(stage.reconcile())).toMatchObject({ recovered: 0, published: 0, labelled: 0 });
      stage.world.advance(5 * MINUTE_MILLIS);
    }
    expect((await theRun(stage)).emptyPasses).toBe(0);
    await stage.queue.releaseDeadLetters(held.map(({ handle }) => handle));
    expect(await wellEnded(stage.reconcile())).toMatchObject({ labelled: 2, recovered: 0 });
    expect(statesOf(stage)).toEqual({ 0: 'quarantined', 1: 'quarantined' });
    expect(stage.queue.sent).toHaveLength(2);
  });

  it('makes a lost message again although others wait in the dead-letter queue, once it has seen them all', async () => {
    const stage = await published(accounts(9));
    movedByQueue(stage, '0');
    stage.queue.purge();
    const passes = [];
    for (let pass = 0; pass < EMPTY_PASSES; pass += 1) {
      passes.push(await wellEnded(stage.reconcile()));
      stage.world.advance(5 * MINUTE_MILLIS);
    }
    expect(passes.map(({ recovered }) => recovered)).toEqual([0, 0, 2]);
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({
      status: 'complete_with_quarantine',
      closing: { processed: 6, remaining: 3 },
    });
  });
});
