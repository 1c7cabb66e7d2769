import type { FailureClass } from '../ports/index.ts';

/** One receipt of a message. Its ids identify the delivery, never the work. */
export interface Delivery {
  readonly messageId: string;
  readonly handle: string;
  readonly body: string;
  readonly receiveCount: number;
}

/**
 * What to do with a delivery. Acknowledged only after completion, quarantine or deferral is in the ledger; a retry
 * leaves the message in the queue.
 */
export type Decision =
  | {
      readonly kind: 'acknowledge';
      readonly why: 'committed' | 'remembered' | 'terminal' | 'stale' | 'quarantined' | 'postponed' | 'bad_message';
    }
  | {
      readonly kind: 'retry';
      readonly why: RetryReason;
      /** Seconds until the message should come again; undefined leaves it to the queue's visibility timeout. */
      readonly afterSeconds: number | undefined;
      readonly errorClass: string;
      readonly failureClass: FailureClass;
    };

export type RetryReason =
  | 'ledger_unavailable'
  | 'unknown_key'
  | 'out_of_time'
  | 'rate_limited'
  | 'in_progress_elsewhere'
  | 'moved_on'
  | 'records_failed'
  | 'failed';
