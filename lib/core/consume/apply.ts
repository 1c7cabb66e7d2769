import type { EpochMillis } from '../identity/instant.ts';
import { operationKey } from '../identity/keys.ts';
import type { Exceptions } from '../ledger/items.ts';
import { countOutcomes, OUTCOMES, type Outcome, type OutcomeCounts, PROCESSED } from '../ledger/outcomes.ts';
import { REMAINING_TIME_MARGIN_MILLIS } from '../policy/budget.ts';
import type { Clock, Deadline, Failure, Random, RecordResult, Target, WorkItem } from '../ports/index.ts';
import { failureOf } from '../ports/index.ts';
import { backoffMillis } from '../retry.ts';
import type { Work } from './judge.ts';

export interface ApplyPorts {
  readonly target: Target;
  readonly clock: Clock;
  readonly random: Random;
}

/** Outcomes by record key, as the target returned them. */
export type Outcomes = ReadonlyMap<string, Outcome>;

/** Failures by record key, of records that have no outcome. */
export type Failures = ReadonlyMap<string, Failure>;

/** Why no further target call may be made. `unknown`: the ledger does not say whether one may. */
export type Stopped =
  | { readonly why: 'out-of-time' | 'paused' | 'cancelled' }
  | { readonly why: 'unknown'; readonly failure: Failure };

/** `changed`: records that this delivery itself changed; those that an earlier one had changed are no progress. */
export type Applied = { readonly outcomes: Outcomes; readonly changed: number } & (
  | { readonly kind: 'all' }
  | { readonly kind: 'some'; readonly failures: Failures }
  | { readonly kind: 'stopped'; readonly stopped: Stopped }
);

const ROUNDS = 3;

/** The time over which a unit's calls are spread, so that all consumers together keep the rate. */
export interface Pace {
  readonly from: EpochMillis;
  readonly until: EpochMillis;
}

/** What is asked before each target call. */
export interface CallPermit {
  readonly deadline: Deadline;
  readonly pace: Pace | undefined;
  /** Undefined where the call may be made. */
  readonly stopped: () => Promise<Stopped | undefined>;
}

function workItems({ run, records }: Work): readonly WorkItem[] {
  const { policyId, policyVersion, cutoff, kind } = run;
  return [...records.values()].map(({ key, witness, writeUnits }) => ({
    key,
    witness,
    writeUnits,
    operationKey: operationKey({ policyId, policyVersion, recordKey: key, cutoff, kind }),
  }));
}

/** The tries of one delivery at the records of its unit. */
class Application {
  readonly #ports: ApplyPorts;
  readonly #work: Work;
  readonly #outcomes = new Map<string, Outcome>();
  readonly #failures = new Map<string, Failure>();
  /** Records that an earlier try may have changed without our knowing: its answer, or its delivery, was lost. */
  readonly #tried = new Set<string>();
  readonly #firstTry: boolean;
  #changed = 0;

  constructor(ports: ApplyPorts, work: Work) {
    this.#ports = ports;
    this.#work = work;
    // A record is split from its batch because a try at it failed.
    const alone = work.records.size < work.slice.entries.length;
    this.#firstTry = (work.unit?.startedAt ?? 0) === 0 && work.reference.generation === 0 && !alone;
  }

  get told(): { readonly outcomes: Outcomes; readonly changed: number } {
    return { outcomes: this.#outcomes, changed: this.#changed };
  }

  get failures(): Failures {
    return this.#failures;
  }

  /** Makes one target call for items that have no outcome yet. */
  async call(items: readonly WorkItem[]): Promise<void> {
    for (const item of items) {
      this.#failures.set(item.key, { class: 'uncertain', error: 'NoAnswer' });
    }
    try {
      const { kind, settings } = this.#work.run;
      this.#take(await this.#ports.target.apply({ kind, settings, now: this.#ports.clock.now(), items }));
    } catch (error) {
      const failure = failureOf(error);
      for (const item of items) this.#failures.set(item.key, failure);
    }
    for (const { key } of items) if (this.#failures.get(key)?.effect !== 'none') this.#tried.add(key);
  }

  /** A deletion that finds nothing where an earlier try may have deleted it: we cannot say that somebody else did. */
  #outcomeOf(key: string, outcome: Outcome): Outcome {
    const perhapsOurs = !this.#firstTry || this.#tried.has(key);
    return outcome === 'absent' && this.#work.run.kind === 'delete' && perhapsOurs ? 'gone' : outcome;
  }

  #take(results: readonly RecordResult[]): void {
    for (const result of results) {
      // An answer about a record that was not asked for is no answer.
      if (!this.#failures.has(result.key)) continue;
      if (result.kind === 'failed') {
        this.#failures.set(result.key, result.failure);
        continue;
      }
      this.#failures.delete(result.key);
      this.#outcomes.set(result.key, this.#outcomeOf(result.key, result.outcome));
      if (result.applied === 'now') this.#changed += 1;
    }
  }

  /** Items worth another try within this delivery. */
  left(items: readonly WorkItem[]): readonly WorkItem[] {
    return items.filter(({ key }) => {
      const failure = this.#failures.get(key);
      return failure === undefined ? !this.#outcomes.has(key) : mayTryAgain(failure, this.#ports.target);
    });
  }
}

/** An effect that may or may not have happened is tried again only where trying twice does no harm. */
export function mayTryAgain(failure: Failure, target: Pick<Target, 'idempotency'>): boolean {
  if (failure.class === 'uncertain') return target.idempotency === 'idempotent';
  return failure.class !== 'permanent';
}

async function keepPace(clock: Clock, { from, until }: Pace, share: number): Promise<void> {
  const wait = from + (until - from) * share - clock.now();
  if (wait > 0) await clock.sleep(wait);
}

/**
 * Applies the transition to every record of a unit, call by call, and tries again what failed for a moment. Starts no
 * call that the remaining time may not cover, none before its share of the pace has come, and none that is not
 * permitted at that very moment.
 */
export async function applyUnit(ports: ApplyPorts, work: Work, permit: CallPermit): Promise<Applied> {
  const application = new Application(ports, work);
  let items = workItems(work);
  for (let round = 0; round < ROUNDS && items.length > 0; round += 1) {
    if (round > 0) await ports.clock.sleep(backoffMillis(round, ports.random));
    for (let start = 0; start < items.length; start += ports.target.recordsPerCall) {
      if (round === 0 && permit.pace !== undefined) await keepPace(ports.clock, permit.pace, start / items.length);
      const outOfTime = permit.deadline.remainingMillis() < REMAINING_TIME_MARGIN_MILLIS;
      const stopped: Stopped | undefined = outOfTime ? { why: 'out-of-time' } : await permit.stopped();
      if (stopped !== undefined) return { kind: 'stopped', ...application.told, stopped };
      await application.call(items.slice(start, start + ports.target.recordsPerCall));
    }
    items = application.left(items);
  }
  const { told, failures } = application;
  return failures.size === 0 ? { kind: 'all', ...told } : { kind: 'some', ...told, failures };
}

/** What the ledger keeps of a unit's outcomes. */
export function accountFor(
  work: Work,
  outcomes: Outcomes,
): { readonly counts: OutcomeCounts; readonly exceptions: Exceptions } {
  const exceptions: { [K in Outcome]?: number[] } = {};
  for (const [position, { key }] of work.records) {
    const outcome = outcomes.get(key);
    if (outcome !== undefined && !PROCESSED.includes(outcome)) {
      exceptions[outcome] = [...(exceptions[outcome] ?? []), position];
    }
  }
  const ordered = Object.fromEntries(OUTCOMES.flatMap((name) => (exceptions[name] ? [[name, exceptions[name]]] : [])));
  return { counts: countOutcomes([...outcomes.values()]), exceptions: ordered };
}
