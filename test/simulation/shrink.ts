import fc from 'fast-check';
import { type History, histories } from './history.ts';
import { type PlayOptions, play, WrongHistory } from './play.ts';

export interface Shrunk {
  readonly history: History;
  readonly faults: readonly string[];
  /** In words, a line per step. */
  readonly story: readonly string[];
  /** How often a smaller history failed too. */
  readonly shrinks: number;
}

/** Looks for a smaller history that fails too, for so long. */
export async function shrink(failing: History, millis: number, options: PlayOptions = {}): Promise<Shrunk> {
  const property = fc.asyncProperty(histories, async (history) => {
    await play(history, options);
  });
  const found = await fc.check(property, {
    numRuns: 1,
    examples: [[failing]],
    interruptAfterTimeLimit: millis,
  });
  const history = found.counterexample?.[0] ?? failing;
  const wrong = await play(history, { ...options, tells: 'story' }).catch((error: unknown) => error);
  if (!(wrong instanceof WrongHistory)) throw new Error('A history that failed does not fail again.', { cause: wrong });
  return { history, faults: wrong.faults, story: wrong.story, shrinks: found.numShrinks };
}
