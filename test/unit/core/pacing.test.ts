import { describe, expect, it } from 'vitest';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import type { Deployment, DeploymentOptions } from '../../helpers/deployment.ts';
import { NO_INTERFERENCE } from '../../helpers/process.ts';
import { settle } from '../../helpers/settle.ts';
import { Timeline } from '../../helpers/timeline.ts';
import { accounts, deploy, theRun } from './stage.ts';

const RECORDS = 5_000;
const RATE = 100;
const CONSUMERS = 5;
const TIMEOUT_MILLIS = 165_000;
const SLOWEST_CALL_MILLIS = 150;

interface Load {
  readonly settings?: Partial<Record<SettingKey, string>>;
  readonly options?: Partial<Omit<DeploymentOptions, 'rows' | 'settings'>>;
  readonly consumers?: number;
  readonly timeoutMillis?: number;
}

/** A whole run, its consumers side by side on virtual time, each with target calls that take a while. */
async function consumedBySeveral({ settings, options, consumers = CONSUMERS, timeoutMillis = TIMEOUT_MILLIS }: Load) {
  const paced = { recordsPerSecond: String(RATE), batchSize: '100', consumerConcurrency: String(consumers) };
  const stage = deploy(
    accounts(RECORDS),
    { ...paced, ...settings },
    {
      source: { paging: { size: 1_000, emptyPages: 'none' } },
      target: { recordsPerCall: 25 },
      ledger: { paging: { size: 100, emptyPages: 'none' } },
      idempotency: { leaseMillis: TIMEOUT_MILLIS },
      queue: { visibilitySeconds: 990 },
      ...options,
    },
  );
  await stage.dispatch();
  const timeline = new Timeline(stage.world);
  stage.crew.interference = {
    ...NO_INTERFERENCE,
    admit: async ({ name }) => {
      if (name === 'target.apply') await timeline.sleep(stage.world.random.below(SLOWEST_CALL_MILLIS));
    },
  };
  let receivedMost = 0;
  const consumer = async () => {
    while (stage.queue.work.copies().length > 0) {
      const deliveries = await stage.receive();
      receivedMost = Math.max(receivedMost, ...deliveries.map((delivery) => delivery.receiveCount));
      if (deliveries.length > 0) await stage.consume(deliveries, { timeoutMillis });
      else await timeline.sleep(500);
    }
  };
  await timeline.drive(Array.from({ length: consumers }, () => consumer));
  stage.crew.interference = NO_INTERFERENCE;
  await settle(stage);
  return { stage, receivedMost, times: stage.records.writes.map((write) => write.at) };
}

/** Most records that were written within so long, wherever one begins to look. */
function mostWithin(times: readonly number[], millis: number): number {
  let most = 0;
  let first = 0;
  for (const [last, time] of times.entries()) {
    while ((times[first] ?? 0) <= time - millis) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

function perSecond(times: readonly number[]): number {
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return times.length / (span / 1000);
}

/** The run went through in one attempt per unit, and nobody has to look at anything. */
async function expectQuiet(stage: Deployment): Promise<void> {
  expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: RECORDS, remaining: 0 } });
  expect(new Set(stage.ledger.contents().units.map((unit) => unit.attempts))).toEqual(new Set([1]));
  expect(stage.queue.deadLetters.copies()).toHaveLength(0);
}

const WITHIN = 1.05;

describe('records per second, summed over all consumers', () => {
  it('stay at or under the setting over the run and over any ten seconds of it, and make use of it', async () => {
    const { stage, times } = await consumedBySeveral({});
    await expectQuiet(stage);
    expect(times).toHaveLength(RECORDS);
    expect(perSecond(times)).toBeLessThanOrEqual(RATE * WITHIN);
    expect(perSecond(times)).toBeGreaterThan(RATE * 0.9);
    expect(mostWithin(times, 10_000)).toBeLessThanOrEqual(RATE * 10 * WITHIN);
  });

  it('without a setting are as many as there can be, so that the measure above is one', async () => {
    const { stage, times } = await consumedBySeveral({ settings: { recordsPerSecond: 'none' } });
    await expectQuiet(stage);
    expect(stage.admission.grants).toEqual([]);
    expect(mostWithin(times, 10_000)).toBeGreaterThan(RATE * 10 * WITHIN);
  });

  it('P31: a unit for which this invocation has no time waits in the queue, spends no attempt and ends in no dead letter', async () => {
    const { stage, times, receivedMost } = await consumedBySeveral({ consumers: 10, timeoutMillis: 12_000 });
    expect(stage.admission.deferrals).toBeGreaterThan(10);
    await expectQuiet(stage);
    expect(receivedMost).toBeGreaterThan(1);
    expect(receivedMost).toBeLessThan(25);
    const waits = stage.decisions.flatMap((decision) =>
      decision.kind === 'retry'
        ? [[decision.why, decision.told.failure.error, decision.told.failure.class].join()]
        : [],
    );
    expect(new Set(waits)).toEqual(new Set(['rate_limited,RateLimited,deferred']));
    expect(perSecond(times)).toBeLessThanOrEqual(RATE * WITHIN);
    expect(mostWithin(times, 10_000)).toBeLessThanOrEqual(RATE * 10 * WITHIN);
  });

  it('are fewer, never more, where answers of the admission are lost', async () => {
    const options = { admission: { fails: 0.2, answerLost: 0.2 } };
    const { stage, times } = await consumedBySeveral({ options, settings: { maxAttempts: '3' } });
    await expectQuiet(stage);
    expect(stage.admission.grants.length).toBeGreaterThan(RECORDS / 100);
    expect(perSecond(times)).toBeLessThan(RATE);
    expect(mostWithin(times, 10_000)).toBeLessThanOrEqual(RATE * 10 * WITHIN);
  });
});
