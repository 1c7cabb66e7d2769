import type { EpochMillis } from '../identity/instant.ts';
import { batchUnit } from '../identity/keys.ts';
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
  /** Its attempts in the ledger are spent, so that a crash loop is stopped by its own count; or it is over its age. */
  | { readonly kind: 'spent'; readonly work: Work; readonly reason: 'attempts_spent' | 'too_old' }
  | { readonly kind: 'bad'; readonly reason: string };

function mismatch(reference: BatchReference, run: RunItem, slice: Slice): string | undefined {
  // Nothing is published by such a run; should a message exist all the same, the record is not touched.
  if (run.settings.mode === 'report-only') return 'report_only';
  if (reference.cutoff !== run.cutoff || reference.policyVersion !== run.policyVersion) return 'not_of_this_run';
  // A record split from a batch is no unit yet: to run its whole slice in its name would be wrong.
  if (reference.tenant !== slice.tenant || reference.unit !== batchUnit(slice.ordinal)) return 'not_of_this_batch';
  if (digestOfSlice(slice) !== slice.digest) return 'slice_altered';
  return undefined;
}

const HOUR_MILLIS = 3_600_000;

/** Age counts from the freeze or the latest redrive, in the ledger: no hop of a message makes a unit young again. */
function isTooOld(run: RunItem, unit: UnitItem | undefined, now: EpochMillis): boolean {
  const born = unit?.bornAt ?? run.frozenAt ?? now;
  return now - born > run.settings.unitAgeHours * HOUR_MILLIS;
}

/** Judges a delivery against its run's snapshot in the ledger, not against the environment of the moment. */
export function judge(reference: BatchReference, loaded: LoadedUnit, now: EpochMillis): Judgement {
  const { run, slice, unit } = loaded;
  if (run === undefined) return { kind: 'bad', reason: 'unknown_run' };
  if (slice === undefined || slice.ordinal >= (run.plan?.batches ?? 0)) return { kind: 'bad', reason: 'unknown_unit' };
  const wrong = mismatch(reference, run, slice);
  if (wrong !== undefined) return { kind: 'bad', reason: wrong };
  if (run.status === 'cancelled') return { kind: 'settled', why: 'terminal' };
  const work: Work = { run, slice, unit, reference };
  if (unit === undefined) {
    if (reference.generation !== 0) return { kind: 'bad', reason: 'unknown_generation' };
    return isTooOld(run, unit, now) ? { kind: 'spent', work, reason: 'too_old' } : { kind: 'work', work };
  }
  if (isTerminalUnit(unit.state)) return { kind: 'settled', why: 'terminal' };
  if (reference.generation < unit.generation) return { kind: 'settled', why: 'stale' };
  if (reference.generation > unit.generation) return { kind: 'bad', reason: 'unknown_generation' };
  if (unit.state === 'quarantined' || unit.state === 'uncertain') return { kind: 'quarantined', unit };
  if (unit.attempts >= run.settings.maxAttempts) return { kind: 'spent', work, reason: 'attempts_spent' };
  return isTooOld(run, unit, now) ? { kind: 'spent', work, reason: 'too_old' } : { kind: 'work', work };
}
