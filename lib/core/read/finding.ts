import { DAY_MILLIS } from '../identity/instant.ts';
import type { RunItem, UnitItem } from '../ledger/items.ts';
import type { UnitState } from '../ledger/lifecycle.ts';
import { OUTCOMES, type Outcome, PROCESSED } from '../ledger/outcomes.ts';
import type { UnreadableReason } from '../policy/timestamp.ts';
import { planOf } from './plan-of.ts';
import type { RecordNow, RecordState } from './record-now.ts';

/**
 * What became of one record in one run. `changed` and `skipped` are final. `deleted_or_gone`: it was removed, and which
 * of the two its batch counted it as is not kept. `outcome_not_kept`: its batch is committed, but had more exceptions
 * than its item could keep, and the record does not say either. `reported`: the run was report-only, so nothing was to
 * happen. `given_up`: a person abandoned its unit or cancelled the run. `refused`: the run was, so nothing was published.
 */
export type Finding =
  | { readonly kind: 'changed'; readonly outcome: Outcome; readonly saidBy: 'ledger' | 'record' }
  | { readonly kind: 'deleted_or_gone' }
  | { readonly kind: 'skipped'; readonly outcome: Outcome }
  | { readonly kind: 'outcome_not_kept' }
  | { readonly kind: 'quarantined'; readonly reason: string | null; readonly errorClass: string | null }
  | { readonly kind: 'given_up'; readonly state: 'abandoned' | 'cancelled' }
  | { readonly kind: 'unsettled'; readonly state: UnitState }
  | { readonly kind: 'reported' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'not_planned'; readonly because: NotPlanned; readonly unreadable: UnreadableReason | null };

/**
 * Why a record is not in a plan, judged by the record as it is now, in the order in which discovery judges.
 * `not_expired_by_us`: a deletion leaves alone what no earlier run of the policy expired. `perhaps_over_limit`: as it is
 * now it is due, and the run had more due records than it may plan. `due`: as it is now it would be planned, so it was
 * another at the time, or an index did not show it yet.
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
  | 'before_window'
  | 'not_expired_by_us'
  | 'held'
  | 'perhaps_over_limit'
  | 'due';

/** Where the item is missing, the unit's state is read off the run's publish cursor. */
export function unitStateOf(run: RunItem, ordinal: number, unit: UnitItem | undefined): UnitState {
  if (unit !== undefined) return unit.state;
  if (run.status === 'cancelled') return 'cancelled';
  return ordinal < (run.published?.batches ?? 0) ? 'published' : 'planned';
}

/**
 * The outcomes that a settled unit's item leaves possible for one position. The item names the exceptions by position
 * and counts everything; without them it is sure only where all outcomes are the same.
 */
export function possibleOutcomes(unit: UnitItem, position: number): readonly Outcome[] {
  const { counts = {}, exceptions } = unit;
  for (const outcome of OUTCOMES) if (exceptions?.[outcome]?.includes(position)) return [outcome];
  const occurred = OUTCOMES.filter((outcome) => (counts[outcome] ?? 0) > 0);
  return exceptions === undefined ? occurred : occurred.filter((outcome) => PROCESSED.includes(outcome));
}

function keptFinding(unit: UnitItem, position: number): Finding | undefined {
  const possible = possibleOutcomes(unit, position);
  const [outcome] = possible;
  if (outcome !== undefined && possible.length === 1) {
    return PROCESSED.includes(outcome) ? { kind: 'changed', outcome, saidBy: 'ledger' } : { kind: 'skipped', outcome };
  }
  // Both mean that the record was removed, and positions are kept of skips only.
  const removed = possible.length > 0 && possible.every((name) => name === 'deleted' || name === 'gone');
  return removed ? { kind: 'deleted_or_gone' } : undefined;
}

/** What became of a planned record. */
export function judgePlanned(
  run: RunItem,
  state: UnitState,
  unit: UnitItem | undefined,
  position: number,
  carriesKey: boolean,
): Finding {
  if (run.status === 'reported' || run.status === 'refused') return { kind: run.status };
  const kept = unit !== undefined && state === 'committed' ? keptFinding(unit, position) : undefined;
  if (kept !== undefined) return kept;
  // A unit that is not committed may have changed some of its records; each of them carries the key that proves it.
  if (carriesKey) return { kind: 'changed', outcome: CHANGED[run.kind], saidBy: 'record' };
  if (state === 'committed') return { kind: 'outcome_not_kept' };
  if (state === 'quarantined') {
    return { kind: 'quarantined', reason: unit?.reason ?? null, errorClass: unit?.errorClass ?? null };
  }
  return state === 'abandoned' || state === 'cancelled' ? { kind: 'given_up', state } : { kind: 'unsettled', state };
}

const CHANGED: Readonly<Record<RunItem['kind'], Outcome>> = { expire: 'expired', delete: 'deleted', undo: 'undone' };

/**
 * Why a record is in no slice. `expiredByUs` tells of a record of a deletion whether an earlier run of the policy
 * expired it.
 */
export async function judgeUnplanned(
  run: RunItem,
  now: RecordNow,
  expiredByUs: (record: RecordState) => Promise<boolean>,
): Promise<Finding> {
  if (planOf(run) === undefined) return run.status === 'refused' ? { kind: 'refused' } : notPlanned('plan_not_frozen');
  switch (now.kind) {
    case 'absent':
      return notPlanned('absent');
    case 'not-a-key':
      return notPlanned('not_a_key');
    case 'unreachable':
      return notPlanned('unreachable');
    case 'present':
      return judgeRecord(run, now.record, expiredByUs);
  }
}

async function judgeRecord(
  run: RunItem,
  record: RecordState,
  expiredByUs: (record: RecordState) => Promise<boolean>,
): Promise<Finding> {
  const { state, timestamp, tenant, heldBy } = record;
  const { windowDays } = run.settings;
  if (state !== soughtState(run)) return notPlanned('other_state');
  if (timestamp.kind === 'unreadable') return notPlanned('unreadable', timestamp.reason);
  if (timestamp.millis === run.cutoff) return notPlanned('at_cutoff');
  if (timestamp.millis > run.cutoff) return notPlanned('newer');
  if (windowDays !== null && timestamp.millis < run.cutoff - windowDays * DAY_MILLIS) {
    return notPlanned('before_window');
  }
  if (run.kind === 'delete' && !(await expiredByUs(record))) return notPlanned('not_expired_by_us');
  if (tenant === undefined) return notPlanned('unreadable', 'tenant_unreadable');
  if (heldBy.length > 0) return notPlanned('held');
  return notPlanned((planOf(run)?.overLimit ?? 0) > 0 ? 'perhaps_over_limit' : 'due');
}

/** The state of the records that a run looks for. */
export function soughtState({ kind, settings }: Pick<RunItem, 'kind' | 'settings'>): string {
  return kind === 'delete' ? settings.expiredState : settings.eligibleState;
}

function notPlanned(because: NotPlanned, unreadable: UnreadableReason | null = null): Finding {
  return { kind: 'not_planned', because, unreadable };
}
