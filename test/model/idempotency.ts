import {
  type Clock,
  type Idempotency,
  type OnceResult,
  PortError,
  type RememberedResult,
} from '../../lib/core/ports/index.ts';
import { copyOf } from './plain.ts';
import type { World } from './world.ts';

export interface IdempotencyOptions {
  readonly leaseMillis: number;
  readonly expiryMillis: number;
  /** Chance that a record is forgotten before it is read. */
  readonly forgets: number;
  /** Chance that a body starts although another holds the lease. */
  readonly letsTwoIn: number;
  /** Chance that deleting the record of a failed body fails, so that its error replaces the body's. */
  readonly deleteFails: number;
}

const DEFAULTS: IdempotencyOptions = {
  leaseMillis: 10_000,
  expiryMillis: 21 * 86_400_000,
  forgets: 0,
  letsTwoIn: 0,
  deleteFails: 0,
};

interface Host {
  readonly clock: Clock;
  readonly remainingMillis: () => number;
}

type Stored =
  | { readonly state: 'in-progress'; readonly leaseUntil: number; readonly expiresAt: number }
  | { readonly state: 'completed'; readonly result: RememberedResult; readonly expiresAt: number };

/**
 * Records as Powertools keeps them: the end of a body overwrites or deletes whatever stands under its key, so a late
 * loser takes the winner's answer away (pitfall P43); leases are judged by the host's own clock (pitfall P42).
 */
export class MemoryIdempotency {
  readonly #world: World;
  #options: IdempotencyOptions;
  readonly #records = new Map<string, Stored>();

  constructor(world: World, options: Partial<IdempotencyOptions> = {}) {
    this.#world = world;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** The port as an invocation has it, by its host's clock; its lease is for what is left of it. */
  on(clock: Clock, remainingMillis: () => number = () => this.#options.leaseMillis): Idempotency {
    return { once: (key, body) => this.#once({ clock, remainingMillis }, key, body) };
  }

  /** What is stored under a key: undefined where nothing is. */
  stateOf(key: string): Stored['state'] | undefined {
    return this.#records.get(key)?.state;
  }

  keys(): string[] {
    return [...this.#records.keys()];
  }

  forget(key: string): void {
    this.#records.delete(key);
  }

  /** Ends all failures that are drawn by chance. */
  calm(): void {
    this.#options = { ...this.#options, forgets: 0, letsTwoIn: 0, deleteFails: 0 };
  }

  forgetAll(): void {
    this.#records.clear();
  }

  async #once(host: Host, key: string, body: () => Promise<RememberedResult>): Promise<OnceResult> {
    const lease = host.remainingMillis();
    if (key === '') throw new PortError('once', { class: 'permanent', error: 'NoIdempotencyKey' });
    if (lease <= 0) throw new PortError('once', { class: 'deferred', error: 'OutOfTime' });
    if (this.#world.random.chance(this.#options.forgets) && this.#records.delete(key)) {
      this.#world.note('idempotency record forgotten');
    }
    const now = host.clock.now();
    const stored = this.#records.get(key);
    if (stored !== undefined && stored.expiresAt > now) {
      if (stored.state === 'completed') return { kind: 'remembered', result: stored.result };
      if (stored.leaseUntil > now && !this.#world.random.chance(this.#options.letsTwoIn)) {
        return { kind: 'in-progress-elsewhere' };
      }
      if (stored.leaseUntil > now) this.#world.note('two bodies at once');
    }
    const expiresAt = now + this.#options.expiryMillis;
    this.#records.set(key, { state: 'in-progress', leaseUntil: now + lease, expiresAt });
    let result: RememberedResult;
    try {
      // A process that dies in its body never comes back here, so its record stays in progress.
      result = await body();
    } catch (error) {
      if (this.#world.random.chance(this.#options.deleteFails)) {
        throw new PortError('once', { class: 'transient', error: 'IdempotencyPersistenceLayerError' });
      }
      this.#records.delete(key);
      throw error;
    }
    this.#records.set(key, { state: 'completed', result: copyOf(result), expiresAt });
    return { kind: 'ran', result };
  }
}
