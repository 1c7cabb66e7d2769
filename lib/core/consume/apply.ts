import type { EpochMillis } from '../identity/instant.ts';
import { operationKey } from '../identity/keys.ts';
import type { Exceptions, SliceEntry } from '../ledger/items.ts';
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

export type Applied =
  | { readonly kind: 'all'; readonly outcomes: Outcomes }
  | { readonly kind: 'some'; readonly outcomes: Outcomes; readonly failure: Failure }
  | { readonly kind: 'out-of-time'; readonly outcomes: Outcomes };

const ROUNDS = 3;

/** The time over which a unit's calls are spread, so that all consumers together keep the rate. */
export interface Pace {
  readonly from: EpochMillis;
  readonly until: EpochMillis;
}

function workItems({ run, slice }: Work): readonly WorkItem[] {
  const { policyId, policyVersion, cutoff, kind } = run;
  return slice.entries.map(({ key, witness, writeUnits }: SliceEntry) => ({
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

  constructor(ports: ApplyPorts, work: Work) {
    this.#ports = ports;
    this.#work = work;
    this.#firstTry = (work.unit?.attempts ?? 0) === 0 && work.reference.generation === 0;
  }

  get outcomes(): Outcomes {
    return this.#outcomes;
  }

  /** The worst failure of those left: a permanent one decides, since trying again cannot mend it. */
  get failure(): Failure | undefined {
    const failures = [...this.#failures.values()];
    return failures.find((failure) => failure.class === 'permanent') ?? failures[0];
  }

  /** Makes one target call for items that have no outcome yet. */
  async call(items: readonly WorkItem[]): Promise<void> {
    for (const item of items) {
      this.#failures.set(item.key, { class: 'transient', error: 'NoAnswer' });
    }
    try {
      const { kind, settings } = this.#work.run;
      this.#take(await this.#ports.target.apply({ kind, settings, now: this.#ports.clock.now(), items }));
    } catch (error) {
      const failure = failureOf(error);
      for (const item of items) this.#failures.set(item.key, failure);
    }
    for (const item of items) this.#tried.add(item.key);
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
    }
  }

  /** Items worth another try within this delivery. */
  left(items: readonly WorkItem[]): readonly WorkItem[] {
    return items.filter((item) => {
      const failure = this.#failures.get(item.key);
      return failure === undefined ? !this.#outcomes.has(item.key) : failure.class === 'transient';
    });
  }
}

async function keepPace(clock: Clock, { from, until }: Pace, share: number): Promise<void> {
  const wait = from + (until - from) * share - clock.now();
  if (wait > 0) await clock.sleep(wait);
}

/**
 * Applies the transition to every record of a unit, call by call, and tries again what failed for a moment. Starts no
 * call that the remaining time may not cover, and none before its share of the pace has come.
 */
export async function applyUnit(ports: ApplyPorts, work: Work, deadline: Deadline, pace?: Pace): Promise<Applied> {
  const application = new Application(ports, work);
  let items = workItems(work);
  for (let round = 0; round < ROUNDS && items.length > 0; round += 1) {
    if (round > 0) await ports.clock.sleep(backoffMillis(round, ports.random));
    for (let start = 0; start < items.length; start += ports.target.recordsPerCall) {
      if (round === 0 && pace !== undefined) await keepPace(ports.clock, pace, start / items.length);
      if (deadline.remainingMillis() < REMAINING_TIME_MARGIN_MILLIS) {
        return { kind: 'out-of-time', outcomes: application.outcomes };
      }
      await application.call(items.slice(start, start + ports.target.recordsPerCall));
    }
    items = application.left(items);
  }
  const { outcomes, failure } = application;
  return failure === undefined ? { kind: 'all', outcomes } : { kind: 'some', outcomes, failure };
}

/** What the ledger keeps of a unit's outcomes. */
export function accountFor(
  work: Work,
  outcomes: Outcomes,
): { readonly counts: OutcomeCounts; readonly exceptions: Exceptions } {
  const exceptions: { [K in Outcome]?: number[] } = {};
  for (const [position, { key }] of work.slice.entries.entries()) {
    const outcome = outcomes.get(key);
    if (outcome !== undefined && !PROCESSED.includes(outcome)) {
      exceptions[outcome] = [...(exceptions[outcome] ?? []), position];
    }
  }
  const ordered = Object.fromEntries(OUTCOMES.flatMap((name) => (exceptions[name] ? [[name, exceptions[name]]] : [])));
  return { counts: countOutcomes([...outcomes.values()]), exceptions: ordered };
}
