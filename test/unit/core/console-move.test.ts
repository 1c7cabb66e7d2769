import { describe, expect, it } from 'vitest';
import { messageDigest } from '../../../lib/core/consume/quarantine.ts';
import { NO_REQUEST, UNATTRIBUTED } from '../../../lib/core/redrive/audit.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import { walk } from '../../helpers/walker.ts';
import {
  ask,
  batchesInQuarantine,
  lettersOf,
  MINUTE_MILLIS,
  poisonBatch,
  statesOf,
  trailOf,
  wellEnded,
} from './acts-stage.ts';
import { accounts, deploy, published, theRun, theUnit } from './stage.ts';

/** Somebody moves everything back in the SQS console, and the consumers take it. */
async function moveBack(stage: Deployment): Promise<void> {
  stage.queue.moveBack(100);
  await deliverAll(stage);
}

describe('a dead letter that somebody moves back in the SQS console', () => {
  it('is audited as nobody known, and brought back once under the next generation', async () => {
    const stage = await batchesInQuarantine(3, [1]);
    stage.target.healAll();
    await moveBack(stage);
    const { entries, verified } = await trailOf(stage);
    expect(verified).toBe(true);
    expect(entries).toMatchObject([
      {
        ...{ act: 'redrive', actor: UNATTRIBUTED, requestId: NO_REQUEST, units: ['1'], selection: null },
        confirmedBy: { event: 'StartMessageMoveTask', requestId: null },
      },
    ]);
    expect(entries[0]?.reason).toMatch(/CloudTrail/);
    expect(stage.log.named('unattributed_redrive')).toHaveLength(1);
    expect(await theUnit(stage, '1')).toMatchObject({ state: 'planned', generation: 1, attempts: 0 });
    expect(stage.records.writes).toHaveLength(6);
    await settle(stage);
    expect(await theUnit(stage, '1')).toMatchObject({ state: 'committed', generation: 1, attempts: 1 });
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 9 } });
    expect(stage.records.writes).toHaveLength(9);
    expect(lettersOf(stage)).toEqual({});
  });

  it('and delivered twice, has one effect for each record', async () => {
    const stage = await batchesInQuarantine(2, [0]);
    stage.target.healAll();
    const [letter] = stage.queue.deadLetters.copies();
    if (letter !== undefined) stage.queue.work.add(letter);
    await moveBack(stage);
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'committed', generation: 1 });
    expect(stage.records.writes).toHaveLength(6);
    expect((await trailOf(stage)).verified).toBe(true);
  });

  it('without the label is a mere duplicate: nothing comes of it, and the copy in the dead-letter queue stays', async () => {
    const stage = await batchesInQuarantine(2, [0]);
    stage.target.healAll();
    const [letter] = stage.queue.deadLetters.copies();
    for (const labels of [{}, { generation: '7' }])
      if (letter !== undefined) stage.queue.work.add({ ...letter, labels });
    await deliverAll(stage);
    expect(stage.decisions.slice(-2).map(({ why }) => why)).toEqual([
      'duplicate_of_quarantined',
      'duplicate_of_quarantined',
    ]);
    await settle(stage);
    expect((await trailOf(stage)).entries).toEqual([]);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', generation: 0 });
    expect(lettersOf(stage)).toEqual({ 0: ['0'] });
    expect(stage.records.writes).toHaveLength(3);
  });

  it('beyond the last generation goes back, and is not brought back', async () => {
    const stage = await batchesInQuarantine(2, [0], undefined, { redriveGenerations: '2' });
    await moveBack(stage);
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', generation: 1 });
    stage.target.healAll();
    await moveBack(stage);
    expect(stage.decisions.at(-1)).toMatchObject({ kind: 'acknowledge', why: 'unattributed_redrive_refused' });
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', generation: 1 });
    expect(lettersOf(stage)).toEqual({ 0: ['1'] });
    expect((await trailOf(stage)).entries).toHaveLength(1);
    expect(stage.records.writes).toHaveLength(3);
    expect(await ask(stage, 'redrive', { all: true, beyondGenerations: true })).toMatchObject({ moved: 1 });
  });

  it('of a cancelled run goes back', async () => {
    const stage = await published(accounts(9));
    poisonBatch(stage, 0);
    for (let round = 0; round < 8; round += 1) {
      await deliverAll(stage);
      stage.world.advance(5 * MINUTE_MILLIS);
    }
    expect(statesOf(stage)).toMatchObject({ 0: 'quarantined' });
    await ask(stage, 'cancel', { run: stage.runId });
    stage.target.healAll();
    await moveBack(stage);
    await settle(stage);
    expect(statesOf(stage)).toMatchObject({ 0: 'quarantined' });
    expect(lettersOf(stage)).toEqual({ 0: ['0'] });
    expect((await trailOf(stage)).entries.map(({ act }) => act)).toEqual(['cancel']);
    expect(stage.records.writes).toHaveLength(6);
  });

  it('of a unit that a person has meanwhile redriven, or given up, is a stale one', async () => {
    const stage = await batchesInQuarantine(3, [0, 1]);
    stage.target.healAll();
    const letters = stage.queue.deadLetters.copies();
    await ask(stage, 'redrive', { filter: { run: stage.runId, unit: '0' } });
    await ask(stage, 'abandon', { filter: { run: stage.runId, unit: '1' } });
    for (const letter of letters) stage.queue.work.add(letter);
    await settle(stage);
    expect(statesOf(stage)).toMatchObject({ 0: 'committed', 1: 'abandoned' });
    expect(await theUnit(stage)).toMatchObject({ generation: 1 });
    expect(stage.records.writes).toHaveLength(6);
    expect((await trailOf(stage)).entries.map(({ actor }) => actor)).not.toContain(UNATTRIBUTED);
  });

  it('that cannot be read is quarantined again: one letter and one record of it', async () => {
    const stage = await published(accounts(3));
    stage.queue.work.add({ body: '{', labels: {}, group: 'g' });
    await settle(stage);
    const known = stage.ledger.contents().badMessages;
    for (let move = 0; move < 2; move += 1) {
      stage.world.advance(5 * MINUTE_MILLIS);
      await moveBack(stage);
      await wellEnded(stage.reconcile());
    }
    expect(stage.ledger.contents().badMessages).toEqual(known);
    const letters = stage.queue.deadLetters.copies();
    expect(letters.map(({ labels }) => labels)).toEqual([{ reason: 'malformed', digest: messageDigest('{') }]);
  });

  it('while the policy is paused is audited and waits with the rest', async () => {
    const stage = await batchesInQuarantine(2, [0]);
    stage.target.healAll();
    await ask(stage, 'pause');
    stage.intake.state = 'on';
    await moveBack(stage);
    await wellEnded(stage.reconcile());
    expect(statesOf(stage)).toMatchObject({ 0: 'planned' });
    expect(stage.records.writes).toHaveLength(3);
    await ask(stage, 'resume');
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 6 } });
  });

  it('with its consumer killed at any call, is brought back once', { timeout: 60_000 }, async () => {
    const { calls, plays } = await walk<Deployment>({
      make: ({ fate }) =>
        deploy(
          accounts(6),
          {},
          {
            interference: { fate: (call, moment) => (call.process === 'mover' ? fate(call, moment) : 'go') },
          },
        ),
      play: async (stage) => {
        poisonBatch(stage, 0);
        await stage.dispatch();
        await settle(stage);
        stage.target.healAll();
        stage.queue.moveBack(1);
        await stage.consume(await stage.receive(), { name: 'mover' });
        await settle(stage);
      },
      check: (stage) => {
        const [run] = stage.ledger.contents().runs;
        expect(run).toMatchObject({ status: 'complete', closing: { processed: 6, remaining: 0 } });
        expect(stage.records.writes).toHaveLength(6);
        expect(lettersOf(stage)).toEqual({});
        const { units, audit } = stage.ledger.contents();
        expect(units[0]).toMatchObject({ state: 'committed', generation: 1 });
        expect(audit.length).toBeGreaterThanOrEqual(1);
        for (const { entry } of audit) expect(entry).toMatchObject({ actor: UNATTRIBUTED, units: ['0'] });
      },
    });
    expect(plays).toBe(1 + 4 * calls.length);
  });
});
