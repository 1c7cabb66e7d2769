import { type DigestChain, EMPTY_CHAIN, extendChain, sameChain } from '../identity/digests.ts';
import type { EpochMillis } from '../identity/instant.ts';
import { ordinalOf } from '../identity/keys.ts';
import { addCost, type Cost, NO_COST } from '../ledger/cost.ts';
import type { ClosingTotals, RunItem, UnitItem } from '../ledger/items.ts';
import { isTerminalUnit } from '../ledger/lifecycle.ts';
import { addCounts, type OutcomeCounts, processedCount, skippedCount } from '../ledger/outcomes.ts';

/** Where a run stands, computed from its batch items and from nothing else. */
export interface Standing {
  readonly terminal: DigestChain;
  readonly outcomes: OutcomeCounts;
  readonly processed: number;
  readonly skipped: number;
  readonly remaining: number;
  readonly quarantinedUnits: number;
  readonly quarantinedRecords: number;
  readonly unresolvedUnits: number;
  /** Units whose items say that they are planned or under way; those without an item are not among them. */
  readonly activeUnits: number;
  readonly cost: Cost;
}

/** Adds up batch items in order of ordinals; in constant memory, for a run may have many. */
export class StandingCount {
  readonly #planned: number;
  readonly #batches: number;
  #terminal: DigestChain = EMPTY_CHAIN;
  #outcomes: OutcomeCounts = {};
  #seen = 0;
  #settled = 0;
  #active = 0;
  #quarantinedUnits = 0;
  #quarantinedRecords = 0;
  #cost: Cost = NO_COST;

  constructor(run: Pick<RunItem, 'plan'>) {
    this.#planned = run.plan?.records ?? 0;
    this.#batches = run.plan?.batches ?? 0;
  }

  add(unit: UnitItem): void {
    // What a dead dispatcher left beyond the plan is no part of it.
    if (ordinalOf(unit.unit) >= this.#batches) return;
    this.#seen += 1;
    this.#cost = addCost(this.#cost, unit.cost ?? NO_COST);
    if (unit.state === 'quarantined') {
      this.#quarantinedUnits += 1;
      this.#quarantinedRecords += unit.records;
    }
    if (!isTerminalUnit(unit.state)) {
      if (unit.state !== 'quarantined') this.#active += 1;
      return;
    }
    this.#settled += 1;
    this.#outcomes = addCounts(this.#outcomes, unit.counts ?? {});
    const accounted = Object.values(unit.counts ?? {}).reduce((sum, count) => sum + count, 0);
    this.#terminal = extendChain(this.#terminal, accounted, unit.keysDigest ?? '');
  }

  standing(): Standing {
    const processed = processedCount(this.#outcomes);
    const skipped = skippedCount(this.#outcomes);
    return {
      terminal: this.#terminal,
      outcomes: this.#outcomes,
      processed,
      skipped,
      remaining: this.#planned - processed - skipped,
      quarantinedUnits: this.#quarantinedUnits,
      quarantinedRecords: this.#quarantinedRecords,
      activeUnits: this.#active,
      unresolvedUnits: this.#batches - this.#settled - this.#quarantinedUnits,
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

/** Compares planned, published and terminal three ways: batches, records, digest. */
export function verdict(run: RunItem, standing: Standing, now: EpochMillis): Verdict {
  const { plan, published } = run;
  if (plan === undefined || published === undefined || standing.unresolvedUnits > 0) return { kind: 'open' };
  if (!sameChain(plan, published)) return { kind: 'mismatch', what: 'published' };
  const { terminal, outcomes, processed, skipped, remaining } = standing;
  const closing: ClosingTotals = { ...terminal, outcomes, processed, skipped, remaining, closedAt: now };
  if (standing.quarantinedUnits > 0) return { kind: 'complete-with-quarantine', closing };
  return sameChain(plan, terminal) && remaining === 0
    ? { kind: 'complete', closing }
    : { kind: 'mismatch', what: 'terminal' };
}
