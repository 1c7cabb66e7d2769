import { OUTCOMES } from '../ledger/outcomes.ts';
import { type Deadline, failureOf, type LogFields, type LogLevel } from '../ports/index.ts';
import { type ConsumePorts, consume } from './consume.ts';
import type { Decision, Delivery } from './delivery.ts';
import type { Prepared } from './prepare.ts';

/** Decisions after which a person has to do something, or after which a unit is over without being committed. */
const FINAL: ReadonlySet<string> = new Set(['quarantined', 'uncertain', 'bad_message', 'isolated']);

type Identity = Pick<LogFields, 'runId' | 'policyVersion' | 'unit' | 'generation'>;

function identityOf(prepared: Prepared): Identity {
  if (prepared.kind !== 'loaded') return { runId: null, policyVersion: null, unit: null, generation: null };
  const { runId, policyVersion, unit, generation } = prepared.reference;
  return { runId, policyVersion, unit, generation };
}

function levelOf({ kind, why }: Decision): LogLevel {
  return kind === 'retry' || FINAL.has(why) || why === 'unattributed_redrive_refused' ? 'warn' : 'info';
}

/**
 * The first failure of a unit and its last are told in full; of those between only their class, so that a storm of
 * throttles is one short line per delivery.
 */
function failureFields(decision: Decision): LogFields {
  const { failure, attempt, failedRecords } = decision.told;
  if (failure === undefined) return {};
  const comesAgain = decision.kind === 'retry' || decision.why === 'postponed';
  const repetition = comesAgain && (attempt ?? 1) > 1;
  const brief = { errorClass: failure.error, failureClass: failure.class };
  if (repetition) return brief;
  return {
    ...brief,
    requestId: failure.requestId ?? null,
    cause: failure.cause ?? null,
    failedRecords: failedRecords ?? null,
  };
}

function countFields({ told: { counts } }: Decision): LogFields {
  return Object.fromEntries(OUTCOMES.flatMap((outcome) => (counts?.[outcome] ? [[outcome, counts[outcome]]] : [])));
}

function logDecision(
  { log }: ConsumePorts,
  { receiveCount }: Delivery,
  identity: Identity,
  decision: Decision,
  durationMillis: number,
): void {
  const { kind, why, told } = decision;
  log.event(levelOf(decision), 'delivery', {
    ...identity,
    receiveCount,
    attempt: told.attempt ?? null,
    decision: kind,
    why,
    durationMillis,
    afterSeconds: kind === 'retry' ? decision.afterSeconds : null,
    ...countFields(decision),
    ...failureFields(decision),
  });
  for (const { position, outcome } of told.sample ?? [])
    log.event('info', 'record', { ...identity, position, outcome });
  if (kind === 'retry') return;
  const final = { ...identity, attempt: told.attempt ?? null, reason: told.reason ?? null, ...failureFields(decision) };
  for (const { unit, reason, failure } of told.isolated ?? []) {
    const { error, class: failureClass, requestId = null, cause = null } = failure;
    log.event('warn', 'unit_quarantined', {
      ...final,
      unit,
      reason,
      errorClass: error,
      failureClass,
      requestId,
      cause,
    });
  }
  if (why === 'quarantined') log.event('warn', 'unit_quarantined', final);
  if (why === 'uncertain') log.event('warn', 'unit_uncertain', final);
  if (why === 'bad_message') log.event('warn', 'message_quarantined', final);
  if (why === 'unattributed_redrive' || why === 'unattributed_redrive_refused') {
    log.event('warn', 'unattributed_redrive', { ...identity, result: why });
  }
}

/**
 * Decides a delivery, does its work, logs it and, for a retry, hides the message for as long as the decision says. A
 * message that cannot be hidden comes back when its visibility ends, so that failure is only logged.
 */
export async function workDelivery(
  ports: ConsumePorts,
  delivery: Delivery,
  prepared: Prepared,
  deadline: Deadline,
): Promise<Decision> {
  const began = ports.clock.now();
  const decision = await consume(ports, delivery, prepared, deadline);
  const identity = identityOf(prepared);
  logDecision(ports, delivery, identity, decision, ports.clock.now() - began);
  if (decision.kind === 'acknowledge') return decision;
  try {
    await ports.queue.delay(delivery.handle, decision.afterSeconds);
  } catch (error) {
    ports.log.event('warn', 'delay_failed', { ...identity, errorClass: failureOf(error).error });
  }
  return decision;
}
