import { it } from 'vitest';

/** Titles of contract cases that a local stand-in fails although AWS documents them, each with what it does instead. */
export type Departures = Readonly<Record<string, string>>;

export const NONE: Departures = {};

/** `it`, but a departure must fail: where a newer version of the stand-in no longer departs, the test says so. */
export function caseOf(departures: Departures): (title: string, run: () => Promise<void>) => void {
  return (title, run) => (title in departures ? it.fails(title, run) : it(title, run));
}
