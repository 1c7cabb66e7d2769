import type { Random } from './ports/index.ts';

const BASE_MILLIS = 200;
const CAP_MILLIS = 5_000;

/** Wait before trying again within one invocation: exponential from 0.2 s, capped at 5 s, full jitter. */
export function backoffMillis(round: number, random: Random): number {
  return Math.floor(random.next() * Math.min(CAP_MILLIS, BASE_MILLIS * 2 ** round));
}

const RETRY_BASE_SECONDS = 15;
const RETRY_CAP_SECONDS = 3_600;
const DEFERRAL_BASE_SECONDS = 2;

/** The longest that a message is hidden in the queue; what waits longer goes through the ledger. */
export const LONGEST_HIDING_SECONDS = 900;

/** The most that a unit may have to wait after an attempt, in seconds: 30 after the first, doubled, capped at an hour. */
export function retryCeilingSeconds(attempt: number): number {
  return Math.min(RETRY_CAP_SECONDS, RETRY_BASE_SECONDS * 2 ** Math.max(0, attempt));
}

/** Wait before a unit that failed is tried again, in whole seconds from 1, with full jitter: throttles pass in minutes. */
export function retrySeconds(attempt: number, random: Random): number {
  return jittered(retryCeilingSeconds(attempt), random);
}

/** Wait of a delivery that only came at the wrong moment, in whole seconds from 1; grows with its receives. */
export function deferralSeconds(receives: number, random: Random): number {
  return jittered(Math.min(LONGEST_HIDING_SECONDS, DEFERRAL_BASE_SECONDS * 2 ** Math.max(0, receives)), random);
}

function jittered(ceiling: number, random: Random): number {
  return 1 + Math.floor(random.next() * (ceiling - 1));
}
