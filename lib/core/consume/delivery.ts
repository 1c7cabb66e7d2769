import type { OutcomeCounts } from '../ledger/outcomes.ts';
import type { Failure } from '../ports/index.ts';

/** One receipt of a message. Its ids identify the delivery, never the work. */
export interface Delivery {
  readonly messageId: string;
  readonly handle: string;
  readonly body: string;
  readonly receiveCount: number;
  /** Text attributes of the message: only a copy that was put into the dead-letter queue has any. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What is told of a delivery besides its decision: counts and codes. */
export interface Told {
  /** The attempt that it made, from 1; absent where none was made. */
  readonly attempt?: number;
  /** Records by outcome, of this delivery. */
  readonly counts?: OutcomeCounts;
  /** Why a unit was given up. */
  readonly reason?: string;
  /** Records that failed, and the failure that decided. */
  readonly failedRecords?: number;
  readonly failure?: Failure;
  /** Units of their own that it made of failed records, and why. */
  readonly isolated?: readonly { readonly unit: string; readonly reason: string; readonly failure: Failure }[];
  /** Positions and outcomes of records that were changed, for a sample of them. */
  readonly sample?: readonly { readonly position: number; readonly outcome: string }[];
}

/**
 * What to do with a delivery. Acknowledged only after completion, quarantine or deferral is in the ledger; a retry
 * leaves the message in the queue.
 */
export type Decision =
  | { readonly kind: 'acknowledge'; readonly why: AcknowledgeReason; readonly told: Told }
  | {
      readonly kind: 'retry';
      readonly why: RetryReason;
      /** Seconds until the message should come again. */
      readonly afterSeconds: number;
      readonly told: Told & { readonly failure: Failure };
    };

export type AcknowledgeReason =
  | 'committed'
  | 'remembered'
  | 'terminal'
  | 'stale'
  | 'isolated'
  | 'quarantined'
  | 'uncertain'
  | 'duplicate_of_quarantined'
  | 'unattributed_redrive'
  | 'unattributed_redrive_refused'
  | 'postponed'
  | 'cancelled'
  | 'bad_message';

export type RetryReason =
  | 'ledger_unavailable'
  | 'unknown_key'
  | 'out_of_time'
  | 'rate_limited'
  | 'in_progress_elsewhere'
  | 'moved_on'
  | 'records_failed'
  | 'failed';
