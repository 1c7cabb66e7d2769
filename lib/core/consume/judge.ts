import { ordinalOf } from '../identity/keys.ts';
import type { RunItem, Slice, UnitItem } from '../ledger/items.ts';
import { isTerminalUnit } from '../ledger/lifecycle.ts';
import { digestOfSlice } from '../plan/open-slices.ts';
import type { LoadedUnit } from '../ports/index.ts';
import type { BatchReference } from '../publish/reference.ts';

/** A unit that may be worked on. */
export interface Work {
  readonly run: RunItem;
  readonly slice: Slice;
  readonly unit: UnitItem | undefined;
  readonly reference: BatchReference;
}

export type Judgement =
  | { readonly kind: 'work'; readonly work: Work }
  | { readonly kind: 'settled'; readonly why: 'terminal' | 'stale' }
  /** The unit waits for a person; this delivery is a duplicate. */
  | { readonly kind: 'quarantined'; readonly unit: UnitItem }
  /** The attempts in the ledger are spent: a crash loop is stopped by its own count. */
  | { readonly kind: 'spent'; readonly work: Work; readonly unit: UnitItem }
  | { readonly kind: 'bad'; readonly reason: string };

function mismatch(reference: BatchReference, run: RunItem, slice: Slice): string | undefined {
  // Nothing is published by such a run; should a message exist all the same, the record is not touched.
  if (run.settings.mode === 'report-only') return 'report_only';
  if (reference.cutoff !== run.cutoff || reference.policyVersion !== run.policyVersion) return 'not_of_this_run';
  if (reference.tenant !== slice.tenant || slice.ordinal !== ordinalOf(reference.unit)) return 'not_of_this_batch';
  if (digestOfSlice(slice) !== slice.digest) return 'slice_altered';
  return undefined;
}

/** Judges a delivery against its run's snapshot in the ledger, not against the environment of the moment. */
export function judge(reference: BatchReference, loaded: LoadedUnit): Judgement {
  const { run, slice, unit } = loaded;
  if (run === undefined) return { kind: 'bad', reason: 'unknown_run' };
  if (slice === undefined || slice.ordinal >= (run.plan?.batches ?? 0)) return { kind: 'bad', reason: 'unknown_unit' };
  const wrong = mismatch(reference, run, slice);
  if (wrong !== undefined) return { kind: 'bad', reason: wrong };
  if (run.status === 'cancelled') return { kind: 'settled', why: 'terminal' };
  const work: Work = { run, slice, unit, reference };
  if (unit === undefined) {
    return reference.generation === 0 ? { kind: 'work', work } : { kind: 'bad', reason: 'unknown_generation' };
  }
  if (isTerminalUnit(unit.state)) return { kind: 'settled', why: 'terminal' };
  if (reference.generation < unit.generation) return { kind: 'settled', why: 'stale' };
  if (reference.generation > unit.generation) return { kind: 'bad', reason: 'unknown_generation' };
  if (unit.state === 'quarantined' || unit.state === 'uncertain') return { kind: 'quarantined', unit };
  return unit.attempts >= run.settings.maxAttempts ? { kind: 'spent', work, unit } : { kind: 'work', work };
}
