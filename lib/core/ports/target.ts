import type { EpochMillis } from '../identity/instant.ts';
import type { RunKind } from '../identity/keys.ts';
import type { Outcome } from '../ledger/outcomes.ts';
import type { Settings } from '../policy/settings.ts';
import type { Failure } from './failure.ts';

/** One record to change. */
export interface WorkItem {
  readonly key: string;
  readonly witness: string;
  readonly operationKey: string;
  /** What the plan expects the write to take; the meter prices by it where the store does not report. */
  readonly writeUnits: number;
}

export interface TargetCall {
  readonly kind: RunKind;
  readonly settings: Settings;
  /** Written into the record as the time of the change. */
  readonly now: EpochMillis;
  /** At most the target's `recordsPerCall`. */
  readonly items: readonly WorkItem[];
}

export type RecordResult =
  | {
      readonly kind: 'outcome';
      readonly key: string;
      readonly outcome: Outcome;
      /** `earlier`: our own key was found in the record, so an earlier try had done it. */
      readonly applied: 'now' | 'earlier' | 'not';
    }
  | { readonly kind: 'failed'; readonly key: string; readonly failure: Failure };

/** Where records are changed. Each record's own condition is the guard, inside its write. */
export interface Target {
  /** Whether a try whose answer was lost may simply be made again. */
  readonly idempotency: 'idempotent' | 'not-idempotent';
  readonly recordsPerCall: number;
  /** One result per item, in any order. Throws a PortError where the call as a whole failed. */
  apply(call: TargetCall): Promise<readonly RecordResult[]>;
}
