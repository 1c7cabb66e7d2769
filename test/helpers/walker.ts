import { isDeepStrictEqual } from 'node:util';
import type { Call, Fate, Interference } from './process.ts';

/** A story that is told again and again, each time with one call going wrong. */
export interface Scenario<S> {
  /** A fresh world; what happens to calls is the walker's. */
  readonly make: (interference: Interference) => S;
  /** Plays the story to its end, recovery included. */
  readonly play: (stage: S) => Promise<void>;
  /** Throws where the end is not as it must be. */
  readonly check: (stage: S) => void;
  /** What must come out the same every time as without any trouble; absent where the story's end may differ. */
  readonly end?: (stage: S) => unknown;
}

export interface Walk {
  /** Calls of the story without trouble. */
  readonly calls: readonly Call[];
  readonly plays: number;
}

/** One play went wrong: which, at which call, and how. */
export interface Stumble {
  readonly at: string;
  readonly error: unknown;
}

export class WalkFailed extends Error {
  readonly stumbles: readonly Stumble[];

  constructor(stumbles: readonly Stumble[], plays: number) {
    const shown = stumbles
      .slice(0, 5)
      .map(({ at, error }) => `  ${at}: ${error instanceof Error ? error.message : error}`);
    super(`${stumbles.length} of ${plays} plays ended wrongly:\n${shown.join('\n')}`, { cause: stumbles[0]?.error });
    this.name = 'WalkFailed';
    this.stumbles = stumbles;
  }
}

const TROUBLES = [
  { fate: 'crash', moment: 'before' },
  { fate: 'crash', moment: 'after' },
  { fate: 'fail', moment: 'before' },
  { fate: 'fail', moment: 'after' },
] as const;

/**
 * Plays a scenario once undisturbed and counts its port calls; then once per call with a crash before it, with a crash
 * after it, and with its answer lost on either side. Throws `WalkFailed` with every play that ended wrongly.
 */
export async function walk<S>(scenario: Scenario<S>): Promise<Walk> {
  const calls: Call[] = [];
  const undisturbed = await play(scenario, (call, moment) => {
    if (moment === 'before') calls.push(call);
    return 'go';
  });
  if (undisturbed.error !== undefined) throw new WalkFailed([{ at: 'undisturbed', error: undisturbed.error }], 1);
  const stumbles: Stumble[] = [];
  let plays = 1;
  for (const { index } of calls) {
    for (const { fate, moment } of TROUBLES) {
      plays += 1;
      let met = '';
      const { error, end } = await play(scenario, (call, when) => {
        if (call.index !== index || when !== moment) return 'go';
        met = `${call.process} ${call.name}`;
        return fate;
      });
      const at = `${fate} ${moment} call ${index} (${met})`;
      if (error !== undefined) stumbles.push({ at, error });
      else if (!isDeepStrictEqual(end, undisturbed.end)) stumbles.push({ at, error: difference(end, undisturbed.end) });
    }
  }
  if (stumbles.length > 0) throw new WalkFailed(stumbles, plays);
  return { calls, plays };
}

async function play<S>(
  { make, play, check, end }: Scenario<S>,
  fate: (call: Call, moment: 'before' | 'after') => Fate,
): Promise<{ readonly error?: unknown; readonly end?: unknown }> {
  const stage = make({ fate });
  try {
    await play(stage);
    check(stage);
    return { end: end?.(stage) };
  } catch (error) {
    return { error };
  }
}

function difference(actual: unknown, expected: unknown): Error {
  return new Error(`another end: ${JSON.stringify(actual)}\n    instead of ${JSON.stringify(expected)}`);
}
