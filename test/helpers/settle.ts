import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import { isFinishedRun, isTerminalUnit } from '../../lib/core/ledger/lifecycle.ts';
import type { Deployment } from './deployment.ts';

const RECONCILER_PERIOD_MILLIS = 5 * 60_000;
const SHORT_PASSES = 60;
/** After these a message has outlived both queues. */
const LONG_PASSES = 90;

/** The run did not come to rest. */
export class Restless extends Error {}

function isAtRest(deployment: Deployment): boolean {
  const { runs, units } = deployment.ledger.contents();
  return (
    runs.length > 0 &&
    runs.every(
      (run) =>
        isFinishedRun(run.status) &&
        (run.status !== 'cancelled' || (run.closing?.closedAt ?? 0) > (run.cancelledAt ?? 0)),
    ) &&
    units.every((unit) => isTerminalUnit(unit.state) || unit.state === 'quarantined') &&
    deployment.resumer.requested.length === 0 &&
    deployment.queue.work.copies().length === 0
  );
}

export interface Meanwhile {
  /** What people do after the plan is frozen and before its first delivery. */
  readonly beforeFirstDelivery?: (deployment: Deployment) => void;
  /** What people do before every invocation of the consumer. */
  readonly beforeConsumer?: (deployment: Deployment) => void;
  /** What people do after every invocation of the consumer. */
  readonly afterConsumer?: (deployment: Deployment) => void;
}

/** Delivers what is visible until nothing is. */
export async function deliverAll(deployment: Deployment, meanwhile: Meanwhile = {}): Promise<void> {
  for (;;) {
    const deliveries = await deployment.receive();
    if (deliveries.length === 0) return;
    if (deployment.decisions.length === 0 && deployment.records.writes.length === 0) {
      meanwhile.beforeFirstDelivery?.(deployment);
    }
    meanwhile.beforeConsumer?.(deployment);
    await deployment.consume(deliveries);
    meanwhile.afterConsumer?.(deployment);
  }
}

/**
 * Lets the deployed pipeline run on by itself: deliveries, the reconciler's schedule, the dispatches that it asks for,
 * and the scheduler's own retry where no run was made. Ends when every run is finished, no unit is under
 * way and the work queue is empty.
 */
export async function settle(deployment: Deployment, meanwhile: Meanwhile = {}): Promise<void> {
  for (let pass = 0; pass < SHORT_PASSES + LONG_PASSES; pass += 1) {
    if (deployment.ledger.contents().runs.length === 0) await deployment.dispatch();
    await deliverAll(deployment, meanwhile);
    await deployment.reconcile();
    for (const run of deployment.resumer.taken()) await deployment.resume(run);
    if (isAtRest(deployment)) return;
    deployment.world.advance(pass < SHORT_PASSES ? RECONCILER_PERIOD_MILLIS : DAY_MILLIS);
  }
  throw new Restless(describe(deployment));
}

function describe(deployment: Deployment): string {
  const { runs, units } = deployment.ledger.contents();
  const states = units.map(({ unit, state, attempts, generation }) => `${unit}:${state}/${attempts}/${generation}`);
  const { work, deadLetters } = deployment.queue;
  return [
    `no rest: run ${runs.map((run) => run.status).join()}`,
    `units ${states.join(' ')}`,
    `${work.copies().length} messages, ${deadLetters.copies().length} dead letters`,
    `log ${JSON.stringify(deployment.log.events.slice(-3))}`,
  ].join('; ');
}

/** What waits of a cancelled run can only be given up; so can a message that nobody can read. */
async function abandonCancelled(deployment: Deployment): Promise<void> {
  const named = { act: 'abandon', actor: 'someone', reason: 'to an end' };
  const { runs, badMessages } = deployment.ledger.contents();
  for (const { runId, status } of runs) {
    if (status === 'cancelled') await deployment.act({ ...named, filter: { run: runId } });
  }
  for (const { digest, abandonedAt } of badMessages) {
    if (abandonedAt === undefined) await deployment.act({ ...named, message: digest });
  }
}

/** What a person does in the end: redrives what may come back, and gives up the rest. */
export async function bringBack(deployment: Deployment): Promise<void> {
  deployment.target.healAll();
  const isOpen = () => deployment.ledger.contents().units.some((unit) => unit.state === 'quarantined');
  for (let tries = 0; isOpen() || deployment.queue.deadLetters.copies().length > 0; tries += 1) {
    if (tries > 5) throw new Error('redrives leave something behind');
    deployment.world.advance(5 * 60_000);
    await deployment.redrive();
    await abandonCancelled(deployment);
    await settle(deployment);
  }
}

/** As `bringBack`, where nothing may be left. */
export async function bringBackEverything(deployment: Deployment): Promise<void> {
  await bringBack(deployment);
  const finished = ['complete', 'cancelled'];
  const runs = deployment.ledger.contents().runs.filter((run) => !finished.includes(run.status));
  if (runs.length > 0) throw new Error(`a run ends as ${runs.map((run) => run.status).join()}`);
}
