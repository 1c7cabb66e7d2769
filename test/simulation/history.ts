import fc from 'fast-check';

/** One step: what happens (0 to 999, see `steps.ts`), and the seed of whatever is drawn while it does. */
export type Step = readonly [what: number, detail: number];

/** A history is data: played again it is the same, and whatever is taken out of it leaves a history. */
export interface History {
  /** Seeds everything that is drawn outside a step. */
  readonly world: number;
  /** Decide table, settings and how badly each port behaves; zero is always the plainest choice. */
  readonly config: readonly number[];
  readonly steps: readonly Step[];
}

const ROLL = 0x7fff_ffff;
const ROLLS = 200;
export const WHATS = 1_000;

export const histories: fc.Arbitrary<History> = fc.record({
  world: fc.nat(ROLL),
  config: fc.array(fc.nat(ROLL), { minLength: ROLLS, maxLength: ROLLS }),
  steps: fc.array(fc.tuple(fc.nat(WHATS - 1), fc.nat(ROLL)), { minLength: 60, maxLength: 260, size: 'max' }),
});

/** Draws from a list of numbers that were drawn before. */
export class Rolls {
  readonly #rolls: readonly number[];
  #next = 0;

  constructor(rolls: readonly number[]) {
    this.#rolls = rolls;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    const roll = this.#rolls[this.#next++] ?? 0;
    return Math.floor((roll / (ROLL + 1)) * bound);
  }

  /** From 0 to below `most`; 0 half of the time. */
  share(most: number): number {
    return Math.max(0, (this.below(1_000) - 500) / 500) * most;
  }

  chance(probability: number): boolean {
    return this.below(1_000) >= 1_000 * (1 - probability);
  }

  /** The first is the plainest. */
  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }
}
