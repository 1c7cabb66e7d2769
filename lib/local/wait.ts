import { setTimeout as pause } from 'node:timers/promises';

const INTERVAL_MILLIS = 100;

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
