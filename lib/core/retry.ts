import type { Random } from './ports/index.ts';

const BASE_MILLIS = 200;
const CAP_MILLIS = 5_000;

/** Wait before trying again within one invocation: exponential from 0.2 s, capped at 5 s, full jitter. */
export function backoffMillis(round: number, random: Random): number {
  return Math.floor(random.next() * Math.min(CAP_MILLIS, BASE_MILLIS * 2 ** round));
}

const RETRY_BASE_SECONDS = 2;
const RETRY_CAP_SECONDS = 3_600;

/** The longest that a message is hidden in the queue; what waits longer goes through the ledger. */
export const LONGEST_HIDING_SECONDS = 900;

/** The most that an attempt may have to wait, in seconds: doubled from 4 by each attempt, capped at an hour. */
export function retryCeilingSeconds(attempt: number): number {
  return Math.min(RETRY_CAP_SECONDS, RETRY_BASE_SECONDS * 2 ** Math.max(0, attempt));
}

/** Wait before a unit is tried again, in whole seconds from 1, with full jitter. */
export function retrySeconds(attempt: number, random: Random): number {
  return 1 + Math.floor(random.next() * (retryCeilingSeconds(attempt) - 1));
}
