import { SeededRandom } from '../model/index.ts';
import { type History, LIMITS } from './history.ts';
import { type Played, type PlayOptions, play } from './play.ts';

/**
 * The history of a seed; the same on every machine. Drawn evenly: what draws for tests of functions prefers extremes,
 * and here they would be long silences and purged queues.
 */
export function historyOf(seed: number): History {
  const random = new SeededRandom(Math.imul(seed + 1, 0x9e37_79b1));
  const roll = () => random.below(LIMITS.roll + 1);
  const length = LIMITS.leastSteps + random.below(LIMITS.mostSteps - LIMITS.leastSteps + 1);
  return {
    world: roll(),
    config: Array.from({ length: LIMITS.rolls }, roll),
    steps: Array.from({ length }, () => [random.below(LIMITS.whats), roll()] as const),
  };
}

/** Plays the history of a seed. Throws WrongHistory. */
export function playSeed(seed: number, options: PlayOptions = {}): Promise<Played> {
  return play(historyOf(seed), options);
}

export { WrongHistory } from './play.ts';
