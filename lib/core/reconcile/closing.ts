import { addCost, type Cost, NO_COST } from '../cost/cost.ts';
import { type DigestChain, EMPTY_CHAIN, extendChain, sameChain } from '../identity/digests.ts';
import type { EpochMillis } from '../identity/instant.ts';
import type { ClosingTotals, RunItem, UnitItem } from '../ledger/items.ts';
import { isTerminalUnit } from '../ledger/lifecycle.ts';
import { addCounts, type OutcomeCounts, processedCount, skippedCount } from '../ledger/outcomes.ts';
import type { SettledBatch } from './batches.ts';

/** Where a run stands, computed from its batch items and from nothing else. */
export interface Standing {
  readonly terminal: DigestChain;
  readonly outcomes: OutcomeCounts;
  readonly processed: number;
  /** `abandoned` and `cancelled` included. */
  readonly skipped: number;
  /** Records of units that a person gave up, beyond those that an attempt had accounted for. */
  readonly abandoned: number;
  /** Records that a cancelled run left undone, as far as the ledger knows. */
  readonly cancelled: number;
  readonly remaining: number;
  readonly quarantinedUnits: number;
  readonly quarantinedRecords: number;
  readonly unresolvedUnits: number;
  /** Units whose items say that they are planned or under way; those without an item are not among them. */
  readonly activeUnits: number;
  readonly cost: Cost;
}

/** True where a unit waits for a person. */
function waits({ state }: UnitItem): boolean {
  return state === 'quarantined' || state === 'uncertain';
}

function accountedFor(unit: UnitItem): number {
  return Object.values(unit.counts ?? {}).reduce((sum, count) => sum + count, 0);
}

/** Adds up the batches of a run in order of ordinals; in constant memory, for a run may have many. */
export class StandingCount {
  readonly #run: Pick<RunItem, 'plan' | 'status'>;
  readonly #batches: number;
  #terminal: DigestChain = EMPTY_CHAIN;
  #outcomes: OutcomeCounts = {};
  #abandoned = 0;
  #settled = 0;
  #waiting = 0;
  #active = 0;
  #quarantinedUnits = 0;
  #quarantinedRecords = 0;
  #cost: Cost = NO_COST;

  constructor(run: Pick<RunItem, 'plan' | 'status'>) {
    this.#run = run;
    this.#batches = run.plan?.batches ?? 0;
  }

  add({ ordinal, units, keysDigest }: SettledBatch): void {
    // What a dead dispatcher left beyond the plan is no part of it.
    if (ordinal >= this.#batches) return;
    for (const unit of units) this.#addUnit(unit);
    const open = units.filter((unit) => !isTerminalUnit(unit.state));
    if (open.length > 0) {
      if (open.every(waits)) this.#waiting += 1;
      return;
    }
    this.#settled += 1;
    // A unit that was given up accounts for all of its records, by the word of a person.
    const records = units.reduce(
      (sum, unit) => sum + (unit.state === 'abandoned' ? unit.records : accountedFor(unit)),
      0,
    );
    this.#terminal = extendChain(this.#terminal, records, keysDigest);
  }

  #addUnit(unit: UnitItem): void {
    this.#cost = addCost(this.#cost, unit.cost ?? NO_COST);
    if (waits(unit)) {
      this.#quarantinedUnits += 1;
      this.#quarantinedRecords += unit.records;
    } else if (!isTerminalUnit(unit.state)) {
      this.#active += 1;
    } else {
      this.#outcomes = addCounts(this.#outcomes, unit.counts ?? {});
      if (unit.state === 'abandoned') this.#abandoned += unit.records - accountedFor(unit);
    }
  }

  standing(): Standing {
    const planned = this.#run.plan?.records ?? 0;
    const processed = processedCount(this.#outcomes);
    const done = skippedCount(this.#outcomes) + this.#abandoned;
    const left = planned - processed - done;
    // What a cancelled run did not do is no work that remains, but for what waits for a person.
    const cancelled = this.#run.status === 'cancelled' ? left - this.#quarantinedRecords : 0;
    return {
      terminal: this.#terminal,
      outcomes: this.#outcomes,
      processed,
      skipped: done + cancelled,
      abandoned: this.#abandoned,
      cancelled,
      remaining: left - cancelled,
      quarantinedUnits: this.#quarantinedUnits,
      quarantinedRecords: this.#quarantinedRecords,
      activeUnits: this.#active,
      unresolvedUnits: this.#batches - this.#settled - this.#waiting,
      cost: this.#cost,
    };
  }
}

/**
 * Whether a drained run may close. `open`: units are unresolved. `mismatch`: every batch says it is done, but what
 * was planned, published and accounted for is not the same; the run stays open for a person to look at.
 */
export type Verdict =
  | { readonly kind: 'open' }
  | { readonly kind: 'complete' | 'complete-with-quarantine'; readonly closing: ClosingTotals }
  | { readonly kind: 'mismatch'; readonly what: 'published' | 'terminal' };

/** The totals of a run that ends as it stands. */
export function closingOf(standing: Standing, now: EpochMillis): ClosingTotals {
  const { terminal, outcomes, processed, skipped, abandoned, cancelled, remaining } = standing;
  return { ...terminal, outcomes, processed, skipped, abandoned, cancelled, remaining, closedAt: now };
}

/** Compares planned, published and terminal three ways: batches, records, digest. */
export function verdict(run: RunItem, standing: Standing, now: EpochMillis): Verdict {
  const { plan, published } = run;
  if (plan === undefined || published === undefined || standing.unresolvedUnits > 0) return { kind: 'open' };
  if (!sameChain(plan, published)) return { kind: 'mismatch', what: 'published' };
  const closing = closingOf(standing, now);
  if (standing.quarantinedUnits > 0) return { kind: 'complete-with-quarantine', closing };
  return sameChain(plan, standing.terminal) && standing.remaining === 0
    ? { kind: 'complete', closing }
    : { kind: 'mismatch', what: 'terminal' };
}
