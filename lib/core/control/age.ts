import type { EpochMillis } from '../identity/instant.ts';
import type { PastPause, RunItem, UnitItem } from '../ledger/items.ts';

const HOUR_MILLIS = 3_600_000;

function overlapMillis(pause: PastPause, from: EpochMillis, until: EpochMillis): number {
  return Math.max(0, Math.min(pause.until, until) - Math.max(pause.from, from));
}

/**
 * True where a unit could not be completed within its age cap. Age counts from the freeze or the latest redrive, in the
 * ledger: no hop of a message makes a unit young again. Time in which a person held the policy is nobody's age.
 */
export function isTooOld(
  run: RunItem,
  unit: Pick<UnitItem, 'bornAt'> | undefined,
  now: EpochMillis,
  pauses: readonly PastPause[],
): boolean {
  const born = unit?.bornAt ?? run.frozenAt ?? now;
  const held = pauses.reduce((sum, pause) => sum + overlapMillis(pause, born, now), 0);
  return now - born - held > run.settings.unitAgeHours * HOUR_MILLIS;
}
