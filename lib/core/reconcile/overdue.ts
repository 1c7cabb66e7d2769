import type { EpochMillis } from '../identity/instant.ts';
import type { RunItem } from '../ledger/items.ts';
import { isFinishedRun } from '../ledger/lifecycle.ts';

export const HOUR_MILLIS = 3_600_000;

/** When the run should be closed: so many hours after its scheduled time, whenever it began. */
export function deadlineOf({ scheduledTime, settings }: Pick<RunItem, 'scheduledTime' | 'settings'>): EpochMillis {
  return scheduledTime + settings.runDeadlineHours * HOUR_MILLIS;
}

/** True where the run is past its deadline and something still has work to do for it. */
export function isOverdue(run: RunItem, now: EpochMillis): boolean {
  return !isFinishedRun(run.status) && now > deadlineOf(run);
}
