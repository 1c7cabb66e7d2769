import { splitUnitOf } from '../identity/keys.ts';
import type { PastPause, RunItem, UnitItem } from '../ledger/items.ts';
import { REMAINING_TIME_MARGIN_MILLIS, TIME_BUDGETS } from '../policy/budget.ts';
import { type Deadline, type Failure, failureOf, type Log } from '../ports/index.ts';
import { redriveByHand } from '../redrive/by-hand.ts';
import { deferralSeconds } from '../retry.ts';
import { Attempt, type AttemptPorts } from './attempt.ts';
import { ensureCopies, GENERATION_LABEL, hasCopy, sendCopy } from './copies.ts';
import type { Decision, Delivery, RetryReason } from './delivery.ts';
import { type Judgement, judge } from './judge.ts';
import type { Prepared } from './prepare.ts';
import { quarantineMessage, quarantineUnit } from './quarantine.ts';

export interface ConsumePorts extends AttemptPorts {
  readonly log: Log;
  /** Whose dead letters these are; a message that cannot be read does not say. */
  readonly policyId: string;
}

const GIVEN_UP = {
  attempts_spent: { class: 'transient', error: 'AttemptsSpent' },
  too_old: { class: 'transient', error: 'TooOld' },
} as const satisfies Record<string, Failure>;

/** A key that nobody knew so often will not be known any more. */
const RECEIVES_TO_DOUBT_A_KEY = 10;

/**
 * Decides one delivery and does its work. The ledger is written before the decision is returned, and the message is
 * acknowledged only after that. Never throws: a failure is a retry.
 */
export async function consume(
  ports: ConsumePorts,
  delivery: Delivery,
  prepared: Prepared,
  deadline: Deadline,
): Promise<Decision> {
  try {
    return await decide(ports, delivery, prepared, deadline);
  } catch (error) {
    return retryOf(ports, delivery, 'failed', failureOf(error));
  }
}

function retryOf(ports: ConsumePorts, delivery: Delivery, why: RetryReason, failure: Failure): Decision {
  return { kind: 'retry', why, afterSeconds: deferralSeconds(delivery.receiveCount, ports.random), told: { failure } };
}

async function decide(
  ports: ConsumePorts,
  delivery: Delivery,
  prepared: Prepared,
  deadline: Deadline,
): Promise<Decision> {
  if (prepared.kind === 'bad') return quarantineMessage(ports, ports.policyId, delivery.body, prepared.reason);
  if (prepared.kind === 'unavailable') {
    const { why, failure } = prepared;
    const hopeless = failure.error === 'UnknownKey' && delivery.receiveCount >= RECEIVES_TO_DOUBT_A_KEY;
    if (hopeless) return quarantineMessage(ports, ports.policyId, delivery.body, why);
    return retryOf(ports, delivery, why, failure);
  }
  const now = ports.clock.now();
  const { reference, loaded } = prepared;
  const first = judge(reference, loaded, now, []);
  // Only what would be worked on, or given up, depends on what a person holds back.
  if (first.kind !== 'work' && first.kind !== 'spent') return settle(ports, delivery, first);
  const passage = await ports.gate.ask(first.work.run.policyId, reference.runId);
  switch (passage.kind) {
    case 'paused':
      return new Attempt(ports, delivery, first.work, deadline).hold();
    case 'cancelled':
      return settle(ports, delivery, { kind: 'cancelled', run: first.work.run, unit: loaded.unit });
    case 'open':
      return carryOut(ports, delivery, prepared, passage.pauses, deadline);
  }
}

async function carryOut(
  ports: ConsumePorts,
  delivery: Delivery,
  { reference, loaded }: Extract<Prepared, { kind: 'loaded' }>,
  pauses: readonly PastPause[],
  deadline: Deadline,
): Promise<Decision> {
  const judgement = judge(reference, loaded, ports.clock.now(), pauses);
  if (judgement.kind !== 'work') return settle(ports, delivery, judgement);
  const attempt = new Attempt(ports, delivery, judgement.work, deadline);
  // A lease for no time at all would be no lease (pitfall P42).
  if (deadline.remainingMillis() < 2 * REMAINING_TIME_MARGIN_MILLIS) return attempt.outOfTime();
  return attempt.run();
}

/** Answers a delivery whose unit is not to be worked on. */
async function settle(
  ports: ConsumePorts,
  delivery: Delivery,
  judgement: Exclude<Judgement, { kind: 'work' }>,
): Promise<Decision> {
  switch (judgement.kind) {
    case 'bad':
      return quarantineMessage(ports, ports.policyId, delivery.body, judgement.reason);
    case 'settled':
      return { kind: 'acknowledge', why: judgement.why, told: {} };
    case 'split': {
      const { work, positions } = judgement;
      const units = positions.map((position) => splitUnitOf(work.reference.unit, position));
      await ensureCopies(ports, work.run, units);
      return { kind: 'acknowledge', why: 'terminal', told: {} };
    }
    case 'cancelled':
      return closeCancelled(ports, delivery, judgement);
    case 'quarantined':
      return settleQuarantined(ports, delivery, judgement);
    case 'spent':
      return giveUp(ports, delivery, judgement);
  }
}

/** What failed last says more than that it failed too often. */
function giveUp(
  ports: ConsumePorts,
  delivery: Delivery,
  { work, reason }: Extract<Judgement, { kind: 'spent' }>,
): Promise<Decision> {
  const { errorClass, failureClass, requestId, attempts } = work.unit ?? {};
  const failure: Failure = {
    error: errorClass ?? GIVEN_UP[reason].error,
    class: failureClass ?? GIVEN_UP[reason].class,
    ...(requestId === undefined ? {} : { requestId }),
  };
  const told = attempts === undefined ? {} : { attempt: attempts };
  return quarantineUnit(ports, work, delivery.body, { reason, failure, told });
}

const IN_HAND: Failure = { class: 'deferred', error: 'InProgressElsewhere' };

/** True where another delivery may have the unit in hand and is about to say what it did. */
function mayBeInHand(run: RunItem, unit: UnitItem, now: number): boolean {
  const { functionTimeoutSeconds } = TIME_BUDGETS[run.settings.batchTimeBudgetSeconds];
  return unit.state === 'in_progress' && now - unit.since < functionTimeoutSeconds * 1000;
}

/** A unit of a cancelled run that had been started is closed by the next delivery; its item tells what was counted. */
async function closeCancelled(
  ports: ConsumePorts,
  delivery: Delivery,
  { run, unit }: Extract<Judgement, { kind: 'cancelled' }>,
): Promise<Decision> {
  if (unit !== undefined) {
    const now = ports.clock.now();
    // Closed by a duplicate, it would keep nothing of what the delivery before had changed.
    if (mayBeInHand(run, unit, now)) return retryOf(ports, delivery, 'in_progress_elsewhere', IN_HAND);
    const { generation, attempts } = unit;
    const reason = unit.startedAt === undefined ? 'cancelled' : 'cancelled_after_start';
    await ports.ledger.moveUnit(unit, 'cancel', { generation, attempts }, { since: now, finishedAt: now, reason });
  }
  return { kind: 'acknowledge', why: 'cancelled', told: {} };
}

/**
 * A labelled message of the quarantined generation was moved back by hand; a message without the label is a duplicate,
 * and never taken for a redrive.
 */
async function settleQuarantined(
  ports: ConsumePorts,
  delivery: Delivery,
  { work, unit }: Extract<Judgement, { kind: 'quarantined' }>,
): Promise<Decision> {
  const movedBack = delivery.labels[GENERATION_LABEL] === String(unit.generation);
  const told = unit.errorClass === undefined ? {} : { failure: failureNoted(unit) };
  if (!movedBack) {
    if (!hasCopy(unit)) await sendCopy(ports, delivery.body, unit);
    return { kind: 'acknowledge', why: 'duplicate_of_quarantined', told };
  }
  const mayCome = unit.state === 'quarantined' && work.run.status !== 'cancelled';
  const result = mayCome ? await redriveByHand(ports, unit, work.run.settings.redriveGenerations) : 'refused';
  if (result === 'redriven') return { kind: 'acknowledge', why: 'unattributed_redrive', told };
  // The message left the dead-letter queue, so it is put back.
  await sendCopy(ports, delivery.body, unit);
  return { kind: 'acknowledge', why: 'unattributed_redrive_refused', told };
}

function failureNoted({ errorClass = 'unknown', failureClass = 'transient' }: LastFailure): Failure {
  return { error: errorClass, class: failureClass };
}

interface LastFailure {
  readonly errorClass?: string;
  readonly failureClass?: Failure['class'];
}
