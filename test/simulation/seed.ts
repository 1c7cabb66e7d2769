import fc from 'fast-check';
import { type History, histories } from './history.ts';
import { type Played, type PlayOptions, play, WrongHistory } from './play.ts';

/** The history of a seed; the same on every machine. */
export function historyOf(seed: number): History {
  const [history] = fc.sample(histories, { seed, numRuns: 1 });
  if (history === undefined) throw new Error('nothing was drawn');
  return history;
}

/** Plays the history of a seed. Throws WrongHistory. */
export function playSeed(seed: number, options: PlayOptions = {}): Promise<Played> {
  return play(historyOf(seed), options);
}

export { WrongHistory };
