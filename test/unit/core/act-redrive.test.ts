import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { AHEAD_MILLIS } from '../../../lib/core/publish/due.ts';
import type { ActView } from '../../../lib/core/redrive/views.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { together } from '../../helpers/scenarios.ts';
import { settle } from '../../helpers/settle.ts';
import { drawn } from '../../helpers/turns.ts';
import { SeededRandom } from '../../model/index.ts';
import {
  ask,
  batchesInQuarantine,
  layDown,
  lettersOf,
  MINUTE_MILLIS,
  NAMED,
  refusalOf,
  statesOf,
  trailOf,
  wellEnded,
} from './acts-stage.ts';
import { accounts, published, theRun, theUnit } from './stage.ts';

const ALL = { all: true };

/** Batches of three, every one of them in quarantine and mended. */
async function mended(batches: number): Promise<Deployment> {
  const stage = await batchesInQuarantine(batches, [...Array(batches).keys()]);
  stage.target.healAll();
  return stage;
}

async function completes(stage: Deployment, records: number): Promise<void> {
  await settle(stage);
  expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: records, remaining: 0 } });
  expect(stage.records.writes).toHaveLength(records);
  expect(lettersOf(stage)).toEqual({});
}

describe('redrive', () => {
  it('opens the run again, sends each unit under its next generation and keeps its operation keys', async () => {
    const stage = await mended(2);
    expect(lettersOf(stage)).toEqual({ 0: ['0'], 1: ['0'] });
    const done = await ask(stage, 'redrive', ALL);
    expect(done).toMatchObject({ moved: 2, published: 2, deleted: 2, left: 0, next: null, paceEndsAt: null });
    expect((await theRun(stage)).status).toBe('draining');
    expect(await theUnit(stage, '1')).toMatchObject({ state: 'published', generation: 1, attempts: 0 });
    await completes(stage, 6);
    expect(new Set(stage.records.writes.map(({ operationKey }) => operationKey)).size).toBe(6);
  });

  it('a second time, or of what is being worked on, changes nothing and audits nothing', async () => {
    const stage = await mended(2);
    const { selection } = await ask(stage, 'redrive', ALL);
    const { head } = await trailOf(stage);
    const sent = stage.queue.sent.length;
    expect(await ask(stage, 'redrive', ALL)).toMatchObject({ selected: 0, moved: 0, published: 0 });
    expect(await ask(stage, 'redrive', { selection })).toMatchObject({ moved: 0, alreadyMoved: 2, published: 0 });
    await stage.consume(await stage.receive());
    expect(await ask(stage, 'redrive', { selection })).toMatchObject({ moved: 0, alreadyMoved: 2 });
    expect((await trailOf(stage)).head).toEqual(head);
    expect(stage.queue.sent).toHaveLength(sent);
    await completes(stage, 6);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'by two operators, call by call in turns (order %i), moves each unit once',
    async (seed) => {
      const stage = await mended(4);
      const answers: ActView[] = [];
      const operator = (actor: string) => async () => {
        const ended = await stage.act({ act: 'redrive', ...NAMED, actor, ...ALL }, { name: `redrive by ${actor}` });
        if (ended.kind === 'done') answers.push(ended.value as ActView);
        return ended;
      };
      await together(stage, [operator('eve'), operator('max')], drawn(new SeededRandom(seed)));
      const [first, second] = answers;
      expect((first?.moved ?? 0) + (second?.moved ?? 0)).toBe(4);
      const names = answers.flatMap(({ units }) => units.map(({ unit }) => unit));
      expect(names.sort()).toEqual(['0', '1', '2', '3']);
      expect((await trailOf(stage)).verified).toBe(true);
      // Messages that one of them was looking at show again when its look is over.
      stage.world.advance(5 * MINUTE_MILLIS);
      await completes(stage, 12);
    },
  );

  it('by two operators in turns, the one redriving and the other giving up: each unit goes one way', async () => {
    const stage = await mended(4);
    const operator = (act: string) => () => stage.act({ act, ...NAMED, ...ALL }, { name: `redrive ${act}` });
    await together(stage, [operator('redrive'), operator('abandon')], drawn(new SeededRandom(5)));
    const before = statesOf(stage);
    stage.world.advance(5 * MINUTE_MILLIS);
    await settle(stage);
    const { closing, status } = await theRun(stage);
    expect(status).toBe('complete');
    const givenUp = Object.values(before).filter((state) => state === 'abandoned').length;
    expect(closing).toMatchObject({ abandoned: 3 * givenUp, processed: 12 - 3 * givenUp, remaining: 0 });
    expect(stage.records.writes).toHaveLength(12 - 3 * givenUp);
    expect(lettersOf(stage)).toEqual({});
  });

  it('of a unit that failed again under its next generation just before its move leaves it to the next act', async () => {
    const stage = await mended(1);
    const { ledger, world, runId } = stage;
    const { appendAudit } = ledger;
    ledger.appendAudit = async (...parameters) => {
      const change = { since: world.millis, generation: 1 };
      await ledger.moveUnit({ runId, unit: '0' }, 'redrive', { generation: 0 }, change);
      await ledger.moveUnit({ runId, unit: '0' }, 'quarantine', { generation: 1 }, change);
      return appendAudit.apply(ledger, parameters);
    };
    expect(await ask(stage, 'redrive', ALL)).toMatchObject({ selected: 1, moved: 0, alreadyMoved: 1, published: 0 });
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', generation: 1 });
  });

  it('in parts of any size ends where one call does', async () => {
    for (const limit of [1, 2, 3, 5, 7]) {
      const stage = await mended(7);
      const { selection, units } = await ask(stage, 'redrive', { ...ALL, dryRun: true });
      const moved: string[] = [];
      let calls = 0;
      for (let from: number | null = 0; from !== null; calls += 1) {
        const part: ActView = await ask(stage, 'redrive', { selection, limit, from });
        moved.push(...part.units.map(({ unit }) => unit));
        expect(part).toMatchObject({ selection, selected: 7, alreadyMoved: 0, left: 7 - moved.length });
        from = part.next;
      }
      expect([moved, calls]).toEqual([units.map(({ unit }) => unit), Math.ceil(7 / limit)]);
      await completes(stage, 21);
    }
  });

  it('in parts, without saying where to go on, comes to the rest all the same', async () => {
    const stage = await mended(5);
    const { selection } = await ask(stage, 'redrive', { ...ALL, dryRun: true });
    const parts: ActView[] = [];
    for (let part = 0; part < 3; part += 1) parts.push(await ask(stage, 'redrive', { selection, limit: 2 }));
    expect(parts.map(({ moved }) => moved)).toEqual([2, 2, 1]);
    expect(parts.map(({ alreadyMoved }) => alreadyMoved)).toEqual([0, 2, 4]);
    await completes(stage, 15);
  });

  it('that runs out of time says how far it came and goes on from there', async () => {
    const stage = await mended(3);
    const { selection } = await ask(stage, 'redrive', { ...ALL, dryRun: true });
    const short = await ask(stage, 'redrive', { selection }, { timeoutMillis: 29_000 });
    expect(short).toMatchObject({ moved: 0, left: 3, next: 0, deleted: 0 });
    expect(lettersOf(stage)).toEqual({ 0: ['0'], 1: ['0'], 2: ['0'] });
    expect(await ask(stage, 'redrive', { selection, from: 0 })).toMatchObject({ moved: 3, next: null });
    await completes(stage, 9);
  });

  it('at a rate spaces the units: each is due so much later, and no message shows before', async () => {
    const stage = await mended(6);
    const now = stage.world.millis;
    const first = await ask(stage, 'redrive', { ...ALL, perSecond: 0.5 });
    expect(first).toMatchObject({ moved: 6, published: 6, paceEndsAt: new Date(now + 12_000).toISOString() });
    expect(
      (await Promise.all(['0', '1', '5'].map((unit) => theUnit(stage, unit)))).map(({ bornAt }) => bornAt),
    ).toEqual([now, now + 2_000, now + 10_000]);
    const visible: number[] = [];
    for (let second = 0; second < 12; second += 1) {
      visible.push(stage.queue.work.visible().length);
      stage.world.advance(1_000);
    }
    expect(visible).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    await completes(stage, 18);
  });

  it('at a rate, in parts that begin where the last one ended, keeps the rate over all of them', async () => {
    const stage = await mended(6);
    const now = stage.world.millis;
    const { selection } = await ask(stage, 'redrive', { ...ALL, dryRun: true });
    let startAt: string | undefined;
    for (let from: number | null = 0; from !== null; ) {
      const part: ActView = await ask(stage, 'redrive', {
        selection,
        limit: 2,
        from,
        perSecond: 0.5,
        ...(startAt && { startAt }),
      });
      startAt = part.paceEndsAt ?? undefined;
      from = part.next;
      stage.world.advance(500);
    }
    const due = stage.ledger.contents().units.map(({ bornAt }) => (bornAt ?? 0) - now);
    expect(due).toEqual([0, 2_000, 4_000, 6_000, 8_000, 10_000]);
    await completes(stage, 18);
  });

  it('at a low rate keeps in the ledger what is due later than the queue can hold it back', async () => {
    const stage = await mended(4);
    const perSecond = 1 / 360;
    const done = await ask(stage, 'redrive', { ...ALL, perSecond });
    expect(AHEAD_MILLIS).toBeLessThan(900_000);
    expect(done).toMatchObject({ moved: 4, published: 2, deleted: 4 });
    expect(statesOf(stage)).toMatchObject({ 0: 'published', 1: 'published', 2: 'planned', 3: 'planned' });
    const begun = stage.world.millis;
    await completes(stage, 12);
    const starts = stage.ledger.contents().units.map(({ startedAt }) => (startedAt ?? 0) - begun);
    for (const [unit, start] of starts.entries()) expect(start).toBeGreaterThanOrEqual(unit * 360_000);
  });

  it('at a rate says in the dry run until when it would take', async () => {
    const stage = await mended(6);
    const now = stage.world.millis;
    const paced = await ask(stage, 'redrive', { ...ALL, perSecond: 0.5, dryRun: true });
    expect(paced).toMatchObject({ moved: 0, paceEndsAt: new Date(now + 12_000).toISOString() });
    const { selection } = paced;
    expect(await ask(stage, 'redrive', { selection, from: 4, perSecond: 0.5, dryRun: true })).toMatchObject({
      paceEndsAt: new Date(now + 4_000).toISOString(),
    });
    expect(await ask(stage, 'redrive', { ...ALL, dryRun: true })).toMatchObject({ paceEndsAt: null });
  });

  it('at a rate that would take more than a day is refused, dry run and real one, and names a rate that is not', async () => {
    const stage = await published(accounts(3));
    for (let unit = 0; unit < 87; unit += 1) await layDown(stage, String(unit));
    const units = stage.ledger.contents().units;
    for (const dryRun of [true, false]) {
      expect(await refusalOf(ask(stage, 'redrive', { ...ALL, perSecond: 0.001, dryRun }))).toBe(
        'At 0.001 units per second the 87 units take 25 hours; the longest allowed is 24. ' +
          'Give a rate of 0.002 or more (perSecond, --rate), or choose fewer units. Received 0.001.',
      );
    }
    expect(stage.ledger.contents()).toMatchObject({ units, audit: [] });
    const { selection } = await ask(stage, 'redrive', { ...ALL, dryRun: true });
    const rest = { selection, from: 1, perSecond: 0.001 };
    expect(await ask(stage, 'redrive', { ...rest, dryRun: true })).toMatchObject({ selected: 87 });
    expect(await ask(stage, 'redrive', { ...ALL, perSecond: 0.002 })).toMatchObject({ moved: 87 });
  });

  it('of a unit that waits for its time is not hurried by the reconciler', async () => {
    const stage = await mended(1);
    const startAt = new Date(stage.world.millis + DAY_MILLIS).toISOString();
    expect(await ask(stage, 'redrive', { ...ALL, startAt })).toMatchObject({ moved: 1, published: 0 });
    for (let pass = 0; pass < 10; pass += 1) {
      await wellEnded(stage.reconcile());
      stage.world.advance(5 * MINUTE_MILLIS);
    }
    expect(statesOf(stage)).toEqual({ 0: 'planned' });
    expect((await theRun(stage)).status).toBe('draining');
    stage.world.advance(DAY_MILLIS);
    await completes(stage, 3);
  });

  it('whose sends the queue does not confirm leaves the units planned, and the reconciler sends them', async () => {
    const stage = await mended(2);
    const { send } = stage.queue;
    stage.queue.send = async (messages) => ({
      sent: [],
      failed: messages.map(({ id }) => ({ id, code: 'ServiceUnavailable', fault: 'service' })),
    });
    expect(await ask(stage, 'redrive', ALL)).toMatchObject({ moved: 2, published: 0 });
    expect(statesOf(stage)).toEqual({ 0: 'planned', 1: 'planned' });
    stage.queue.send = send;
    await completes(stage, 6);
  });
});

describe('dead letters purged behind our back', () => {
  it('are reported as missing at every pass, and a redrive makes their messages anew', async () => {
    const stage = await mended(3);
    stage.world.advance(DAY_MILLIS);
    expect(await wellEnded(stage.reconcile())).toMatchObject({ missing: 0 });
    stage.queue.purgeDeadLetters();
    for (let pass = 0; pass < 2; pass += 1) expect(await wellEnded(stage.reconcile())).toMatchObject({ missing: 3 });
    expect(stage.log.named('dead_letters_missing')).toMatchObject([
      { level: 'error', fields: { units: 3, quarantined: 3 } },
      { level: 'error' },
    ]);
    expect(statesOf(stage)).toEqual({ 0: 'quarantined', 1: 'quarantined', 2: 'quarantined' });
    expect(await ask(stage, 'redrive', ALL)).toMatchObject({ moved: 3, published: 3, deleted: 0 });
    await completes(stage, 9);
    expect(await wellEnded(stage.reconcile())).toMatchObject({ missing: 0 });
  });

  it('P58: are reported also where they expired by themselves after fourteen days', async () => {
    const stage = await mended(2);
    stage.world.advance(13 * DAY_MILLIS);
    expect(await wellEnded(stage.reconcile())).toMatchObject({ missing: 0 });
    stage.world.advance(DAY_MILLIS);
    expect(await wellEnded(stage.reconcile())).toMatchObject({ missing: 2 });
    await ask(stage, 'redrive', ALL);
    await completes(stage, 6);
  });

  it('are not missed where somebody else is looking at them: that look was not complete', async () => {
    const stage = await mended(3);
    stage.world.advance(DAY_MILLIS);
    await stage.queue.receiveDeadLetters(600);
    expect(await wellEnded(stage.reconcile())).toMatchObject({ missing: 0 });
    expect(stage.log.named('dead_letters_missing')).toEqual([]);
  });
});
