import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import { type Admission, type Admitted, type Dimension, PortError } from '../../lib/core/ports/index.ts';
import type { World } from './world.ts';

export interface AdmissionOptions {
  /** Chance that nothing is taken and nothing is answered. */
  readonly fails: number;
  /** Chance that a share is taken and the answer is lost: nobody uses it. */
  readonly answerLost: number;
}

/** One share that was taken. */
export interface Grant {
  readonly from: EpochMillis;
  readonly until: EpochMillis;
  readonly amount: number;
}

/** Shares of a rate, handed out one after the other: each begins where the one before it ends, or now. */
export class MemoryAdmission implements Admission {
  /** Every share that was taken, in order. */
  readonly grants: Grant[] = [];
  deferrals = 0;
  readonly #world: World;
  readonly #free = new Map<string, EpochMillis>();
  #options: AdmissionOptions;

  constructor(world: World, options: Partial<AdmissionOptions> = {}) {
    this.#world = world;
    this.#options = { fails: 0, answerLost: 0, ...options };
  }

  async acquire(
    dimensions: readonly Dimension[],
    amount: number,
    now: EpochMillis,
    latest: EpochMillis,
  ): Promise<Admitted> {
    const { random } = this.#world;
    if (random.chance(this.#options.fails)) throw new PortError('acquire', { class: 'transient', error: 'NotReached' });
    const begins = (name: string) => Math.max(now, this.#free.get(name) ?? 0);
    const [first, ...others] = dimensions.toSorted((a, b) => begins(b.name) - begins(a.name));
    if (first === undefined || amount <= 0) throw new PortError('acquire', { class: 'permanent', error: 'Malformed' });
    const from = begins(first.name);
    if (from > latest) {
      this.deferrals += 1;
      return { kind: 'deferred', until: from, dimension: first.name };
    }
    const slowest = Math.min(...[first, ...others].map(({ perSecond }) => perSecond));
    const until = from + (amount / slowest) * 1000;
    for (const { name, perSecond } of dimensions) this.#free.set(name, from + (amount / perSecond) * 1000);
    this.grants.push({ from, until, amount });
    if (random.chance(this.#options.answerLost)) {
      throw new PortError('acquire', { class: 'transient', error: 'AnswerLost' });
    }
    return { kind: 'granted', from, until };
  }

  /** Ends all failures that are drawn by chance. */
  calm(): void {
    this.#options = { fails: 0, answerLost: 0 };
  }
}
