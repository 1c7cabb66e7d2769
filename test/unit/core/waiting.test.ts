import { describe, expect, it } from 'vitest';
import { retryCeilingSeconds } from '../../../lib/core/retry.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { checkSound, watch } from '../../helpers/soundness.ts';
import { accounts, endsIn, published, theRun, theUnit } from './stage.ts';

const THROTTLED = { class: 'transient', error: 'ThrottlingException', requestId: 'req-3' } as const;
const HOUR = 3_600_000;

/** Every record of a batch of three is throttled. */
async function throttled(settings: Record<string, string> = {}): Promise<Deployment> {
  const stage = await published(accounts(3), settings);
  for (const { id } of accounts(3)) stage.target.poison(String(id), THROTTLED);
  return stage;
}

/** Delivers what comes, a second at a time, and gives the seconds between deliveries. */
async function waits(stage: Deployment, deliveries: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let second = 0; second < 20_000 && times.length < deliveries; second += 1) {
    const received = await stage.receive();
    if (received.length > 0) {
      times.push(stage.world.millis);
      await stage.consume(received);
    }
    stage.world.advance(1_000);
  }
  return times.slice(1).map((time, at) => (time - (times[at] ?? 0)) / 1_000);
}

describe('throttling', () => {
  it.each([1, 2, 3, 4, 5])(
    'for three attempts, then success: committed, each wait within its bounds, no dead letter',
    async (seed) => {
      const stage = await published(accounts(3), {}, { seed });
      for (const { id } of accounts(3)) stage.target.poison(String(id), THROTTLED);
      const seen = watch(stage);
      const between = await waits(stage, 3);
      stage.target.healAll();
      const last = await waits(stage, 1);
      expect(last).toEqual([]);
      for (const [at, seconds] of between.entries()) {
        expect(seconds).toBeGreaterThanOrEqual(1);
        // The retries within a delivery take their seconds too.
        expect(seconds).toBeLessThanOrEqual(retryCeilingSeconds(at + 1) + 15);
      }
      await settle(stage);
      expect(await theUnit(stage)).toMatchObject({ state: 'committed', attempts: 4, counts: { expired: 3 } });
      expect(stage.queue.deadLetters.copies()).toEqual([]);
      checkSound(stage, seen);
    },
  );

  it('for ever is quarantined with its last error class when the attempts are spent', async () => {
    const stage = await throttled({ maxAttempts: '6' });
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({
      ...{
        state: 'quarantined',
        attempts: 6,
        reason: 'attempts_spent',
        errorClass: THROTTLED.error,
        requestId: 'req-3',
      },
    });
    expect(stage.queue.deadLetters.copies().map(({ labels }) => labels)).toEqual([
      { reason: 'attempts_spent', errorClass: THROTTLED.error, generation: '0' },
    ]);
    expect(stage.records.writes).toEqual([]);
  });

  it('over the age cap is quarantined for its age, with attempts left and the last error class', async () => {
    const stage = await throttled({ maxAttempts: '10', unitAgeHours: '1' });
    await stage.consume(await stage.receive());
    stage.world.advance(2 * HOUR);
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({
      state: 'quarantined',
      reason: 'too_old',
      errorClass: THROTTLED.error,
    });
    expect((await theUnit(stage)).attempts).toBeLessThan(10);
  });

  it('keeps its last error between attempts, where a person can see it', async () => {
    const stage = await throttled();
    await stage.consume(await stage.receive());
    expect(await theUnit(stage)).toMatchObject({
      ...{
        state: 'published',
        attempts: 1,
        errorClass: THROTTLED.error,
        failureClass: 'transient',
        requestId: 'req-3',
      },
    });
  });

  it('is told in full at the first failure and at the last, and briefly in between', async () => {
    const stage = await throttled();
    await settle(stage);
    const lines = stage.log.named('delivery').map(({ fields }) => fields);
    expect(lines.map(({ attempt, why }) => [attempt, why])).toEqual([
      ...[1, 2, 3, 4].map((attempt) => [attempt, expect.stringMatching(/records_failed|postponed/)]),
      [5, 'quarantined'],
    ]);
    expect(lines.map((fields) => 'requestId' in fields)).toEqual([true, false, false, false, true]);
    expect(lines.every(({ errorClass }) => errorClass === THROTTLED.error)).toBe(true);
    expect(stage.log.named('unit_quarantined')).toMatchObject([
      { fields: { unit: '0', attempt: 5, reason: 'attempts_spent', errorClass: THROTTLED.error } },
    ]);
  });

  it('of many receives waits in the ledger, so that the queue does not give up', async () => {
    const stage = await throttled({ maxAttempts: '10' });
    await settle(stage);
    expect(stage.decisions.filter(({ why }) => why === 'postponed').length).toBeGreaterThan(0);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', reason: 'attempts_spent', attempts: 10 });
  });
});

describe('an attempt', () => {
  it('that changed something is given back; one that changed nothing is not', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0001', THROTTLED);
    await stage.consume(await stage.receive());
    expect(await theUnit(stage)).toMatchObject({ state: 'published', attempts: 0, counts: { expired: 2 } });
    stage.world.advance(60_000);
    await stage.consume(await stage.receive());
    expect(await theUnit(stage)).toMatchObject({ state: 'published', attempts: 1 });
  });

  it('that ran out of time is given back, however little it did', async () => {
    const stage = await published(accounts(3));
    const end = endsIn(stage.world, 4_000);
    const apply = stage.target.apply.bind(stage.target);
    stage.target.apply = async (call) => {
      stage.world.advance(3_500);
      return apply(call);
    };
    expect(end.remainingMillis()).toBe(4_000);
    await stage.consume(await stage.receive(), { timeoutMillis: 4_000 });
    expect(stage.decisions).toMatchObject([{ kind: 'retry', why: 'out_of_time' }]);
    expect(await theUnit(stage)).toMatchObject({ state: 'published', attempts: 0 });
    stage.target.apply = apply;
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });

  it('is counted before its effect, so that a crash loop ends by its own count', async () => {
    const stage = await published(accounts(3), { maxAttempts: '4' });
    stage.crew.interference = { fate: ({ name }) => (name === 'target.apply' ? 'crash' : 'go') };
    for (let time = 0; time < 8; time += 1) {
      await stage.consume(await stage.receive());
      stage.world.advance(60_000);
    }
    expect(stage.crew.calls.filter(({ name }) => name === 'target.apply')).toHaveLength(4);
    expect(await theUnit(stage)).toMatchObject({ state: 'quarantined', attempts: 4, reason: 'attempts_spent' });
  });
});
