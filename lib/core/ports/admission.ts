import type { EpochMillis } from '../identity/instant.ts';

/** What may limit work; records per second is its first use. */
export interface Dimension {
  /** Such as `records`: one budget each, shared by everybody who names it. */
  readonly name: string;
  readonly perSecond: number;
}

/**
 * `granted`: the work may be spread from `from` to `until`, so that it takes its fair share of the rate. `deferred`:
 * nothing was taken; ask again not before `until`.
 */
export type Admitted =
  | { readonly kind: 'granted'; readonly from: EpochMillis; readonly until: EpochMillis }
  | { readonly kind: 'deferred'; readonly until: EpochMillis; readonly dimension: string };

/** Shared admission: what all consumers together may start. Throws PortError. */
export interface Admission {
  /** Takes `amount` of every dimension, to begin at `latest` at the latest. */
  acquire(dimensions: readonly Dimension[], amount: number, now: EpochMillis, latest: EpochMillis): Promise<Admitted>;
}
