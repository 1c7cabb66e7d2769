import type { UnitChange } from '../ledger/items.ts';
import type { Clock, Failure, Ledger, Random } from '../ports/index.ts';
import { deferralSeconds, LONGEST_HIDING_SECONDS } from '../retry.ts';
import type { Decision, Delivery, RetryReason, Told } from './delivery.ts';
import type { Work } from './judge.ts';

/**
 * Far below the receive count at which the queue gives up: each hiding spends a receive, and what waits for hours must
 * not end in the dead-letter queue for it (pitfall P31).
 */
const RECEIVES_TO_WAIT_IN_QUEUE = 5;

/** Units that wait in the ledger come back spread over this time, not all at once. */
const SPREAD_MILLIS = 10 * 60_000;

export const MOVED_ON: Failure = { class: 'deferred', error: 'MovedOn' };

/** One unit that is not to be worked on any further by this delivery. */
export interface PutBack {
  readonly ports: { readonly ledger: Ledger; readonly clock: Clock; readonly random: Random };
  readonly delivery: Delivery;
  readonly work: Work;
  /** Attempts that the item must still show. */
  readonly attempts: number;
  /** Whether this delivery had counted its attempt. */
  readonly progress: 'not-started' | 'started';
}

/** Why the unit waits, and what its item keeps of this delivery. */
export interface Wait {
  readonly failure: Failure;
  readonly change: Omit<UnitChange, 'since'>;
  readonly told: Told;
}

export function retryNow({ ports, delivery }: PutBack, why: RetryReason, failure: Failure, told: Told): Decision {
  const seconds = deferralSeconds(delivery.receiveCount, ports.random);
  return { kind: 'retry', why, afterSeconds: seconds, told: { ...told, failure } };
}

/** Into the ledger, not before `seconds` from now; the message is acknowledged, for the publisher makes another. */
async function postpone(
  back: PutBack,
  { failure, change, told }: Wait,
  reason: string,
  seconds: number,
  spreadMillis: number,
): Promise<Decision> {
  const { ports, work, attempts } = back;
  const { reference, slice, records } = work;
  const now = ports.clock.now();
  const moved = await ports.ledger.moveUnit(
    reference,
    'postpone',
    { generation: reference.generation, attempts, make: { tenant: slice.tenant, records: records.size } },
    { since: now, ...change, notBefore: now + seconds * 1000 + Math.floor(ports.random.next() * spreadMillis), reason },
  );
  if (moved.kind !== 'moved') return retryNow(back, 'moved_on', MOVED_ON, told);
  return { kind: 'acknowledge', why: 'postponed', told: { ...told, failure } };
}

/** Until the policy goes on; no attempt is spent and no receive either. */
export function holdUnit(back: PutBack, wait: Wait): Promise<Decision> {
  return postpone(back, wait, 'paused', 0, 0);
}

/** Waits in the queue, where that is short and has not gone on for long; else in the ledger. */
export async function waitWith(back: PutBack, why: RetryReason, seconds: number, wait: Wait): Promise<Decision> {
  const { ports, delivery, work, attempts, progress } = back;
  if (seconds > LONGEST_HIDING_SECONDS || delivery.receiveCount >= RECEIVES_TO_WAIT_IN_QUEUE) {
    return postpone(back, wait, why, seconds, SPREAD_MILLIS);
  }
  if (progress === 'started') {
    const guard = { generation: work.reference.generation, attempts };
    // Refused where another delivery has taken over, which then keeps its own count.
    await ports.ledger.moveUnit(work.reference, 'release', guard, { since: ports.clock.now(), ...wait.change });
  }
  return { kind: 'retry', why, afterSeconds: seconds, told: { ...wait.told, failure: wait.failure } };
}
