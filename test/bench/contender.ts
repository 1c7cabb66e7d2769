import type { Cost } from '../../lib/core/cost/cost.ts';
import type { World } from './store.ts';

/** What a contender did, from its first call to its last. */
export interface Counted {
  /** Calls of its clients by operation and table; polling is not among them. */
  readonly calls: ReadonlyMap<string, number>;
  readonly cost: Cost;
  /** Invocations: events of the queue, and one for each scheduled function. */
  readonly invocations: number;
  readonly changed: number;
  /** Records left alone because they were no longer as planned. */
  readonly skipped: number;
  /** Units of work that had to be tried again: messages, or transactions. */
  readonly retries: number;
  readonly logBytes: number;
}

/** One way to change the due records of a world. */
export interface Contender {
  /** Finds the due records and puts its work into the queue, where it has one. */
  plan(): Promise<void>;
  /** Does the work, and whatever is left to do after it. */
  work(): Promise<void>;
  counted(): Counted;
}

/** `calls`: nothing is added to the requests, so that a contender is timed as it was written. */
export type Metering = 'units' | 'calls';

export type MakeContender = (world: World, metering: Metering) => Contender;

export function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
