import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../lib/core/ports/index.ts';
import type { Act } from '../../../lib/core/redrive/audit.ts';
import { listQuarantine, type RedriveResult, redriveAll } from '../../../lib/core/redrive/redrive.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { accounts, altered, decide, dispatchPorts, published, resent, theRun, theUnit, timeLeft } from './stage.ts';

const ACT: Act = { act: 'redrive', actor: 'arn:aws:iam::1:user/eve', reason: 'mended', requestId: 'req-1' };
const DENIED = { class: 'permanent', error: 'AccessDeniedException' } as const;

function redrive(stage: Deployment): Promise<RedriveResult> {
  return redriveAll(dispatchPorts(stage), ACT, timeLeft());
}

function list(stage: Deployment) {
  return listQuarantine(dispatchPorts(stage), 'accounts');
}

/** Batches of three; those that hold a poisoned record are quarantined, the rest committed, the run closed. */
async function quarantined(batches: number, ...poisoned: readonly string[]): Promise<Deployment> {
  const stage = await published(accounts(3 * batches), {}, { ledger: { paging: { size: 7, emptyPages: 'between' } } });
  for (const id of poisoned) stage.target.poison(id, DENIED);
  await settle(stage);
  expect((await theRun(stage)).status).toBe('complete_with_quarantine');
  return stage;
}

/** The message of batch 0, moved to the dead letters by SQS itself: unlabelled, the ledger knows nothing. */
async function movedByQueue(stage: Deployment): Promise<void> {
  const [copy] = stage.queue.work.copies();
  if (copy === undefined) throw new Error('no message');
  stage.queue.work.drop(copy);
  stage.queue.deadLetters.add({ ...copy, labels: {} }, copy);
}

describe('redrive', () => {
  it('brings back what is quarantined under its next generation, and the run completes', async () => {
    const stage = await quarantined(4, 'a0004');
    expect(await theRun(stage)).toMatchObject({ closing: { processed: 9, remaining: 3 } });
    stage.target.heal('a0004');
    expect(await redrive(stage)).toEqual({
      ...{ redriven: [{ runId: stage.runId, unit: '1', generation: 1 }], published: 1 },
      ...{ deleted: 1, left: 0, truncated: false },
    });
    expect((await theRun(stage)).status).toBe('draining');
    expect(stage.queue.deadLetters.copies()).toEqual([]);
    await settle(stage);
    expect(await theUnit(stage, '1')).toMatchObject({ state: 'committed', generation: 1, attempts: 1 });
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 12, remaining: 0 } });
    expect(stage.records.writes).toHaveLength(12);
  });

  it('a second time finds nothing to do and audits nothing', async () => {
    const stage = await quarantined(3, 'a0004');
    stage.target.heal('a0004');
    await redrive(stage);
    const before = await theRun(stage);
    expect(await redrive(stage)).toEqual({ redriven: [], published: 0, deleted: 0, left: 0, truncated: false });
    expect((await theRun(stage)).auditHead).toEqual(before.auditHead);
    await settle(stage);
    expect(stage.records.writes).toHaveLength(9);
  });

  it('by two persons at once has one effect per record', async () => {
    const stage = await quarantined(4, 'a0000', 'a0004');
    for (const id of ['a0000', 'a0004']) stage.target.heal(id);
    const both = await Promise.all([redrive(stage), redrive(stage)]);
    expect(both.flatMap(({ redriven }) => redriven.map(({ unit }) => unit)).sort()).toEqual(['0', '1']);
    await settle(stage);
    expect(stage.records.writes).toHaveLength(12);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 12 } });
    expect(stage.queue.deadLetters.copies()).toEqual([]);
  });

  it('P61: of batches that always fail stops after those that were there', async () => {
    const stage = await quarantined(10, ...accounts(30).map((row) => String(row.id)));
    for (let time = 1; time <= 3; time += 1) {
      expect(await redrive(stage)).toMatchObject({ published: 10, deleted: 10, truncated: false });
      await settle(stage);
      const generations = stage.queue.deadLetters.copies().map(({ labels }) => labels.generation);
      expect(generations).toEqual(Array.from({ length: 10 }, () => String(time)));
      expect(await theUnit(stage, '4')).toMatchObject({ state: 'quarantined', generation: time, attempts: 1 });
    }
    expect((await theRun(stage)).auditHead.count).toBe(3);
    expect(stage.records.writes).toHaveLength(0);
  });

  it('P61: while a consumer refills the dead letters, the look at them ends', async () => {
    const stage = await quarantined(5, ...accounts(15).map((row) => String(row.id)));
    const receive = stage.queue.receiveDeadLetters.bind(stage.queue);
    let looks = 0;
    stage.queue.receiveDeadLetters = async (seconds) => {
      looks += 1;
      for (let more = 0; more < 10; more += 1) await stage.queue.sendDeadLetter(`refilled ${looks}.${more}`, {}, 'g');
      return receive(seconds);
    };
    const result = await redrive(stage);
    expect(looks).toBe(1);
    expect(result.deleted + result.left).toBe(10);
  });

  it('P61: does not bring back what no redrive can help', async () => {
    const stage = await quarantined(2, 'a0000');
    const [letter] = stage.queue.deadLetters.copies();
    const forged = JSON.stringify({ ...JSON.parse(letter?.body ?? '{}'), tenant: 'other' });
    for (const body of ['{', forged]) await decide(stage, [{ ...resent({ ...blank, body }), messageId: body }]);
    stage.target.heal('a0000');
    expect(await redrive(stage)).toMatchObject({ redriven: [{ unit: '0' }], deleted: 1, left: 2 });
    expect(
      stage.queue.deadLetters
        .visible()
        .map(({ body }) => body)
        .sort(),
    ).toEqual([forged, '{'].sort());
    expect(stage.queue.sent).toHaveLength(3);
  });

  it('marks and brings back a message that SQS moved by itself', async () => {
    const stage = await published(accounts(3));
    await movedByQueue(stage);
    expect(await list(stage)).toMatchObject({ units: [], deadLetters: { movedByQueue: 1, quarantined: 0 } });
    expect(await redrive(stage)).toMatchObject({ redriven: [{ unit: '0', generation: 1 }], published: 1, deleted: 1 });
    const { items } = await stage.ledger.auditTrail({ kind: 'run', runId: stage.runId }, undefined);
    expect(items.map(({ units }) => units)).toEqual([['0']]);
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });

  it('brings back what it has just marked, although the index does not show it yet', async () => {
    const stage = await published(accounts(3), {}, { ledger: { indexLag: 1_000 } });
    await movedByQueue(stage);
    expect(await redrive(stage)).toMatchObject({ redriven: [{ unit: '0', generation: 1 }], deleted: 1 });
    stage.world.advance(1);
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });

  it('leaves the dead letter of a batch that it did not bring back', async () => {
    const stage = await quarantined(2, 'a0000');
    const openUnits = async () => ({ items: [], next: undefined });
    const ports = dispatchPorts(stage, { ledger: altered<Ledger>(stage.ledger, { openUnits }) });
    expect(await redriveAll(ports, ACT, timeLeft())).toMatchObject({ redriven: [], deleted: 0, left: 1 });
    expect(stage.queue.deadLetters.visible()).toHaveLength(1);
  });

  it('deletes the copy of a batch that is long done, and sends nothing for it', async () => {
    const stage = await published(accounts(3));
    const [copy] = stage.queue.work.copies();
    await settle(stage);
    if (copy !== undefined) stage.queue.deadLetters.add({ ...copy, labels: {} });
    expect(await list(stage)).toMatchObject({ deadLetters: { stale: 1 } });
    expect(await redrive(stage)).toMatchObject({ redriven: [], published: 0, deleted: 1 });
    expect((await theRun(stage)).status).toBe('complete');
    expect(stage.queue.sent).toHaveLength(1);
  });

  it.each(['ledger.appendAudit', 'ledger.moveUnit', 'queue.send', 'queue.deleteDeadLetter'])(
    'killed after its %s, a rerun finishes it with one effect per record',
    async (name) => {
      const stage = await quarantined(3, 'a0000', 'a0004');
      for (const id of ['a0000', 'a0004']) stage.target.heal(id);
      let seen = 0;
      stage.crew.interference = {
        fate: (call, moment) => {
          if (call.name !== name || moment !== 'after') return 'go';
          seen += 1;
          return seen === 1 ? 'crash' : 'go';
        },
      };
      expect(await stage.redrive()).toMatchObject({ kind: 'crashed' });
      stage.world.advance(120_000);
      expect(await stage.redrive()).toMatchObject({ kind: 'done' });
      await settle(stage);
      expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 9 } });
      expect(stage.records.writes).toHaveLength(9);
    },
  );
});

describe('the list of what waits for a person', () => {
  it('names units and bad messages, counts dead letters, and changes nothing', async () => {
    const stage = await quarantined(3, 'a0004');
    await decide(stage, [{ ...blank, body: '{' }]);
    const before = stage.ledger.contents();
    const listed = await list(stage);
    expect(listed).toMatchObject({
      units: [{ unit: '1', reason: 'permanent_failure', errorClass: DENIED.error, records: 3, generation: 0 }],
      deadLetters: { quarantined: 1, movedByQueue: 0, stale: 0, unreadable: { malformed: 1 } },
      badMessages: [{ reason: 'malformed' }],
      truncated: false,
    });
    expect(stage.ledger.contents()).toEqual(before);
    expect(stage.queue.deadLetters.visible()).toHaveLength(2);
    expect(await list(stage)).toEqual(listed);
  });

  it('P11: reads bad messages beyond an empty page, and says where there are more than it names', async () => {
    const stage = await published(accounts(3), {}, { ledger: { paging: { size: 7, emptyPages: 'between' } } });
    for (let number = 0; number < 100; number += 1) {
      await stage.ledger.recordBadMessage({ policyId: 'accounts', digest: `d${number}`, reason: 'malformed', at: 0 });
    }
    const full = await list(stage);
    expect([full.badMessages.length, full.truncated]).toEqual([100, false]);
    await stage.ledger.recordBadMessage({ policyId: 'accounts', digest: 'one more', reason: 'malformed', at: 0 });
    const cut = await list(stage);
    expect([cut.badMessages.length, cut.truncated]).toEqual([100, true]);
  });

  it('lets go of the dead letters also where it fails half-way', async () => {
    const stage = await quarantined(9, ...accounts(27).map((row) => String(row.id)));
    stage.signer.forget('key-1');
    const verify = stage.signer.verify.bind(stage.signer);
    stage.signer.verify = async () => {
      throw new Error('no secret');
    };
    await expect(list(stage)).rejects.toThrow('no secret');
    stage.signer.verify = verify;
    stage.world.advance(120_000);
    expect(await list(stage)).toMatchObject({ deadLetters: { unreadable: { unknown_key: 9 } } });
  });
});

const blank = { messageId: 'm', handle: 'h', body: '', labels: {}, group: 'g', receiveCount: 1, sentAt: 0 };
