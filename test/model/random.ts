import type { Random } from '../../lib/core/ports/index.ts';

/** Mulberry32: the same seed gives the same history on every machine. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Goes on as if it had begun with this seed. */
  reseed(seed: number): void {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Draws nothing for 0 and 1, so that switching a fault off leaves the rest of a history as it was. */
  chance(probability: number): boolean {
    if (probability <= 0) return false;
    return probability >= 1 || this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const result: T[] = [];
    for (const item of items) {
      const place = this.below(result.length + 1);
      const displaced = result[place];
      if (displaced !== undefined) result.push(displaced);
      result[place] = item;
    }
    return result;
  }
}
