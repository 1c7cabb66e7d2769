import { createHmac, timingSafeEqual } from 'node:crypto';
import { DAY_MILLIS, type EpochMillis } from '../../lib/core/identity/instant.ts';
import type { Clock, Signer, Verified } from '../../lib/core/ports/index.ts';

interface Key {
  readonly secret: string;
  retiredAt: EpochMillis;
}

/** As the deployed ring has it. */
const RETIRED_KEY_MILLIS = 30 * DAY_MILLIS;

/** HMAC-SHA-256 with a ring of keys in memory; without a clock a retired key verifies for ever. */
export class MemorySigner implements Signer {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #keys = new Map<string, Key>([['key-1', { secret: 'secret-1', retiredAt: Number.POSITIVE_INFINITY }]]);
  /** Signed with and not yet known to those who verify. */
  readonly #unheardOf = new Set<string>();
  #current = 'key-1';
  #made = 1;

  constructor(clock: Pick<Clock, 'now'> = { now: () => 0 }) {
    this.#clock = clock;
  }

  async sign(content: Uint8Array): Promise<{ readonly keyId: string; readonly mac: string }> {
    return { keyId: this.#current, mac: macOf(content, this.#keys.get(this.#current)?.secret ?? '') };
  }

  async verify(content: Uint8Array, keyId: string, mac: string): Promise<Verified> {
    const key = this.#keys.get(keyId);
    if (key === undefined || this.#unheardOf.has(keyId)) return 'unknown-key';
    const timely = this.#clock.now() <= key.retiredAt + RETIRED_KEY_MILLIS;
    const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(content, key.secret))];
    return timely && given.length === expected.length && timingSafeEqual(given, expected) ? 'valid' : 'forged';
  }

  /** Signs with a new key from now on; earlier keys still verify. */
  rotate(news: 'heard' | 'unheard' = 'heard'): void {
    const retired = this.#keys.get(this.#current);
    if (retired !== undefined) retired.retiredAt = this.#clock.now();
    this.#made += 1;
    this.#current = `key-${this.#made}`;
    this.#keys.set(this.#current, { secret: `secret-${this.#made}`, retiredAt: Number.POSITIVE_INFINITY });
    if (news === 'unheard') this.#unheardOf.add(this.#current);
  }

  /** Every host hears of the keys there are. */
  hear(): void {
    this.#unheardOf.clear();
  }

  /** A key that this host has not heard of yet, or no longer knows. */
  forget(keyId: string): void {
    this.#keys.delete(keyId);
  }
}

function macOf(content: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(content).digest('base64url');
}
