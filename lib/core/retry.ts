import type { Random } from './ports/index.ts';

const BASE_MILLIS = 200;
const CAP_MILLIS = 5_000;

/** Wait before trying again within one invocation: exponential from 0.2 s, capped at 5 s, full jitter. */
export function backoffMillis(round: number, random: Random): number {
  return Math.floor(random.next() * Math.min(CAP_MILLIS, BASE_MILLIS * 2 ** round));
}

const REDELIVERY_BASE_SECONDS = 2;
const REDELIVERY_CAP_SECONDS = 900;

/**
 * Wait before a message is delivered again, in whole seconds from 1: exponential, capped at 15 minutes, full jitter.
 * Longer waits go through the ledger; SQS is no place for them.
 */
export function redeliverySeconds(attempt: number, random: Random): number {
  const ceiling = Math.min(REDELIVERY_CAP_SECONDS, REDELIVERY_BASE_SECONDS * 2 ** Math.max(0, attempt));
  return 1 + Math.floor(random.next() * (ceiling - 1));
}
