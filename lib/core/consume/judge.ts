import { isTooOld } from '../control/age.ts';
import type { EpochMillis } from '../identity/instant.ts';
import { batchUnit, positionOf } from '../identity/keys.ts';
import type { PastPause, RunItem, Slice, SliceEntry, UnitItem } from '../ledger/items.ts';
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
  /** The records of this unit, by position in the slice. */
  readonly records: ReadonlyMap<number, SliceEntry>;
}

export type Judgement =
  | { readonly kind: 'work'; readonly work: Work }
  | { readonly kind: 'settled'; readonly why: 'terminal' | 'stale' }
  /** Committed without some of its records, which are units of their own and wait for a person. */
  | { readonly kind: 'split'; readonly work: Work; readonly positions: readonly number[] }
  /** The unit waits for a person; this delivery is a duplicate, or was moved back by hand. */
  | { readonly kind: 'quarantined'; readonly work: Work; readonly unit: UnitItem }
  | { readonly kind: 'cancelled'; readonly run: RunItem; readonly unit: UnitItem | undefined }
  /** Its attempts in the ledger are spent, so that a crash loop is stopped by its own count; or it is over its age. */
  | { readonly kind: 'spent'; readonly work: Work; readonly reason: 'attempts_spent' | 'too_old' }
  | { readonly kind: 'bad'; readonly reason: string };

/** The records of a unit; undefined where the slice has no such record. */
function recordsOf(slice: Slice, unit: string): ReadonlyMap<number, SliceEntry> | undefined {
  const position = positionOf(unit);
  if (position === undefined) return new Map(slice.entries.entries());
  const entry = slice.entries[position];
  return entry === undefined ? undefined : new Map([[position, entry]]);
}

function mismatch(reference: BatchReference, run: RunItem, slice: Slice): string | undefined {
  // Nothing is published by such a run; should a message exist all the same, the record is not touched.
  if (run.settings.mode === 'report-only') return 'report_only';
  if (reference.cutoff !== run.cutoff || reference.policyVersion !== run.policyVersion) return 'not_of_this_run';
  if (reference.tenant !== slice.tenant) return 'not_of_this_batch';
  if (digestOfSlice(slice) !== slice.digest) return 'slice_altered';
  return undefined;
}

/** Judges a delivery against its run's snapshot in the ledger, not against the environment of the moment. */
export function judge(
  reference: BatchReference,
  loaded: LoadedUnit,
  now: EpochMillis,
  pauses: readonly PastPause[],
): Judgement {
  const { run, slice, unit } = loaded;
  if (run === undefined) return { kind: 'bad', reason: 'unknown_run' };
  if (slice === undefined || slice.ordinal >= (run.plan?.batches ?? 0)) return { kind: 'bad', reason: 'unknown_unit' };
  const records = recordsOf(slice, reference.unit);
  if (records === undefined) return { kind: 'bad', reason: 'unknown_unit' };
  const wrong = mismatch(reference, run, slice);
  if (wrong !== undefined) return { kind: 'bad', reason: wrong };
  const work: Work = { run, slice, unit, reference, records };
  if (unit === undefined) {
    // A split unit exists from the moment its batch commits without it.
    if (reference.unit !== batchUnit(slice.ordinal)) return { kind: 'bad', reason: 'unknown_unit' };
    if (reference.generation !== 0) return { kind: 'bad', reason: 'unknown_generation' };
    if (run.status === 'cancelled') return { kind: 'cancelled', run, unit };
    return isTooOld(run, unit, now, pauses) ? { kind: 'spent', work, reason: 'too_old' } : { kind: 'work', work };
  }
  if (isTerminalUnit(unit.state)) {
    const positions = unit.split ?? [];
    return positions.length > 0 ? { kind: 'split', work, positions } : { kind: 'settled', why: 'terminal' };
  }
  if (reference.generation < unit.generation) return { kind: 'settled', why: 'stale' };
  if (reference.generation > unit.generation) return { kind: 'bad', reason: 'unknown_generation' };
  if (unit.state === 'quarantined' || unit.state === 'uncertain') return { kind: 'quarantined', work, unit };
  if (run.status === 'cancelled') return { kind: 'cancelled', run, unit };
  if (unit.attempts >= run.settings.maxAttempts) return { kind: 'spent', work, reason: 'attempts_spent' };
  return isTooOld(run, unit, now, pauses) ? { kind: 'spent', work, reason: 'too_old' } : { kind: 'work', work };
}
