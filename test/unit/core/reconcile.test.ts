import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { LEASE_MILLIS } from '../../../lib/core/plan/lease.ts';
import { type Ledger, PortError } from '../../../lib/core/ports/index.ts';
import { EMPTY_PASSES } from '../../../lib/core/reconcile/lost.ts';
import { type ReconcileResult, reconcile } from '../../../lib/core/reconcile/reconcile.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import { accounts, altered, deploy, published, reconcilePorts, theRun, theUnit, timeLeft } from './stage.ts';

async function passes(stage: Deployment, count: number): Promise<readonly ReconcileResult[]> {
  const results: ReconcileResult[] = [];
  for (let pass = 0; pass < count; pass += 1) {
    results.push(await reconcile(reconcilePorts(stage), timeLeft()));
    stage.world.advance(5 * 60_000);
  }
  return results;
}

describe('a lapsed dispatch', () => {
  it.each(['source.page', 'queue.send'])(
    'P8: that died at its %s is resumed, and only once its lease has lapsed',
    async (call) => {
      const stage = deploy(accounts(7));
      stage.crew.interference = { fate: ({ name }) => (name === call ? 'crash' : 'go') };
      await stage.dispatch();
      stage.crew.interference = { fate: () => 'go' };
      expect(await passes(stage, 1)).toMatchObject([{ openRuns: 1, resumed: 0 }]);
      stage.world.advance(LEASE_MILLIS);
      expect(await passes(stage, 1)).toMatchObject([{ openRuns: 1, resumed: 1 }]);
      expect(stage.resumer.taken()).toEqual([{ runId: stage.runId, scheduledTime: stage.scheduledTime }]);
      await stage.dispatch();
      await settle(stage);
      expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 7 } });
      expect(stage.records.writes).toHaveLength(7);
    },
  );

  it('P9: that ran out of time is resumed at the next pass', async () => {
    const stage = deploy(accounts(30));
    await stage.dispatch(undefined, { looksAtDeadline: 2 });
    expect(await passes(stage, 1)).toMatchObject([{ resumed: 1 }]);
  });
});

describe('a lost message', () => {
  it('is made again once both queues were found empty for three passes in a row', async () => {
    const stage = await published(accounts(9));
    await stage.consume((await stage.receive()).slice(0, 1));
    stage.queue.purge();
    const results = await passes(stage, EMPTY_PASSES);
    expect(results.map(({ recovered }) => recovered)).toEqual([0, 0, 2]);
    expect(results.at(-1)).toMatchObject({ published: 2 });
    expect(stage.log.events).toContainEqual(
      expect.objectContaining({ level: 'warn', name: 'messages_recovered', fields: { runId: stage.runId, units: 2 } }),
    );
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 9 } });
    expect(stage.records.writes).toHaveLength(9);
  });

  it('that is lost again and again is made again once for every three empty passes', async () => {
    const stage = await published(accounts(3));
    const recovered: number[] = [];
    for (let pass = 0; pass < 3 * EMPTY_PASSES; pass += 1) {
      stage.queue.purge();
      recovered.push(...(await passes(stage, 1)).map((result) => result.recovered));
    }
    expect(recovered).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1]);
  });

  it('is not made again for one pass that found something in between', async () => {
    const stage = await published(accounts(3));
    const lost = stage.queue.work.copies();
    stage.queue.purge();
    await passes(stage, 2);
    for (const copy of lost) stage.queue.work.add(copy);
    expect(await passes(stage, 1)).toMatchObject([{ recovered: 0 }]);
    expect((await theRun(stage)).emptyPasses).toBe(0);
    stage.queue.purge();
    expect((await passes(stage, 2)).map(({ recovered }) => recovered)).toEqual([0, 0]);
  });

  it('is not made again while a message is under way, however slow', async () => {
    const stage = await published(accounts(3));
    await stage.receive();
    await passes(stage, 10);
    expect(stage.queue.sent).toHaveLength(1);
  });

  it('is not made again where SQS had moved it to the dead letters: it waits there, labelled, for a person', async () => {
    const stage = await published(accounts(3));
    const [copy] = stage.queue.work.copies();
    if (copy === undefined) throw new Error('no message');
    stage.queue.purge();
    stage.queue.deadLetters.add(copy);
    expect((await passes(stage, 10)).every(({ recovered }) => recovered === 0)).toBe(true);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', reason: 'dead_lettered' });
    expect(stage.queue.deadLetters.copies().map(({ labels }) => labels.generation)).toEqual(['0']);
    expect(await theRun(stage)).toMatchObject({ status: 'complete_with_quarantine' });
  });

  it('is made again although dead letters of other batches wait', async () => {
    const stage = await published(accounts(6));
    const [one] = stage.queue.work.copies();
    if (one === undefined) throw new Error('no message');
    stage.queue.purge();
    stage.queue.deadLetters.add(one);
    const recovered = (await passes(stage, EMPTY_PASSES)).map((result) => result.recovered);
    expect(recovered).toEqual([0, 0, 1]);
  });

  it('is made again once it has been silent for longer than a message lives, whatever the queues seem to hold', async () => {
    const stage = await published(accounts(3));
    stage.queue.purge();
    const strange = [{ id: 'x', body: 'of nobody', group: 'g' }];
    await stage.queue.send(strange);
    expect((await passes(stage, 5)).every(({ recovered }) => recovered === 0)).toBe(true);
    stage.world.advance(3 * DAY_MILLIS);
    await stage.queue.send(strange);
    expect(await passes(stage, 1)).toMatchObject([{ recovered: 0 }]);
    stage.world.advance(2 * DAY_MILLIS);
    await stage.queue.send(strange);
    expect(await passes(stage, 1)).toMatchObject([{ recovered: 1, published: 1 }]);
  });

  it('of one batch does not hurry another that waits for its time', async () => {
    const stage = await published(accounts(6));
    stage.queue.purge();
    const ref = { runId: stage.runId, unit: '0' };
    const notBefore = stage.world.millis + DAY_MILLIS;
    const guard = { generation: 0, make: { tenant: 't1', records: 3 } };
    await stage.ledger.moveUnit(ref, 'postpone', guard, { since: stage.world.millis, notBefore });
    expect((await passes(stage, EMPTY_PASSES)).at(-1)).toMatchObject({ recovered: 1, published: 1 });
    expect(await theUnit(stage)).toMatchObject({ state: 'planned', notBefore });
  });

  it('that was only slow is a duplicate of the one made in its place', async () => {
    const stage = await published(accounts(3));
    const [slow] = stage.queue.work.copies();
    stage.queue.purge();
    await passes(stage, EMPTY_PASSES);
    if (slow !== undefined) stage.queue.work.add(slow);
    expect(stage.queue.work.copies()).toHaveLength(2);
    await settle(stage);
    expect(stage.records.writes).toHaveLength(3);
    expect((await theRun(stage)).status).toBe('complete');
  });

  it('of a batch whose attempts are spent is not made again: the batch waits for a person', async () => {
    const stage = await published(accounts(3));
    stage.crew.interference = { fate: ({ name }) => (name === 'target.apply' ? 'crash' : 'go') };
    for (let time = 0; time < 5; time += 1) {
      await stage.consume(await stage.receive());
      stage.world.advance(60_000);
    }
    stage.crew.interference = { fate: () => 'go' };
    stage.queue.purge();
    expect((await passes(stage, EMPTY_PASSES)).at(-1)).toMatchObject({ recovered: 1, published: 0 });
    expect(await theUnit(stage)).toMatchObject({
      state: 'quarantined',
      reason: 'attempts_spent',
      errorClass: 'MessageLost',
    });
    expect((await passes(stage, 1)).at(-1)).toMatchObject({ closed: 1 });
    expect(await theRun(stage)).toMatchObject({ status: 'complete_with_quarantine', closing: { remaining: 3 } });
  });

  it('P58: of a batch in quarantine leaves the batch in the ledger after the dead letter has expired', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0001', { class: 'permanent', error: 'ValidationException' });
    await settle(stage);
    expect(stage.queue.deadLetters.copies()).toHaveLength(1);
    stage.world.advance(15 * DAY_MILLIS);
    expect(stage.queue.deadLetters.copies()).toEqual([]);
    await passes(stage, 5);
    expect(await theUnit(stage, '0.1')).toMatchObject({ state: 'quarantined' });
    expect(stage.log.named('dead_letters_missing').at(-1)).toMatchObject({ level: 'error', fields: { units: 1 } });
    stage.target.heal('a0001');
    await stage.redrive();
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });
});

describe('a pass', () => {
  it('sends what is planned and due, and not what is due later', async () => {
    const stage = await published(accounts(6));
    stage.queue.purge();
    const make = { tenant: 't1', records: 3 };
    for (const [unit, minutes] of [
      ['0', 0],
      ['1', 17],
    ] as const) {
      const at = stage.world.millis;
      const change = { since: at, notBefore: at + minutes * 60_000 };
      await stage.ledger.moveUnit({ runId: stage.runId, unit }, 'postpone', { generation: 0, make }, change);
    }
    expect((await passes(stage, 3)).map((result) => result.published)).toEqual([1, 0, 1]);
    expect(stage.queue.work.copies()).toHaveLength(2);
  });

  it('looks at the other runs where one cannot be read, and then says so', async () => {
    const stage = await published(accounts(3));
    await stage.dispatch(stage.scheduledTime + DAY_MILLIS);
    await deliverAll(stage);
    const units: Ledger['units'] = async (runId, cursor) => {
      if (runId === stage.runId) throw new PortError('units', { class: 'transient', error: 'Throttled' });
      return stage.ledger.units(runId, cursor);
    };
    const ports = reconcilePorts(stage, { ledger: altered<Ledger>(stage.ledger, { units }) });
    await expect(reconcile(ports, timeLeft())).rejects.toThrow(/1 parts of the pass failed/);
    expect(stage.ledger.contents().runs.map(({ status }) => status)).toEqual(['draining', 'complete']);
  });

  it('short of time, begins nothing more', async () => {
    const stage = await published(accounts(3));
    expect(await reconcile(reconcilePorts(stage), timeLeft(19_999))).toMatchObject({ openRuns: 0, published: 0 });
  });

  it('does nothing to runs that are finished', async () => {
    const stage = deploy(accounts(3), { mode: 'report-only' });
    await stage.dispatch();
    const before = stage.ledger.contents();
    expect(await passes(stage, 2)).toMatchObject([{ openRuns: 0 }, { openRuns: 0 }]);
    expect(stage.ledger.contents()).toEqual(before);
  });

  it('at the same moment as another, changes nothing but once', async () => {
    const stage = await published(accounts(9));
    await deliverAll(stage);
    const both = await Promise.all([1, 2].map(() => reconcile(reconcilePorts(stage), timeLeft())));
    expect(both.map(({ closed }) => closed).sort()).toEqual([0, 1]);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 9 } });
  });
});
