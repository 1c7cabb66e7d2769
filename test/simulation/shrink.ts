import fc from 'fast-check';
import { type History, histories } from './history.ts';
import { type PlayOptions, play, WrongHistory } from './play.ts';

export interface Shrunk {
  readonly history: History;
  readonly faults: readonly string[];
  /** In words, a line per step. */
  readonly story: readonly string[];
}

/** Looks for a smaller history that fails too, for so long: first with fewer steps, then with smaller numbers. */
export async function shrink(failing: History, millis: number, options: PlayOptions = {}): Promise<Shrunk> {
  const end = performance.now() + millis;
  const few = await withFewerSteps(failing, performance.now() + millis / 2, options);
  const property = fc.asyncProperty(histories, async (history) => {
    await play(history, options);
  });
  const limit = Math.max(1, end - performance.now());
  const found = await fc.check(property, { numRuns: 1, examples: [[few]], interruptAfterTimeLimit: limit });
  const history = found.counterexample?.[0] ?? few;
  const wrong = await play(history, { ...options, tells: 'story' }).catch((error: unknown) => error);
  if (!(wrong instanceof WrongHistory)) throw new Error('A history that failed does not fail again.', { cause: wrong });
  return { history, faults: wrong.faults, story: wrong.story };
}

async function fails(history: History, options: PlayOptions): Promise<boolean> {
  return play(history, options).then(
    () => false,
    () => true,
  );
}

/** Leaves out ever smaller stretches of steps for as long as the rest still fails. */
async function withFewerSteps(failing: History, end: number, options: PlayOptions): Promise<History> {
  let history = failing;
  for (let length = Math.ceil(failing.steps.length / 2); length >= 1; length = Math.floor(length / 2)) {
    for (let from = 0; from < history.steps.length && performance.now() < end; ) {
      const shorter = { ...history, steps: history.steps.toSpliced(from, length) };
      if (await fails(shorter, options)) history = shorter;
      else from += length;
    }
  }
  return history;
}
