import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Signer, Verified } from '../../lib/core/ports/index.ts';

/** HMAC-SHA-256 with a ring of keys in memory. */
export class MemorySigner implements Signer {
  readonly #keys = new Map<string, string>([['key-1', 'secret-1']]);
  #current = 'key-1';

  async sign(content: Uint8Array): Promise<{ readonly keyId: string; readonly mac: string }> {
    return { keyId: this.#current, mac: this.#mac(content, this.#current).toString('base64url') };
  }

  async verify(content: Uint8Array, keyId: string, mac: string): Promise<Verified> {
    if (!this.#keys.has(keyId)) return 'unknown-key';
    const expected = this.#mac(content, keyId);
    const given = Buffer.from(mac, 'base64url');
    return given.length === expected.length && timingSafeEqual(given, expected) ? 'valid' : 'forged';
  }

  /** Signs with a new key from now on; earlier keys still verify. */
  rotate(): void {
    this.#current = `key-${this.#keys.size + 1}`;
    this.#keys.set(this.#current, `secret-${this.#keys.size + 1}`);
  }

  /** A key that this host has not heard of yet, or no longer knows. */
  forget(keyId: string): void {
    this.#keys.delete(keyId);
  }

  #mac(content: Uint8Array, keyId: string): Buffer {
    return createHmac('sha256', this.#keys.get(keyId) ?? '')
      .update(content)
      .digest();
  }
}
