import { describe, expect, it } from 'vitest';
import { messageDigest } from '../../../lib/core/consume/quarantine.ts';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import { walk } from '../../helpers/walker.ts';
import {
  ask,
  batchesInQuarantine,
  DENIED,
  lettersOf,
  MINUTE_MILLIS,
  onlyActs,
  poisonBatch,
  refusalOf,
  statesOf,
  trailOf,
  untilDone,
  wellEnded,
} from './acts-stage.ts';
import { accounts, deploy, expiredIds, published, theRun, theUnit } from './stage.ts';

const ALL = { all: true };

describe('giving up a unit', () => {
  it('closes it, removes its message, and lets the run close with its records counted as abandoned', async () => {
    const stage = await batchesInQuarantine(3, [1]);
    expect(await theRun(stage)).toMatchObject({ closing: { processed: 6, remaining: 3, abandoned: 0 } });
    const given = await ask(stage, 'abandon', { filter: { reason: 'attempts_spent' } });
    expect(given).toMatchObject({ act: 'abandon', moved: 1, published: 0, deleted: 1, paceEndsAt: null });
    expect(await theUnit(stage, '1')).toMatchObject({
      state: 'abandoned',
      generation: 0,
      finishedAt: stage.world.millis,
    });
    expect(lettersOf(stage)).toEqual({});
    await wellEnded(stage.reconcile());
    await settle(stage);
    const run = await theRun(stage);
    expect(run).toMatchObject({
      status: 'complete',
      closing: { processed: 6, skipped: 3, abandoned: 3, cancelled: 0, remaining: 0, outcomes: { expired: 6 } },
    });
    expect(run.closing).toMatchObject({
      batches: run.plan?.batches,
      records: run.plan?.records,
      digest: run.plan?.digest,
    });
    expect((await trailOf(stage)).entries).toMatchObject([{ act: 'abandon', units: ['1'] }]);
    expect(expiredIds(stage)).toHaveLength(6);
  });

  it('leaves its records to no total that still calls them remaining, where others wait on', async () => {
    const stage = await batchesInQuarantine(3, [0, 1]);
    expect(await theRun(stage)).toMatchObject({ closing: { remaining: 6, abandoned: 0 } });
    await ask(stage, 'abandon', { filter: { run: stage.runId, unit: '0' } });
    await settle(stage);
    const closing = { processed: 3, skipped: 3, abandoned: 3, remaining: 3 };
    expect(await theRun(stage)).toMatchObject({ status: 'complete_with_quarantine', closing });
  });

  it('of a cancelled run counts as well, long after the run came to its end', async () => {
    const stage = await published(accounts(9));
    for (const batch of [0, 1]) poisonBatch(stage, batch, DENIED);
    await deliverAll(stage);
    await ask(stage, 'cancel', { run: stage.runId });
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'cancelled', closing: { processed: 3, remaining: 6 } });
    await ask(stage, 'abandon', ALL);
    await settle(stage);
    const closing = { processed: 3, skipped: 6, abandoned: 6, cancelled: 0, remaining: 0 };
    expect(await theRun(stage)).toMatchObject({ status: 'cancelled', closing });
  });

  it('of one record split from its batch counts that record, and the proof of the whole batch holds', async () => {
    const stage = await published(accounts(6));
    for (const id of ['a0001', 'a0002']) stage.target.poison(id, DENIED);
    await settle(stage);
    expect(statesOf(stage)).toEqual({ '0': 'committed', '0.1': 'quarantined', '0.2': 'quarantined', '1': 'committed' });
    stage.target.healAll();
    const filter = (unit: string) => ({ filter: { run: stage.runId, unit } });
    await ask(stage, 'abandon', filter('0.1'));
    await settle(stage);
    await wellEnded(stage.reconcile());
    expect(await theRun(stage)).toMatchObject({ status: 'complete_with_quarantine' });
    await ask(stage, 'redrive', filter('0.2'));
    await settle(stage);
    const run = await theRun(stage);
    expect(run).toMatchObject({
      status: 'complete',
      closing: { processed: 5, skipped: 1, abandoned: 1, remaining: 0 },
    });
    expect(run.closing).toMatchObject({ records: 6, digest: run.plan?.digest });
    expect(expiredIds(stage)).toEqual(['a0000', 'a0002', 'a0003', 'a0004', 'a0005']);
  });

  it('counts only the records that no attempt had dealt with', async () => {
    const stage = await published(accounts(3), {}, { target: { recordsPerCall: 1 } });
    // More than a few fail for the batch to be split: here the first is done, and then the rest never is.
    for (const id of ['a0001', 'a0002']) stage.target.poison(id, { class: 'transient', error: 'Throttled' });
    await deliverAll(stage);
    const unit = await theUnit(stage);
    expect(unit).toMatchObject({ counts: { expired: 1 } });
    await stage.ledger.moveUnit(
      unit,
      'quarantine',
      { generation: 0 },
      { since: stage.world.millis, reason: 'too_old' },
    );
    await ask(stage, 'abandon', ALL);
    stage.queue.purge();
    await settle(stage);
    await wellEnded(stage.reconcile());
    expect(await theRun(stage)).toMatchObject({
      ...{ status: 'complete', closing: { processed: 1, skipped: 2, abandoned: 2, outcomes: { expired: 1 } } },
    });
  });

  it('may be of any unit: failed for good, at its last generation, of a cancelled run; an empty filter is still refused', async () => {
    const stage = await batchesInQuarantine(3, [0], DENIED, { redriveGenerations: '1' });
    expect(await ask(stage, 'redrive', { filter: { reason: 'permanent_failure' } })).toMatchObject({
      ...{ moved: 0, leftOut: { generations: 1 } },
    });
    expect(await refusalOf(ask(stage, 'abandon'))).toMatch(/Say which units/);
    expect(await ask(stage, 'abandon', ALL)).toMatchObject({ moved: 1 });
  });

  it('is final: neither a second time, nor a redrive, nor a late message changes anything', async () => {
    const stage = await batchesInQuarantine(2, [0]);
    stage.target.healAll();
    const [letter] = stage.queue.deadLetters.copies();
    const { selection } = await ask(stage, 'abandon', ALL);
    await settle(stage);
    const { head } = await trailOf(stage);
    if (letter !== undefined) stage.queue.work.add(letter);
    await deliverAll(stage);
    expect(await ask(stage, 'abandon', { selection })).toMatchObject({ moved: 0, alreadyMoved: 1 });
    expect(await ask(stage, 'redrive', ALL)).toMatchObject({ selected: 0, moved: 0 });
    expect(statesOf(stage)).toEqual({ 0: 'abandoned', 1: 'committed' });
    expect((await trailOf(stage)).head).toEqual(head);
    expect(stage.records.writes).toHaveLength(3);
  });
});

describe('giving up a message that cannot be read', () => {
  const digest = messageDigest('{');

  async function withBadMessage(): Promise<Deployment> {
    const stage = await published(accounts(3));
    stage.queue.work.add({ body: '{', labels: {}, group: 'g' });
    await settle(stage);
    return stage;
  }

  it('removes it wherever it is met, audited on the policy, and takes it off the list', async () => {
    const stage = await withBadMessage();
    expect((await ask(stage, 'list')).badMessages).toMatchObject([{ digest, abandonedAt: null }]);
    expect(await ask(stage, 'abandon-message', { message: digest })).toEqual({
      act: 'abandon',
      message: digest,
      deleted: 1,
    });
    expect((await ask(stage, 'list')).badMessages).toEqual([]);
    expect((await trailOf(stage, 'policy')).entries).toMatchObject([{ act: 'abandon', units: [`message ${digest}`] }]);
    stage.queue.work.add({ body: '{', labels: {}, group: 'g' });
    stage.world.advance(DAY_MILLIS);
    await settle(stage);
    await wellEnded(stage.reconcile());
    expect(stage.queue.deadLetters.copies()).toEqual([]);
    expect((await ask(stage, 'list')).badMessages).toEqual([]);
  });

  it('a second time audits nothing more, and of an unknown one is refused with a sentence', async () => {
    const stage = await withBadMessage();
    await ask(stage, 'abandon-message', { message: digest });
    expect(await ask(stage, 'abandon-message', { message: digest })).toMatchObject({ deleted: 0 });
    expect((await trailOf(stage, 'policy')).entries).toHaveLength(1);
    expect(await refusalOf(ask(stage, 'abandon-message', { message: 'unheard' }))).toMatch(
      /No message of this digest.*"unheard"/,
    );
  });

  it('killed at any call and asked for again, removes it', { timeout: 60_000 }, async () => {
    const { calls, plays } = await walk(
      onlyActs<Deployment>({
        make: (interference) => deploy(accounts(3), {}, { interference }),
        play: async (stage) => {
          await stage.dispatch();
          stage.queue.work.add({ body: '{', labels: {}, group: 'g' });
          await settle(stage);
          await untilDone(stage, { act: 'abandon', message: digest });
          stage.world.advance(5 * MINUTE_MILLIS);
          await wellEnded(stage.reconcile());
        },
        check: (stage) => {
          expect(stage.queue.deadLetters.copies()).toEqual([]);
          const { badMessages, audit } = stage.ledger.contents();
          expect(badMessages).toMatchObject([{ digest, abandonedAt: expect.any(Number) }]);
          expect(audit.length).toBeGreaterThanOrEqual(1);
        },
      }),
    );
    expect(plays).toBe(1 + 4 * calls.length);
  });
});

describe('giving up and bringing back', () => {
  it('everything of a run in which nothing succeeded ends complete, with nothing processed', async () => {
    const stage = await published(accounts(6));
    for (const batch of [0, 1]) poisonBatch(stage, batch);
    await settle(stage);
    await ask(stage, 'abandon', ALL);
    await settle(stage);
    await wellEnded(stage.reconcile());
    expect(await theRun(stage)).toMatchObject({
      status: 'complete',
      closing: { processed: 0, skipped: 6, abandoned: 6 },
    });
  });
});
