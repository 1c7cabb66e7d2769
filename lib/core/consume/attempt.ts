import type { Gate } from '../control/gate.ts';
import { keysDigest } from '../identity/digests.ts';
import { digestOf } from '../identity/encode.ts';
import type { UnitItem } from '../ledger/items.ts';
import { PROCESSED } from '../ledger/outcomes.ts';
import {
  type Admission,
  type Deadline,
  type Failure,
  failureOf,
  type Idempotency,
  type RememberedResult,
} from '../ports/index.ts';
import { deferralSeconds, retrySeconds } from '../retry.ts';
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
import { holdUnit, MOVED_ON, type PutBack, retryNow, waitWith } from './put-back.ts';
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
const PAUSED: Failure = { class: 'deferred', error: 'Paused' };
const RATE_LIMITED: Failure = { class: 'deferred', error: 'RateLimited' };

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

  get #back(): PutBack {
    const progress = this.#started === undefined ? 'not-started' : 'started';
    return { ports: this.#ports, delivery: this.#delivery, work: this.#work, attempts: this.#attempts, progress };
  }

  #retry(why: RetryReason, failure: Failure): Decision {
    return retryNow(this.#back, why, failure, this.#told);
  }

  outOfTime(): Decision {
    return this.#retry('out_of_time', OUT_OF_TIME);
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
      if (once.kind === 'in-progress-elsewhere') return this.#retry('in_progress_elsewhere', IN_PROGRESS_ELSEWHERE);
      return { kind: 'acknowledge', why: once.kind === 'ran' ? 'committed' : 'remembered', told: this.#told };
    } catch (error) {
      return this.#decision ?? this.#retry('failed', failureOf(error));
    }
  }

  /** Puts the unit back into the ledger until the policy goes on. */
  hold(): Promise<Decision> {
    return holdUnit(this.#back, { failure: PAUSED, change: {}, told: {} });
  }

  #waitForRate(seconds: number): Promise<Decision> {
    return waitWith(this.#back, 'rate_limited', seconds, { failure: RATE_LIMITED, change: {}, told: {} });
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
    return this.#stop(this.#retry('moved_on', MOVED_ON));
  }

  /** Ends a delivery that may make no further call; its attempt is given back. */
  async #halt(stopped: Stopped, outcomes: Outcomes): Promise<Decision> {
    const { counts } = accountFor(this.#work, outcomes);
    const change = { attempts: this.#attempts - 1, counts };
    const seconds = deferralSeconds(1, this.#ports.random);
    const wait = (failure: Failure) => ({ failure, change, told: this.#told });
    switch (stopped.why) {
      case 'out-of-time':
        return waitWith(this.#back, 'out_of_time', seconds, wait(OUT_OF_TIME));
      case 'unknown':
        return waitWith(this.#back, 'ledger_unavailable', seconds, wait(stopped.failure));
      case 'paused':
        return holdUnit(this.#back, wait(PAUSED));
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
      const change = { attempts, counts, ...noted(again) };
      const seconds = retrySeconds(started.attempts, random);
      return waitWith(this.#back, 'records_failed', seconds, { failure: again, change, told });
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
      return decision === 'moved-on' ? this.#retry('moved_on', MOVED_ON) : decision;
    }
    const givenUp = { reason: reasonOf(failure, this.#ports.target), failure, told, outcomes };
    return givenUp.reason === 'effect_unknown'
      ? doubtUnit(this.#ports, this.#work, this.#delivery.body, givenUp)
      : quarantineUnit(this.#ports, this.#work, this.#delivery.body, givenUp);
  }

  /** Positions and outcomes of changed records, as many as the setting asks for. */
  #sample(outcomes: Outcomes): Pick<Told, 'sample'> {
    const { successSamplePercent } = this.#work.run.settings;
    if (successSamplePercent === null) return {};
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
    return this.#stop(this.#retry('moved_on', MOVED_ON));
  }
}
