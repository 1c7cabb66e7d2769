import { setTimeout as pause } from 'node:timers/promises';

const INTERVAL_MILLIS = 100;
const PLACE_INTERVAL_MILLIS = 1_000;
const SAY_INTERVAL_MILLIS = 4_000;

/** A state that did not come about before its deadline. */
export class NotInTime extends Error {
  override name = 'NotInTime';
}

/** Asks until the answer is not undefined; throws `NotInTime`, naming what was waited for, at the deadline. */
export async function waitFor<T>(
  what: string,
  deadlineMillis: number,
  probe: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + deadlineMillis;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined) return answer;
    if (Date.now() >= end) throw new NotInTime(`Waited ${deadlineMillis / 1000} s in vain for ${what}.`);
    await pause(INTERVAL_MILLIS);
  }
}

/** What a probe saw: the answer, or how far things have come, in words that change as they move. */
export type Seen<T> = { readonly kind: 'done'; readonly answer: T } | { readonly kind: 'at'; readonly place: string };

/**
 * Asks until it is done, and says every few seconds where it is. Throws `NotInTime` where nothing has moved for so long: work
 * of any size may take as long as it goes on.
 */
export async function waitWhileMoving<T>(
  what: string,
  stallMillis: number,
  say: (place: string) => void,
  probe: () => Promise<Seen<T>>,
): Promise<T> {
  let last = '';
  let moved = Date.now();
  let said = 0;
  for (;;) {
    const seen = await probe();
    if (seen.kind === 'done') return seen.answer;
    if (seen.place !== last) {
      last = seen.place;
      moved = Date.now();
    }
    if (moved - said >= SAY_INTERVAL_MILLIS) {
      said = moved;
      say(last);
    }
    if (Date.now() - moved >= stallMillis) {
      throw new NotInTime(`Nothing moved for ${stallMillis / 1000} s while waiting for ${what} (${last}).`);
    }
    await pause(PLACE_INTERVAL_MILLIS);
  }
}
