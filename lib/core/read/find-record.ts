import type { RunItem, Slice, SliceEntry } from '../ledger/items.ts';
import type { Ledger } from '../ports/index.ts';
import { MissingSlice } from '../publish/publish.ts';
import { planOf } from './plan-of.ts';

/** Where a record stands in a frozen plan. */
export interface Place {
  readonly slice: Slice;
  /** From 0. */
  readonly position: number;
  readonly entry: SliceEntry;
}

/**
 * Finds the first of some keys in a run's plan by reading its slices in order. Undefined where it is in none of them;
 * throws MissingSlice where one of them is gone, since then nobody can say.
 */
export async function findInPlan(ledger: Ledger, run: RunItem, keys: readonly string[]): Promise<Place | undefined> {
  const batches = planOf(run)?.batches ?? 0;
  let next = 0;
  while (next < batches) {
    const slices = await ledger.slices(run.runId, next, batches);
    if (slices.length === 0) throw new MissingSlice(run.runId, next);
    for (const slice of slices) {
      if (slice.ordinal !== next) throw new MissingSlice(run.runId, next);
      const position = slice.entries.findIndex((entry) => keys.includes(entry.key));
      const entry = slice.entries[position];
      if (entry !== undefined) return { slice, position, entry };
      next += 1;
    }
  }
  return undefined;
}
