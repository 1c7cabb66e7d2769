import { DAY_MILLIS, type EpochMillis } from '../../lib/core/identity/instant.ts';
import type { Settings } from '../../lib/core/policy/settings.ts';
import type { Item } from '../../lib/local/records.ts';

/** How a record stands to a run, by the record and the run's parameters alone. */
export type Standing = 'planned' | 'held' | 'unreadable' | 'not_due' | 'other_state';

/** What a run of the example looks for. */
export interface Wanted {
  readonly kind: 'expire' | 'delete';
  readonly cutoff: EpochMillis;
  readonly windowDays: number | null;
  /** Operation keys that earlier runs left, by record id. */
  readonly keys: ReadonlyMap<string, string>;
}

export function wantedBy(settings: Settings, scheduledTime: EpochMillis, keys: Wanted['keys']): Wanted {
  const { action: kind, retentionDays, graceDays, windowDays } = settings;
  const days = kind === 'delete' ? graceDays : retentionDays;
  return { kind, cutoff: scheduledTime - days * DAY_MILLIS, windowDays, keys };
}

const EARLIEST = Date.UTC(1980, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);

export function judge(item: Item, { kind, cutoff, windowDays, keys }: Wanted): Standing {
  if (item.status?.S !== (kind === 'delete' ? 'EXPIRED' : 'ACTIVE')) return 'other_state';
  const key = item.sweepOperationKey?.S;
  if (kind === 'delete' && (key === undefined || keys.get(item.id?.S ?? '') !== key)) return 'not_due';
  const at = millisOf(kind === 'delete' ? item.expiredAt : item.lastUpdate);
  if (at === undefined) return 'unreadable';
  if (at >= cutoff || (windowDays !== null && at < cutoff - windowDays * DAY_MILLIS)) return 'not_due';
  return isHeld(item) ? 'held' : 'planned';
}

export function isHeld({ legalHold, openDispute }: Item): boolean {
  return [legalHold, openDispute].some(
    (hold) => hold !== undefined && hold.NULL !== true && hold.BOOL !== false && hold.S !== '',
  );
}

function millisOf(value: Item[string] | undefined): EpochMillis | undefined {
  if (value?.N === undefined || !/^\d+$/.test(value.N)) return undefined;
  const millis = Number(value.N) * 1_000;
  return millis >= EARLIEST && millis < LATEST ? millis : undefined;
}

/** What must become of a planned record, by how it stands after all that was written to it beside the run. */
export function outcomeOf(planned: Item, left: Item | undefined, kind: Wanted['kind']): string {
  if (left === undefined) return 'absent';
  const [state, timestamp] =
    kind === 'delete' ? (['status', 'expiredAt'] as const) : (['status', 'lastUpdate'] as const);
  const same = [state, timestamp].every((name) => JSON.stringify(left[name]) === JSON.stringify(planned[name]));
  if (!same) return 'state_changed';
  if (isHeld(left)) return 'held';
  return kind === 'delete' ? 'deleted' : 'expired';
}
