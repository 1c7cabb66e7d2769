import { DAY_MILLIS, type EpochMillis } from '../../core/identity/instant.ts';
import type { Attributes } from '../item-size.ts';
import type { Update } from './expression.ts';
import { number } from './fields.ts';
import { EXPIRES_AT } from './schema.ts';

// Nothing that is still needed can expire. Retention is at least 90 days and counts from an item's last write; a
// message lives 18 days, a run has a deadline of at most 30 and a unit is quarantined for its age after at most 14.
// What may stand open for longer, because it waits for a person, carries no time at all: runs and units in the open
// index, the policy's control item, and its audit trail, whose chain must stay whole. Only the slices behind a
// quarantine go by their own age: one that is older than the retention can still be seen, but not carried out.

/** When an item that is written now may go; empty where this process sets no time, and the item then stays. */
export type Expiry = () => Attributes;

export function expiryAfter(days: number | undefined, now: () => EpochMillis): Expiry {
  if (days === undefined) return () => ({});
  return () => ({ [EXPIRES_AT]: number(Math.ceil((now() + days * DAY_MILLIS) / 1000)) });
}

/** The update with the time that belongs to what it enters: none while the item is open. */
export function expiring(update: Update, state: 'open' | 'closed', expiry: Expiry): Update {
  if (state === 'open') return { ...update, remove: [...(update.remove ?? []), EXPIRES_AT] };
  return { ...update, set: { ...update.set, ...expiry() } };
}
