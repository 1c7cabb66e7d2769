import type { RunItem, UnitItem } from '../ledger/items.ts';
import type { UnitState } from '../ledger/lifecycle.ts';
import { OUTCOMES, type Outcome, PROCESSED } from '../ledger/outcomes.ts';
import type { UnreadableReason } from '../policy/timestamp.ts';
import type { RecordNow, RecordState } from './record-now.ts';

/**
 * What became of one record in one run. `changed` and `skipped` are final. `outcome_not_kept`: its batch is committed,
 * but had more exceptions than its item could keep, and the record does not say either. `reported`: the run was
 * report-only, so nothing was to happen.
 */
export type Finding =
  | { readonly kind: 'changed'; readonly outcome: Outcome; readonly saidBy: 'ledger' | 'record' }
  | { readonly kind: 'skipped'; readonly outcome: Outcome }
  | { readonly kind: 'outcome_not_kept' }
  | { readonly kind: 'quarantined'; readonly reason: string | null; readonly errorClass: string | null }
  | { readonly kind: 'unsettled'; readonly state: UnitState }
  | { readonly kind: 'reported' }
  | { readonly kind: 'not_planned'; readonly because: NotPlanned; readonly unreadable: UnreadableReason | null };

/**
 * Why a record is not in a plan, judged by the record as it is now, in the order in which discovery judges. `due`: as
 * it is now it would be planned, so it was another at the time, or an index did not show it yet.
 */
export type NotPlanned =
  | 'plan_not_frozen'
  | 'absent'
  | 'not_a_key'
  | 'unreachable'
  | 'other_state'
  | 'unreadable'
  | 'at_cutoff'
  | 'newer'
  | 'held'
  | 'due';

/** Where the item is missing, the unit's state is read off the run's publish cursor. */
export function unitStateOf(run: RunItem, ordinal: number, unit: UnitItem | undefined): UnitState {
  if (unit !== undefined) return unit.state;
  if (run.status === 'cancelled') return 'cancelled';
  return ordinal < (run.published?.batches ?? 0) ? 'published' : 'planned';
}

/**
 * The outcome that a settled unit's item tells of one position; undefined where it cannot be told. The item names the
 * exceptions by position and counts everything; without them it is sure only where all outcomes are the same.
 */
export function keptOutcome(unit: UnitItem, position: number): Outcome | undefined {
  const { counts = {}, exceptions } = unit;
  for (const outcome of OUTCOMES) if (exceptions?.[outcome]?.includes(position)) return outcome;
  const occurred = OUTCOMES.filter((outcome) => (counts[outcome] ?? 0) > 0);
  const possible = exceptions === undefined ? occurred : occurred.filter((outcome) => PROCESSED.includes(outcome));
  return possible.length === 1 ? possible[0] : undefined;
}

/** What became of a planned record. */
export function judgePlanned(
  run: RunItem,
  state: UnitState,
  unit: UnitItem | undefined,
  position: number,
  carriesKey: boolean,
): Finding {
  if (run.status === 'reported') return { kind: 'reported' };
  const kept = unit !== undefined && state === 'committed' ? keptOutcome(unit, position) : undefined;
  if (kept !== undefined) {
    return PROCESSED.includes(kept)
      ? { kind: 'changed', outcome: kept, saidBy: 'ledger' }
      : { kind: 'skipped', outcome: kept };
  }
  // A unit that is not committed may have changed some of its records; each of them carries the key that proves it.
  if (carriesKey) return { kind: 'changed', outcome: CHANGED[run.kind], saidBy: 'record' };
  if (state === 'committed') return { kind: 'outcome_not_kept' };
  if (state === 'quarantined') {
    return { kind: 'quarantined', reason: unit?.reason ?? null, errorClass: unit?.errorClass ?? null };
  }
  return { kind: 'unsettled', state };
}

const CHANGED: Readonly<Record<RunItem['kind'], Outcome>> = { expire: 'expired', delete: 'deleted', undo: 'undone' };

/** Why a record is in no slice. */
export function judgeUnplanned(run: RunItem, now: RecordNow): Finding {
  if (run.plan === undefined) return notPlanned('plan_not_frozen');
  switch (now.kind) {
    case 'absent':
      return notPlanned('absent');
    case 'not-a-key':
      return notPlanned('not_a_key');
    case 'unreachable':
      return notPlanned('unreachable');
    case 'present':
      return judgeRecord(run, now.record);
  }
}

function judgeRecord(run: RunItem, { state, timestamp, tenant, heldBy }: RecordState): Finding {
  if (state !== run.settings.eligibleState) return notPlanned('other_state');
  if (timestamp.kind === 'unreadable') return notPlanned('unreadable', timestamp.reason);
  if (timestamp.millis === run.cutoff) return notPlanned('at_cutoff');
  if (timestamp.millis > run.cutoff) return notPlanned('newer');
  if (tenant === undefined) return notPlanned('unreadable', 'tenant_unreadable');
  return notPlanned(heldBy.length > 0 ? 'held' : 'due');
}

function notPlanned(because: NotPlanned, unreadable: UnreadableReason | null = null): Finding {
  return { kind: 'not_planned', because, unreadable };
}
