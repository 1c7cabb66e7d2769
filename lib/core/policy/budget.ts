import type { Settings } from './settings.ts';

/** Messages in one event of the consumer. Five budgets and a margin must fit in the function timeout (pitfall P35). */
export const MESSAGES_PER_EVENT = 5;

/** Time a consumer keeps back for the ledger and the acknowledgement, in milliseconds. */
export const REMAINING_TIME_MARGIN_MILLIS = 1_000;

/** The SQS receive count after which the queue itself gives up: a backstop far above any attempts setting. */
export const MAX_RECEIVE_COUNT = 25;

export const WORK_QUEUE_RETENTION_DAYS = 4;
export const DEAD_LETTER_RETENTION_DAYS = 14;

/** Longer than a message can live in both queues together (pitfall P41). */
export const IDEMPOTENCY_EXPIRY_DAYS = 21;

export interface TimeBudget {
  readonly functionTimeoutSeconds: number;
  /** Six times the function timeout; the batching window is zero (pitfall P30). */
  readonly visibilityTimeoutSeconds: number;
}

/** One mapping for all coupled times, because CloudFormation cannot multiply. */
export const TIME_BUDGETS: Readonly<Record<Settings['batchTimeBudgetSeconds'], TimeBudget>> = {
  '1': { functionTimeoutSeconds: 10, visibilityTimeoutSeconds: 60 },
  '15': { functionTimeoutSeconds: 90, visibilityTimeoutSeconds: 540 },
  '30': { functionTimeoutSeconds: 165, visibilityTimeoutSeconds: 990 },
  '60': { functionTimeoutSeconds: 315, visibilityTimeoutSeconds: 1_890 },
  '120': { functionTimeoutSeconds: 615, visibilityTimeoutSeconds: 3_690 },
  '175': { functionTimeoutSeconds: 895, visibilityTimeoutSeconds: 5_370 },
};
