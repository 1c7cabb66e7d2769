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

/** Of what is drawn; a shrunk history may have fewer steps. */
export const LIMITS = { roll: 0x7fff_ffff, rolls: 200, whats: 1_000, leastSteps: 80, mostSteps: 260 } as const;

/** Every history there may be; makes a failing one smaller. */
export const histories: fc.Arbitrary<History> = fc.record({
  world: fc.nat(LIMITS.roll),
  config: fc.array(fc.nat(LIMITS.roll), { minLength: LIMITS.rolls, maxLength: LIMITS.rolls }),
  steps: fc.array(fc.tuple(fc.nat(LIMITS.whats - 1), fc.nat(LIMITS.roll)), { maxLength: LIMITS.mostSteps }),
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
    return Math.floor((roll / (LIMITS.roll + 1)) * bound);
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
