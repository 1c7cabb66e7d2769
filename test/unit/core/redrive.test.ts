import { describe, expect, it } from 'vitest';
import type { ActView, QuarantineView } from '../../../lib/core/redrive/views.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { accounts, decide, published, resent, theRun, theUnit } from './stage.ts';

const DENIED = { class: 'permanent', error: 'AccessDeniedException' } as const;
const NAMED = { actor: 'arn:aws:iam::1:user/eve', reason: 'mended' };

async function done<T>(ended: Promise<{ readonly kind: string }>): Promise<T> {
  const end = await ended;
  if (end.kind !== 'done') throw new Error(`ended as ${end.kind}`);
  return (end as unknown as { readonly value: T }).value;
}

function redrive(stage: Deployment, which: object = { filter: { errorClass: DENIED.error } }): Promise<ActView> {
  return done(stage.act({ act: 'redrive', ...NAMED, ...which }));
}

function list(stage: Deployment): Promise<QuarantineView> {
  return done(stage.act({ act: 'list' }));
}

/** Batches of three; the poisoned records are units of their own in quarantine, the rest committed, the run closed. */
async function quarantined(batches: number, ...poisoned: readonly string[]): Promise<Deployment> {
  const stage = await published(accounts(3 * batches), {}, { ledger: { paging: { size: 7, emptyPages: 'between' } } });
  for (const id of poisoned) stage.target.poison(id, DENIED);
  await settle(stage);
  expect((await theRun(stage)).status).toBe('complete_with_quarantine');
  return stage;
}

describe('redrive', () => {
  it('brings back the one record that failed, under its next generation, and the run completes', async () => {
    const stage = await quarantined(4, 'a0004');
    expect(await theRun(stage)).toMatchObject({ closing: { processed: 11, remaining: 1 } });
    stage.target.heal('a0004');
    expect(await redrive(stage)).toMatchObject({
      ...{ selected: 1, moved: 1, published: 1, deleted: 1, left: 0, next: null },
      units: [{ runId: stage.runId, unit: '1.1', generation: 0 }],
    });
    expect(stage.queue.deadLetters.copies()).toEqual([]);
    await settle(stage);
    expect(await theUnit(stage, '1.1')).toMatchObject({ state: 'committed', generation: 1, attempts: 1 });
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 12, remaining: 0 } });
    expect(stage.records.writes).toHaveLength(12);
  });

  it('a second time finds nothing to do and audits nothing', async () => {
    const stage = await quarantined(3, 'a0004');
    stage.target.heal('a0004');
    await redrive(stage);
    const before = await theRun(stage);
    expect(await redrive(stage)).toMatchObject({ selected: 0, moved: 0, published: 0, deleted: 0 });
    expect((await theRun(stage)).auditHead).toEqual(before.auditHead);
    await settle(stage);
    expect(stage.records.writes).toHaveLength(9);
  });

  it('by two persons at once has one effect per record', async () => {
    const stage = await quarantined(4, 'a0000', 'a0004');
    for (const id of ['a0000', 'a0004']) stage.target.heal(id);
    const both = await Promise.all([redrive(stage), redrive(stage)]);
    expect(both.reduce((sum, { moved }) => sum + moved, 0)).toBe(2);
    await settle(stage);
    expect(stage.records.writes).toHaveLength(12);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 12 } });
    expect(stage.queue.deadLetters.copies()).toEqual([]);
  });

  it('P61: a unit that always fails comes back twice, and the third time only where that is asked for by name', async () => {
    const stage = await quarantined(2, 'a0004');
    for (const generation of [1, 2]) {
      expect(await redrive(stage)).toMatchObject({ moved: 1, published: 1, deleted: 1 });
      await settle(stage);
      expect(await theUnit(stage, '1.1')).toMatchObject({ state: 'quarantined', generation, attempts: 1 });
      expect(stage.queue.deadLetters.copies().map(({ labels }) => labels.generation)).toEqual([String(generation)]);
    }
    expect(await redrive(stage)).toMatchObject({ moved: 0, leftOut: { generations: 1 } });
    const named = { filter: { errorClass: DENIED.error }, beyondGenerations: true };
    expect(await redrive(stage, named)).toMatchObject({ moved: 1, leftOut: { generations: 0 } });
    expect((await theRun(stage)).auditHead.count).toBe(3);
  });

  it('P61: all of it leaves out what failed for good, which must be named', async () => {
    const stage = await quarantined(2, 'a0004');
    expect(await redrive(stage, { all: true })).toMatchObject({ selected: 0, leftOut: { permanent: 1 } });
    const where = { filter: { run: stage.runId, tenant: 't1' } };
    expect(await redrive(stage, where)).toMatchObject({ selected: 0, leftOut: { permanent: 1 } });
    expect(await redrive(stage, { filter: { run: stage.runId, unit: '1.1' } })).toMatchObject({ moved: 1 });
  });

  it('P61: while a consumer refills the dead letters, the look at them ends', async () => {
    const stage = await quarantined(5, 'a0000', 'a0004');
    const receive = stage.queue.receiveDeadLetters.bind(stage.queue);
    let looks = 0;
    stage.queue.receiveDeadLetters = async (seconds) => {
      looks += 1;
      for (let more = 0; more < 10; more += 1) await stage.queue.sendDeadLetter(`refilled ${looks}.${more}`, {}, 'g');
      return receive(seconds);
    };
    await redrive(stage);
    expect(looks).toBe(1);
  });

  it('P61: does not bring back what no redrive can help', async () => {
    const stage = await quarantined(2, 'a0000');
    const [letter] = stage.queue.deadLetters.copies();
    const forged = JSON.stringify({ ...JSON.parse(letter?.body ?? '{}'), tenant: 'other' });
    for (const body of ['{', forged]) await decide(stage, [{ ...resent({ ...blank, body }), messageId: body }]);
    stage.target.heal('a0000');
    expect(await redrive(stage)).toMatchObject({ moved: 1, deleted: 1 });
    const left = stage.queue.deadLetters.visible().map(({ body }) => body);
    expect(left.sort()).toEqual([forged, '{'].sort());
    expect(stage.queue.sent).toHaveLength(3);
  });

  it.each(['ledger.putSelection', 'ledger.appendAudit', 'ledger.moveUnit', 'queue.send', 'queue.deleteDeadLetters'])(
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
      expect(stage.queue.deadLetters.copies()).toEqual([]);
    },
  );
});

describe('the list of what waits for a person', () => {
  it('groups units, names bad messages, touches no message and changes nothing', async () => {
    const stage = await quarantined(3, 'a0004');
    await decide(stage, [{ ...blank, body: '{' }]);
    const before = stage.ledger.contents();
    const listed = await list(stage);
    expect(listed).toMatchObject({
      ...{ units: 1, records: 1, truncated: false, queues: { work: 0, deadLetter: 2 } },
      groups: [{ reason: 'permanent_failure', errorClass: DENIED.error, failureClass: 'permanent', units: 1 }],
      listed: [{ unit: '1.1', records: 1, attempts: 1, generation: 0 }],
      badMessages: [{ reason: 'malformed' }],
    });
    expect(stage.ledger.contents()).toEqual(before);
    expect(stage.queue.deadLetters.visible()).toHaveLength(2);
    expect(await list(stage)).toEqual(listed);
  });
});

const blank = { messageId: 'm', handle: 'h', body: '', labels: {}, group: 'g', receiveCount: 1, sentAt: 0 };
