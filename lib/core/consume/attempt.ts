import type { Gate } from '../control/gate.ts';
import { keysDigest } from '../identity/digests.ts';
import { digestOf } from '../identity/encode.ts';
import type { UnitChange, UnitItem } from '../ledger/items.ts';
import { PROCESSED } from '../ledger/outcomes.ts';
import {
  type Admission,
  type Deadline,
  type Failure,
  failureOf,
  type Idempotency,
  type RememberedResult,
} from '../ports/index.ts';
import { LONGEST_HIDING_SECONDS, retrySeconds } from '../retry.ts';
import { admit } from './admit.ts';
import {
  type Applied,
  type ApplyPorts,
  accountFor,
  applyUnit,
  mayTryAgain,
  type Outcomes,
  type Pace,
  type Stopped,
} from './apply.ts';
import type { Decision, Delivery, RetryReason, Told } from './delivery.ts';
import type { Work } from './judge.ts';
import {
  doubtUnit,
  isolateRecords,
  mayIsolate,
  noted,
  type QuarantinePorts,
  quarantineUnit,
  reasonOf,
} from './quarantine.ts';

export interface AttemptPorts extends ApplyPorts, QuarantinePorts {
  readonly idempotency: Idempotency;
  readonly admission: Admission;
  readonly gate: Gate;
  /** Makes this delivery's claim recognisable, such as the invocation's request id. */
  readonly owner: string;
}

/** Ends the idempotent body without a result, so that nothing is remembered; the decision is carried outside. */
class Undecided extends Error {}

const IN_PROGRESS_ELSEWHERE: Failure = { class: 'deferred', error: 'InProgressElsewhere' };
const OUT_OF_TIME: Failure = { class: 'deferred', error: 'OutOfTime' };
const MOVED_ON: Failure = { class: 'deferred', error: 'MovedOn' };
const RATE_LIMITED: Failure = { class: 'deferred', error: 'RateLimited' };

/**
 * Far below the receive count at which the queue gives up: each hiding spends a receive, and what waits for hours must
 * not end in the dead-letter queue for it (pitfall P31).
 */
const RECEIVES_TO_WAIT_IN_QUEUE = 5;

/** Units that wait in the ledger come back spread over this time, not all at once. */
const SPREAD_MILLIS = 10 * 60_000;

interface Wait {
  readonly why: RetryReason;
  readonly failure: Failure;
  readonly seconds: number;
  /** What the item keeps of this delivery. */
  readonly change: Omit<UnitChange, 'since'>;
  readonly told: Told;
}

/** The work of one delivery on one unit. */
export class Attempt {
  readonly #ports: AttemptPorts;
  readonly #delivery: Delivery;
  readonly #work: Work;
  readonly #deadline: Deadline;
  #decision: Decision | undefined;
  #pace: Pace | undefined;
  /** The item since this delivery counted its attempt. */
  #started: UnitItem | undefined;
  #told: Told = {};

  constructor(ports: AttemptPorts, delivery: Delivery, work: Work, deadline: Deadline) {
    this.#ports = ports;
    this.#delivery = delivery;
    this.#work = work;
    this.#deadline = deadline;
  }

  /** Attempts that the ledger must still show for this delivery's writes to be right. */
  get #attempts(): number {
    return this.#started?.attempts ?? this.#work.unit?.attempts ?? 0;
  }

  retry(why: RetryReason, failure: Failure): Extract<Decision, { kind: 'retry' }> {
    const attempt = Math.max(1, this.#attempts);
    const seconds = Math.min(LONGEST_HIDING_SECONDS, retrySeconds(attempt, this.#ports.random));
    return { kind: 'retry', why, afterSeconds: seconds, told: { ...this.#told, failure } };
  }

  outOfTime(): Decision {
    return this.retry('out_of_time', OUT_OF_TIME);
  }

  async run(): Promise<Decision> {
    const { runId, unit, generation } = this.#work.reference;
    try {
      const admitted = await admit(this.#ports, this.#work, this.#deadline);
      if (admitted.kind === 'later') return await this.#waitForRate(admitted.afterSeconds);
      this.#pace = admitted.kind === 'paced' ? admitted.pace : undefined;
      // Keyed on unit and generation: else a unit that a person brought back would be answered from memory.
      const key = digestOf(['delivery', runId, unit, String(generation)]);
      const once = await this.#ports.idempotency.once(key, () => this.#body());
      if (once.kind === 'in-progress-elsewhere') return this.retry('in_progress_elsewhere', IN_PROGRESS_ELSEWHERE);
      return { kind: 'acknowledge', why: once.kind === 'ran' ? 'committed' : 'remembered', told: this.#told };
    } catch (error) {
      return this.#decision ?? this.retry('failed', failureOf(error));
    }
  }

  /** Puts the unit back into the ledger until the policy goes on; no attempt is spent and no receive either. */
  async hold(): Promise<Decision> {
    return this.#postpone({ why: 'moved_on', failure: MOVED_ON, seconds: 0, change: {}, told: {} }, 'paused', 0);
  }

  #waitForRate(seconds: number): Promise<Decision> {
    return this.#wait({ why: 'rate_limited', failure: RATE_LIMITED, seconds, change: {}, told: {} });
  }

  /** Waits in the queue, where that is short and has not gone on for long; else in the ledger. */
  async #wait(wait: Wait): Promise<Decision> {
    const { seconds, why, failure, change, told } = wait;
    if (seconds > LONGEST_HIDING_SECONDS || this.#delivery.receiveCount >= RECEIVES_TO_WAIT_IN_QUEUE) {
      return this.#postpone(wait, why, SPREAD_MILLIS);
    }
    if (this.#started !== undefined) {
      const guard = { generation: this.#work.reference.generation, attempts: this.#attempts };
      // Refused where another delivery has taken over, which then keeps its own count.
      await this.#ports.ledger.moveUnit(this.#work.reference, 'release', guard, {
        since: this.#ports.clock.now(),
        ...change,
      });
    }
    return { kind: 'retry', why, afterSeconds: seconds, told: { ...told, failure } };
  }

  async #postpone({ seconds, change, told, failure }: Wait, reason: string, spreadMillis: number): Promise<Decision> {
    const { reference, slice, records } = this.#work;
    const { clock, random, ledger } = this.#ports;
    const now = clock.now();
    const moved = await ledger.moveUnit(
      reference,
      'postpone',
      {
        generation: reference.generation,
        attempts: this.#attempts,
        make: { tenant: slice.tenant, records: records.size },
      },
      { since: now, ...change, notBefore: now + seconds * 1000 + Math.floor(random.next() * spreadMillis), reason },
    );
    if (moved.kind !== 'moved') return this.retry('moved_on', MOVED_ON);
    return { kind: 'acknowledge', why: 'postponed', told: { ...told, failure } };
  }

  #stop(decision: Decision): never {
    this.#decision = decision;
    throw new Undecided();
  }

  async #body(): Promise<RememberedResult> {
    const started = await this.#start();
    if (started.state === 'committed') return { state: 'committed', keysDigest: started.keysDigest ?? '' };
    this.#started = started;
    this.#told = { attempt: started.attempts };
    const applied = await applyUnit(this.#ports, this.#work, {
      deadline: this.#deadline,
      pace: this.#pace,
      stopped: () => this.#stoppedByPerson(),
    });
    this.#told = { ...this.#told, counts: accountFor(this.#work, applied.outcomes).counts };
    switch (applied.kind) {
      case 'stopped':
        return this.#stop(await this.#halt(applied.stopped, applied.outcomes));
      case 'some':
        return this.#stop(await this.#giveUpOrRetry(started, applied));
      case 'all':
        return this.#commit(applied.outcomes);
    }
  }

  async #stoppedByPerson(): Promise<Stopped | undefined> {
    const { policyId, runId } = this.#work.run;
    try {
      const { kind } = await this.#ports.gate.ask(policyId, runId);
      return kind === 'open' ? undefined : { why: kind };
    } catch (error) {
      return { why: 'unknown', failure: failureOf(error) };
    }
  }

  /** Counts the attempt, before any effect; a unit that somebody committed meanwhile comes back as it stands. */
  async #start(): Promise<UnitItem> {
    const { reference, unit, slice, records } = this.#work;
    const now = this.#ports.clock.now();
    const attempts = unit?.attempts ?? 0;
    const moved = await this.#ports.ledger.moveUnit(
      reference,
      'start',
      { generation: reference.generation, attempts, make: { tenant: slice.tenant, records: records.size } },
      {
        since: now,
        startedAt: now,
        attempts: attempts + 1,
        claim: `${this.#ports.owner}/${this.#delivery.messageId}`,
      },
    );
    if (moved.kind === 'moved') return moved.unit;
    if (moved.unit?.state === 'committed') return moved.unit;
    return this.#stop(this.retry('moved_on', MOVED_ON));
  }

  /** Ends a delivery that may make no further call; its attempt is given back. */
  async #halt(stopped: Stopped, outcomes: Outcomes): Promise<Decision> {
    const { counts } = accountFor(this.#work, outcomes);
    const change = { attempts: this.#attempts - 1, counts };
    const wait = { change, told: this.#told, seconds: retrySeconds(1, this.#ports.random) };
    switch (stopped.why) {
      case 'out-of-time':
        return this.#wait({ ...wait, why: 'out_of_time', failure: OUT_OF_TIME });
      case 'unknown':
        return this.#wait({ ...wait, why: 'ledger_unavailable', failure: stopped.failure });
      case 'paused':
        return this.#postpone({ ...wait, seconds: 0, why: 'moved_on', failure: MOVED_ON }, 'paused', 0);
      case 'cancelled':
        return this.#cancel(counts);
    }
  }

  async #cancel(counts: UnitItem['counts']): Promise<Decision> {
    const { reference } = this.#work;
    const now = this.#ports.clock.now();
    await this.#ports.ledger.moveUnit(
      reference,
      'cancel',
      { generation: reference.generation, attempts: this.#attempts },
      {
        since: now,
        finishedAt: now,
        reason: 'cancelled_after_start',
        cost: this.#ports.meter.take(),
        ...(counts === undefined ? {} : { counts }),
      },
    );
    return { kind: 'acknowledge', why: 'cancelled', told: this.#told };
  }

  /** Some records failed: whether to try the unit again, or to give up on them or on the whole of it. */
  async #giveUpOrRetry(started: UnitItem, applied: Extract<Applied, { kind: 'some' }>): Promise<Decision> {
    const { outcomes, failures, changed } = applied;
    const { target, random } = this.#ports;
    const all = [...failures.values()];
    const failure = all.find((one) => !mayTryAgain(one, target)) ?? all[0] ?? MOVED_ON;
    const told: Told = { ...this.#told, failedRecords: failures.size, failure };
    const again = all.find((one) => mayTryAgain(one, target));
    // A delivery that changed something spends no attempt; it can do so only as often as there are records.
    const spent = changed === 0 && started.attempts >= this.#work.run.settings.maxAttempts;
    if (again !== undefined && !spent) {
      const { counts } = accountFor(this.#work, outcomes);
      const attempts = changed === 0 ? started.attempts : started.attempts - 1;
      return this.#wait({
        why: 'records_failed',
        failure: again,
        seconds: retrySeconds(started.attempts, random),
        change: { attempts, counts, ...noted(again) },
        told,
      });
    }
    return this.#giveUp(started, applied, failure, told);
  }

  async #giveUp(
    started: UnitItem,
    { outcomes, failures }: Extract<Applied, { kind: 'some' }>,
    failure: Failure,
    told: Told,
  ): Promise<Decision> {
    if (mayIsolate(this.#work, outcomes, failures)) {
      const decision = await isolateRecords(this.#ports, this.#work, started, { outcomes, failures, told });
      return decision === 'moved-on' ? this.retry('moved_on', MOVED_ON) : decision;
    }
    const givenUp = { reason: reasonOf(failure, this.#ports.target), failure, told, outcomes };
    return givenUp.reason === 'effect_unknown'
      ? doubtUnit(this.#ports, this.#work, this.#delivery.body, givenUp)
      : quarantineUnit(this.#ports, this.#work, this.#delivery.body, givenUp);
  }

  /** Positions and outcomes of changed records, as many as the setting asks for. */
  #sample(outcomes: Outcomes): Pick<Told, 'sample'> {
    const { successSamplePercent } = this.#work.run.settings;
    if (successSamplePercent === 0) return {};
    const sample = [...this.#work.records].flatMap(([position, { key }]) => {
      const outcome = outcomes.get(key);
      const wanted = outcome !== undefined && PROCESSED.includes(outcome);
      return wanted && this.#ports.random.next() * 100 < successSamplePercent ? [{ position, outcome }] : [];
    });
    return { sample };
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
    this.#told = { ...this.#told, ...this.#sample(outcomes) };
    if (moved.kind === 'moved') return { state: 'committed', keysDigest: digest };
    if (moved.unit?.state === 'committed') return { state: 'committed', keysDigest: moved.unit.keysDigest ?? digest };
    return this.#stop(this.retry('moved_on', MOVED_ON));
  }
}
