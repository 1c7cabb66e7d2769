import { describe, expect, it } from 'vitest';
import { type Failure, type Ledger, PortError, type Target, type TargetCall } from '../../../lib/core/ports/index.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import {
  accounts,
  altered,
  type Brief,
  brief,
  decide,
  published,
  receiveOne,
  resent,
  theRun,
  theUnit,
  timeLeft,
} from './stage.ts';

const COMMITTED = { kind: 'acknowledge', why: 'committed' };
const QUARANTINED = { kind: 'acknowledge', why: 'quarantined' };
const THROTTLED: Failure = { class: 'transient', error: 'ThrottlingException' };
const DENIED: Failure = { class: 'permanent', error: 'AccessDeniedException', requestId: 'req-7' };

/** One batch of three records that all fail so: nothing tells one of them from the others. */
async function failing(failure: Failure, settings = {}): Promise<Deployment> {
  const stage = await published(accounts(3), settings);
  for (const { id } of accounts(3)) stage.target.poison(String(id), failure);
  return stage;
}

/** Delivers the one message again and again, until it is acknowledged. */
async function untilAcknowledged(stage: Deployment): Promise<readonly Brief[]> {
  const decisions: Brief[] = [];
  const delivery = await receiveOne(stage);
  for (let time = 0; time < 20; time += 1) {
    const [decision] = await decide(stage, [resent(delivery, `receipt ${time}`)]);
    if (decision === undefined) throw new Error('no decision');
    decisions.push(decision);
    if (decision.kind === 'acknowledge') return decisions;
  }
  throw new Error('never acknowledged');
}

function labels(stage: Deployment): readonly Readonly<Record<string, string>>[] {
  return stage.queue.deadLetters.copies().map((letter) => letter.labels);
}

describe('a batch that fails', () => {
  it('counts its attempt in the ledger before any effect', async () => {
    const stage = await published(accounts(3));
    const delivery = await receiveOne(stage);
    const apply = async (call: TargetCall) => {
      expect(await theUnit(stage)).toMatchObject({ state: 'in_progress', attempts: 1, claim: 'consumer/the-message' });
      return stage.target.apply(call);
    };
    const message = { ...delivery, messageId: 'the-message' };
    expect(await decide(stage, [message], { target: altered(stage.target, { apply }) })).toEqual([COMMITTED]);
    expect(stage.records.writes).toHaveLength(3);
  });

  it('starts nothing where the attempt could not be counted', async () => {
    const stage = await published(accounts(3));
    stage.crew.interference = { fate: ({ name }) => (name === 'ledger.moveUnit' ? 'fail' : 'go') };
    await stage.consume(await stage.receive());
    expect(stage.decisions.map(brief)).toMatchObject([{ kind: 'retry', why: 'failed', errorClass: 'NotReached' }]);
    expect(stage.records.writes).toEqual([]);
  });

  it('at its completion is not acknowledged: what was done is in the ledger first', async () => {
    const stage = await published(accounts(3));
    const moveUnit: Ledger['moveUnit'] = async (ref, edge, ...more) => {
      if (edge === 'commit') throw new PortError('moveUnit', THROTTLED);
      return stage.ledger.moveUnit(ref, edge, ...more);
    };
    const ledger = altered<Ledger>(stage.ledger, { moveUnit });
    const delivery = await receiveOne(stage);
    expect(await decide(stage, [delivery], { ledger })).toMatchObject([{ kind: 'retry', why: 'failed' }]);
    expect(await decide(stage, [resent(delivery)])).toEqual([COMMITTED]);
    expect(stage.records.writes).toHaveLength(3);
  });

  it('for a moment, is tried again within the delivery, then by later ones, with the attempts the policy allows', async () => {
    const stage = await failing(THROTTLED, { maxAttempts: '4' });
    const decisions = await untilAcknowledged(stage);
    expect(decisions.slice(0, -1)).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ kind: 'retry', why: 'records_failed', errorClass: 'ThrottlingException' }),
      ),
    );
    expect(decisions.at(-1)).toEqual(QUARANTINED);
    expect(await theUnit(stage)).toMatchObject({
      ...{ state: 'quarantined', attempts: 4, reason: 'attempts_spent', errorClass: 'ThrottlingException' },
    });
    expect(labels(stage)).toEqual([{ reason: 'attempts_spent', errorClass: 'ThrottlingException', generation: '0' }]);
    expect(stage.records.writes).toHaveLength(0);
  });

  it('for a moment, commits in the end with every record counted once', async () => {
    const stage = await failing(THROTTLED);
    const delivery = await receiveOne(stage);
    for (let time = 0; time < 4; time += 1) await decide(stage, [resent(delivery)]);
    stage.target.healAll();
    expect(await decide(stage, [resent(delivery)])).toEqual([COMMITTED]);
    expect(await theUnit(stage)).toMatchObject({ state: 'committed', attempts: 5, counts: { expired: 3 } });
    expect(stage.records.writes).toHaveLength(3);
  });

  it('for good, is quarantined at once with what is needed to find out why', async () => {
    const stage = await failing(DENIED);
    expect(await untilAcknowledged(stage)).toEqual([QUARANTINED]);
    expect(await theUnit(stage)).toMatchObject({
      ...{ state: 'quarantined', attempts: 1, reason: 'permanent_failure' },
      ...{ errorClass: 'AccessDeniedException', requestId: 'req-7' },
    });
    expect(labels(stage)).toEqual([
      { reason: 'permanent_failure', errorClass: 'AccessDeniedException', generation: '0' },
    ]);
  });

  it('is judged by its worst failure, in whatever order the target answers', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const stage = await published(accounts(3), { maxAttempts: '3' }, { seed });
      for (const id of ['a0000', 'a0001']) stage.target.poison(id, THROTTLED);
      stage.target.poison('a0002', DENIED);
      expect((await untilAcknowledged(stage)).at(-1)).toEqual(QUARANTINED);
      expect(await theUnit(stage)).toMatchObject({ errorClass: 'AccessDeniedException', attempts: 3 });
    }
  });

  it('that changes something at every delivery spends no attempt, however long it takes', async () => {
    const stage = await published(accounts(5), { maxAttempts: '3', batchSize: '5' });
    for (const { id } of accounts(5)) stage.target.poison(String(id), THROTTLED);
    const delivery = await receiveOne(stage);
    for (const { id } of accounts(4)) {
      stage.target.heal(String(id));
      expect(await decide(stage, [resent(delivery)])).toMatchObject([{ kind: 'retry', why: 'records_failed' }]);
      expect(await theUnit(stage)).toMatchObject({ attempts: 0 });
    }
    stage.target.healAll();
    expect(await decide(stage, [resent(delivery)])).toEqual([COMMITTED]);
    expect(stage.records.writes).toHaveLength(5);
  });

  it('that changes something at its last attempt is not given up', async () => {
    const stage = await failing(THROTTLED, { maxAttempts: '3' });
    const delivery = await receiveOne(stage);
    for (let time = 0; time < 2; time += 1) await decide(stage, [resent(delivery)]);
    stage.target.heal('a0000');
    expect(await decide(stage, [resent(delivery)])).toMatchObject([{ kind: 'retry', why: 'records_failed' }]);
    expect(await theUnit(stage)).toMatchObject({ state: 'published', attempts: 2 });
  });

  it('with an effect that nobody knows is tried again only where trying twice does no harm', async () => {
    const unknown: Failure = { class: 'uncertain', error: 'TimeoutError' };
    const idempotent = await failing(unknown);
    expect(await decide(idempotent, [await receiveOne(idempotent)])).toMatchObject([{ kind: 'retry' }]);
    const harmful = await failing(unknown);
    const tried: string[] = [];
    const apply = (call: TargetCall) => {
      tried.push(...call.items.map(({ key }) => key));
      return harmful.target.apply(call);
    };
    const target = altered<Target>(harmful.target, { idempotency: 'not-idempotent', apply });
    expect(await decide(harmful, [await receiveOne(harmful)], { target })).toMatchObject([{ why: 'uncertain' }]);
    expect([tried.length, new Set(tried).size]).toEqual([3, 3]);
    expect(await theUnit(harmful)).toMatchObject({ state: 'uncertain', reason: 'effect_unknown' });
  });

  it('crashing again and again, is stopped by its own count although no attempt ever ended', async () => {
    const stage = await published(accounts(3));
    stage.crew.interference = { fate: ({ name }) => (name === 'target.apply' ? 'crash' : 'go') };
    for (let time = 0; time < 5; time += 1) {
      await stage.consume(await stage.receive());
      stage.world.advance(60_000);
    }
    expect(await theUnit(stage)).toMatchObject({ state: 'in_progress', attempts: 5 });
    stage.crew.interference = { fate: () => 'go' };
    const applied = stage.crew.calls.filter(({ name }) => name === 'target.apply').length;
    await stage.consume(await stage.receive());
    expect(stage.decisions.at(-1)).toMatchObject(QUARANTINED);
    expect(stage.crew.calls.filter(({ name }) => name === 'target.apply')).toHaveLength(applied);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', reason: 'attempts_spent', attempts: 5 });
  });

  it('an answer about a record that was not asked for, or none, is no outcome', async () => {
    const stage = await published(accounts(3));
    const apply = async (call: TargetCall) => {
      const results = await stage.target.apply(call);
      const wrong = results.filter(({ key }) => key !== '["Sa0001"]');
      return [...wrong, { kind: 'outcome', key: '["Sstranger"]', outcome: 'expired', applied: 'now' } as const];
    };
    const [decision] = await decide(stage, [await receiveOne(stage)], { target: altered(stage.target, { apply }) });
    expect(decision).toMatchObject({ kind: 'retry', why: 'records_failed', errorClass: 'NoAnswer' });
    expect(await theUnit(stage)).toMatchObject({ state: 'published', counts: { expired: 2 } });
  });

  it('counts one attempt for two deliveries that read the ledger before either began', async () => {
    const stage = await published(accounts(3), {}, { target: { entryFails: 1 }, idempotency: { letsTwoIn: 1 } });
    const delivery = await receiveOne(stage);
    expect(await decide(stage, [delivery, resent(delivery)])).toMatchObject([
      { kind: 'retry', why: 'records_failed' },
      { kind: 'retry', why: 'moved_on', failureClass: 'deferred' },
    ]);
    expect((await theUnit(stage)).attempts).toBe(1);
  });

  it('an answer given twice, or about a stranger beside all others, counts for nothing more', async () => {
    const stage = await published(accounts(3), {}, { target: { recordsPerCall: 3 } });
    const apply = async (call: TargetCall) => {
      const results = await stage.target.apply(call);
      const stranger = { kind: 'outcome', key: '["Sstranger"]', outcome: 'expired', applied: 'now' } as const;
      return [
        ...results,
        stranger,
        ...results.map(({ key }) => ({ kind: 'failed', key, failure: THROTTLED }) as const),
      ];
    };
    const target = altered(stage.target, { apply });
    expect(await decide(stage, [await receiveOne(stage)], { target })).toEqual([COMMITTED]);
    expect(await theUnit(stage)).toMatchObject({ counts: { expired: 3 } });
  });

  it('keeps its decision where the idempotency record cannot be deleted, whose error replaces the body’s', async () => {
    const stage = await published(accounts(3), {}, { idempotency: { deleteFails: 1 } });
    stage.target.poison('a0001', DENIED);
    expect(await untilAcknowledged(stage)).toEqual([{ kind: 'acknowledge', why: 'isolated' }]);
  });

  it('P42: spends no attempt while another delivery works on it', async () => {
    const stage = await published(accounts(3));
    const delivery = await receiveOne(stage);
    const idempotency = { once: async () => ({ kind: 'in-progress-elsewhere' }) as const };
    for (let time = 0; time < 30; time += 1) {
      const [decision] = await decide(stage, [resent(delivery)], { idempotency }, timeLeft());
      expect(decision).toMatchObject({ kind: 'retry', why: 'in_progress_elsewhere' });
    }
    expect(stage.ledger.contents().units).toEqual([]);
  });
});

describe('a quarantined batch', () => {
  it('is in the ledger before it is in the dead-letter queue, and both before it is acknowledged', async () => {
    const stage = await failing(DENIED);
    await stage.consume(await stage.receive());
    const names = stage.crew.calls.map(({ name }) => name);
    const [copied, acknowledged] = [names.indexOf('queue.sendDeadLetter'), names.indexOf('mapping.acknowledge')];
    // After it only the note that the copy is there.
    expect(names.slice(0, copied).filter((name) => name === 'ledger.moveUnit')).toHaveLength(2);
    expect(names.slice(copied, acknowledged)).toContain('ledger.moveUnit');
    expect(copied).toBeLessThan(acknowledged);
  });

  it('whose copy could not be sent gets it from the next delivery, and is not worked on again', async () => {
    const stage = await failing(DENIED);
    stage.crew.interference = { fate: ({ name }) => (name === 'queue.sendDeadLetter' ? 'fail' : 'go') };
    await stage.consume(await stage.receive());
    expect(stage.decisions).toMatchObject([{ kind: 'retry' }]);
    expect(labels(stage)).toEqual([]);
    stage.crew.interference = { fate: () => 'go' };
    stage.target.healAll();
    stage.world.advance(900_000);
    await stage.consume(await stage.receive());
    expect(stage.decisions.at(-1)).toMatchObject({ kind: 'acknowledge', why: 'duplicate_of_quarantined' });
    expect(labels(stage)).toEqual([
      { reason: 'permanent_failure', errorClass: 'AccessDeniedException', generation: '0' },
    ]);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', attempts: 1 });
  });

  it('does not come back by a duplicate, which is never a redrive', async () => {
    const stage = await failing(DENIED);
    const delivery = await receiveOne(stage);
    await decide(stage, [delivery]);
    stage.target.healAll();
    const duplicate = { kind: 'acknowledge', why: 'duplicate_of_quarantined' };
    for (const id of ['x', 'y']) expect(await decide(stage, [resent(delivery, id)])).toEqual([duplicate]);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', attempts: 1, generation: 0 });
    expect(labels(stage)).toHaveLength(1);
    expect(stage.records.writes).toHaveLength(0);
  });

  it('that was redriven makes the message of before stale', async () => {
    const stage = await failing(DENIED);
    const delivery = await receiveOne(stage);
    await decide(stage, [delivery]);
    stage.target.healAll();
    await stage.redrive();
    expect(await decide(stage, [resent(delivery)])).toEqual([{ kind: 'acknowledge', why: 'stale' }]);
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'committed', generation: 1, attempts: 1 });
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });

  it('does not keep its neighbours', async () => {
    const stage = await published(accounts(30), {}, { seed: 3 });
    stage.target.poison('a0004', DENIED);
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({
      ...{ status: 'complete_with_quarantine', closing: { processed: 29, skipped: 0, remaining: 1 } },
    });
  });
});
