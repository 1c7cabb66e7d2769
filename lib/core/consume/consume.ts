import { keysDigest } from '../identity/digests.ts';
import { digestOf } from '../identity/encode.ts';
import type { UnitItem } from '../ledger/items.ts';
import { REMAINING_TIME_MARGIN_MILLIS } from '../policy/budget.ts';
import {
  type Admission,
  type Deadline,
  type Failure,
  failureOf,
  type Idempotency,
  type RememberedResult,
} from '../ports/index.ts';
import { redeliverySeconds } from '../retry.ts';
import { admit } from './admit.ts';
import { type ApplyPorts, accountFor, applyUnit, type Outcomes, type Pace } from './apply.ts';
import type { Decision, Delivery, RetryReason } from './delivery.ts';
import { judge, type Work } from './judge.ts';
import type { Prepared } from './prepare.ts';
import { type QuarantinePorts, quarantineMessage, quarantineUnit, sendCopy } from './quarantine.ts';

export interface ConsumePorts extends ApplyPorts, QuarantinePorts {
  readonly idempotency: Idempotency;
  readonly admission: Admission;
  /** Whose dead letters these are; a message that cannot be read does not say. */
  readonly policyId: string;
  /** Makes this delivery's claim recognisable, such as the invocation's request id. */
  readonly owner: string;
}

/** Ends the idempotent body without a result, so that nothing is remembered; the decision is carried outside. */
class Undecided extends Error {}

const IN_PROGRESS_ELSEWHERE: Failure = { class: 'deferred', error: 'InProgressElsewhere' };
const OUT_OF_TIME: Failure = { class: 'deferred', error: 'OutOfTime' };
const MOVED_ON: Failure = { class: 'deferred', error: 'MovedOn' };
const RATE_LIMITED: Failure = { class: 'deferred', error: 'RateLimited' };
const GIVEN_UP = {
  attempts_spent: { class: 'permanent', error: 'AttemptsSpent' },
  too_old: { class: 'permanent', error: 'TooOld' },
} as const satisfies Record<string, Failure>;

/** Far below the receive count at which the queue gives up. */
const RECEIVES_TO_WAIT_IN_QUEUE = 5;

/** Units that wait in the ledger come back spread over this time, not all at once. */
const SPREAD_MILLIS = 10 * 60_000;

/** The work of one delivery on one unit. */
class Attempt {
  readonly #ports: ConsumePorts;
  readonly #delivery: Delivery;
  readonly #work: Work;
  readonly #deadline: Deadline;
  #decision: Decision | undefined;
  #pace: Pace | undefined;

  constructor(ports: ConsumePorts, delivery: Delivery, work: Work, deadline: Deadline) {
    this.#ports = ports;
    this.#delivery = delivery;
    this.#work = work;
    this.#deadline = deadline;
  }

  get #attempt(): number {
    return (this.#work.unit?.attempts ?? 0) + 1;
  }

  retry(why: RetryReason, failure: Failure): Extract<Decision, { kind: 'retry' }> {
    const afterSeconds = redeliverySeconds(this.#attempt, this.#ports.random);
    return { kind: 'retry', why, afterSeconds, errorClass: failure.error, failureClass: failure.class };
  }

  async run(): Promise<Decision> {
    const { runId, unit, generation } = this.#work.reference;
    try {
      const admitted = await admit(this.#ports, this.#work, this.#deadline);
      if (admitted.kind === 'later') return await this.#wait(admitted.afterSeconds);
      this.#pace = admitted.kind === 'paced' ? admitted.pace : undefined;
      // Keyed on unit and generation: else a unit that a person brought back would be answered from memory.
      const key = digestOf(['delivery', runId, unit, String(generation)]);
      const once = await this.#ports.idempotency.once(key, () => this.#body());
      if (once.kind === 'in-progress-elsewhere') return this.retry('in_progress_elsewhere', IN_PROGRESS_ELSEWHERE);
      return { kind: 'acknowledge', why: once.kind === 'ran' ? 'committed' : 'remembered' };
    } catch (error) {
      return this.#decision ?? this.retry('failed', failureOf(error));
    }
  }

  /**
   * Waits for the rate: a few times in the queue, then in the ledger. Each wait in the queue spends a receive, and a
   * backlog that takes hours at its rate must not end in the dead-letter queue for it (pitfall P31).
   */
  async #wait(afterSeconds: number): Promise<Decision> {
    if (this.#delivery.receiveCount < RECEIVES_TO_WAIT_IN_QUEUE) {
      return { ...this.retry('rate_limited', RATE_LIMITED), afterSeconds };
    }
    const { reference, unit, slice } = this.#work;
    const { clock, random, ledger } = this.#ports;
    const now = clock.now();
    const moved = await ledger.moveUnit(
      reference,
      'postpone',
      {
        generation: reference.generation,
        attempts: unit?.attempts ?? 0,
        make: { tenant: slice.tenant, records: slice.entries.length },
      },
      {
        since: now,
        notBefore: now + afterSeconds * 1000 + Math.floor(random.next() * SPREAD_MILLIS),
        reason: 'rate_limited',
      },
    );
    return moved.kind === 'moved' ? { kind: 'acknowledge', why: 'postponed' } : this.retry('moved_on', MOVED_ON);
  }

  #stop(decision: Decision): never {
    this.#decision = decision;
    throw new Undecided();
  }

  async #body(): Promise<RememberedResult> {
    const started = await this.#start();
    if (started.state === 'committed') return { state: 'committed', keysDigest: started.keysDigest ?? '' };
    const applied = await applyUnit(this.#ports, this.#work, this.#deadline, this.#pace);
    switch (applied.kind) {
      case 'out-of-time':
        return this.#stop(this.retry('out_of_time', OUT_OF_TIME));
      case 'some':
        return this.#stop(await this.#giveUpOrRetry(applied.failure));
      case 'all':
        return this.#commit(applied.outcomes);
    }
  }

  /** Counts the attempt, before any effect; a unit that somebody committed meanwhile comes back as it stands. */
  async #start(): Promise<UnitItem> {
    const { reference, unit, slice } = this.#work;
    const now = this.#ports.clock.now();
    const moved = await this.#ports.ledger.moveUnit(
      reference,
      'start',
      {
        generation: reference.generation,
        attempts: unit?.attempts ?? 0,
        make: { tenant: slice.tenant, records: slice.entries.length },
      },
      {
        since: now,
        startedAt: now,
        attempts: this.#attempt,
        claim: `${this.#ports.owner}/${this.#delivery.messageId}`,
      },
    );
    if (moved.kind === 'moved') return moved.unit;
    if (moved.unit?.state === 'committed') return moved.unit;
    return this.#stop(this.retry('moved_on', MOVED_ON));
  }

  async #giveUpOrRetry(failure: Failure): Promise<Decision> {
    const { maxAttempts } = this.#work.run.settings;
    if (failure.class === 'permanent' || this.#attempt >= maxAttempts) {
      const reason = failure.class === 'permanent' ? 'permanent_failure' : 'attempts_spent';
      return quarantineUnit(this.#ports, this.#work, this.#delivery.body, reason, failure);
    }
    return this.retry('records_failed', failure);
  }

  async #commit(outcomes: Outcomes): Promise<RememberedResult> {
    const { reference } = this.#work;
    const digest = keysDigest([...outcomes.keys()]);
    const now = this.#ports.clock.now();
    const moved = await this.#ports.ledger.moveUnit(
      reference,
      'commit',
      { generation: reference.generation },
      {
        since: now,
        finishedAt: now,
        ...accountFor(this.#work, outcomes),
        keysDigest: digest,
        cost: this.#ports.meter.take(),
      },
    );
    if (moved.kind === 'moved') return { state: 'committed', keysDigest: digest };
    if (moved.unit?.state === 'committed') return { state: 'committed', keysDigest: moved.unit.keysDigest ?? digest };
    return this.#stop(this.retry('moved_on', MOVED_ON));
  }
}

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
    const failure = failureOf(error);
    return {
      kind: 'retry',
      why: 'failed',
      afterSeconds: redeliverySeconds(delivery.receiveCount, ports.random),
      errorClass: failure.error,
      failureClass: failure.class,
    };
  }
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
    const afterSeconds = redeliverySeconds(delivery.receiveCount, ports.random);
    return { kind: 'retry', why, afterSeconds, errorClass: failure.error, failureClass: failure.class };
  }
  const judgement = judge(prepared.reference, prepared.loaded, ports.clock.now());
  switch (judgement.kind) {
    case 'bad':
      return quarantineMessage(ports, ports.policyId, delivery.body, judgement.reason);
    case 'settled':
      return { kind: 'acknowledge', why: judgement.why };
    case 'quarantined': {
      const { tenant, reason = 'unknown', errorClass = 'unknown', generation } = judgement.unit;
      await sendCopy(ports, delivery.body, tenant, { reason, errorClass, generation: String(generation) });
      return { kind: 'acknowledge', why: 'quarantined' };
    }
    case 'spent':
      return quarantineUnit(ports, judgement.work, delivery.body, judgement.reason, GIVEN_UP[judgement.reason]);
    case 'work': {
      const attempt = new Attempt(ports, delivery, judgement.work, deadline);
      // A lease for no time at all would be no lease (pitfall P42).
      if (deadline.remainingMillis() < 2 * REMAINING_TIME_MARGIN_MILLIS) {
        return attempt.retry('out_of_time', OUT_OF_TIME);
      }
      return attempt.run();
    }
  }
}
