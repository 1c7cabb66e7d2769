import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { Clock } from '../../lib/core/ports/index.ts';
import { SeededRandom } from './random.ts';

export interface WorldOptions {
  readonly seed?: number;
  readonly start?: EpochMillis;
}

/** What a model did to whoever called it. */
export type Mischief =
  | 'send entry failed'
  | 'send entry failed but was sent'
  | 'send entry in neither list'
  | 'deletion not confirmed'
  | 'message delivered again'
  | 'message overtaken by a later one'
  | 'receives spent'
  | 'message outlived the work queue'
  | 'message outlived the dead-letter queue'
  | 'target entry failed'
  | 'target entry failed but was written'
  | 'target call broke off half-way'
  | 'stale index read'
  | 'stale discovery read'
  | 'empty filtered page'
  | 'idempotency record forgotten'
  | 'two bodies at once'
  | 'queue depth read as zero';

/** Virtual time and seeded randomness, shared by all models of one test. */
export class World {
  readonly random: SeededRandom;
  /** How often each of them happened. */
  readonly mischief = new Map<Mischief, number>();
  #millis: EpochMillis;
  readonly #onAdvance: (() => void)[] = [];
  /** How hosts sleep; at first, sleeping moves everybody's time. */
  sleep: (millis: number) => Promise<void> = async (millis) => this.advance(millis);

  constructor(options: WorldOptions = {}) {
    this.random = new SeededRandom(options.seed ?? 1);
    this.#millis = options.start ?? Date.UTC(2026, 0, 1);
  }

  /** The true time; hosts may believe another. */
  get millis(): EpochMillis {
    return this.#millis;
  }

  note(what: Mischief): void {
    this.mischief.set(what, (this.mischief.get(what) ?? 0) + 1);
  }

  advance(millis: number): void {
    this.#millis += millis;
    for (const listener of this.#onAdvance) listener();
  }

  /** Called after every move of the clock. */
  onAdvance(listener: () => void): void {
    this.#onAdvance.push(listener);
  }

  /** A host's clock, off by `skewMillis`. */
  clock(skewMillis = 0): Clock {
    return {
      now: () => this.#millis + skewMillis,
      sleep: (millis) => this.sleep(millis),
    };
  }
}
