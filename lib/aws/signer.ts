import { createHmac, timingSafeEqual } from 'node:crypto';
import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DAY_MILLIS, type EpochMillis } from '../core/identity/instant.ts';
import type { Clock, Signer, Verified } from '../core/ports/services.ts';
import { portCall, refusal } from './errors.ts';
import { type KeyRing, parseKeyRing } from './key-ring.ts';

export interface SignerPorts {
  readonly client: SecretsManagerClient;
  readonly secretArn: string;
  readonly clock: Clock;
}

/** A message lives 18 days in both queues together; after that nothing honest is signed with a retired key. */
const RETIRED_KEY_DAYS = 30;

/** A warm function learns of a new current key within this time. */
const RING_MAX_AGE_MILLIS = 15 * 60_000;

/** Messages with made-up key ids must not become calls of Secrets Manager. */
const REFETCH_INTERVAL_MILLIS = 60_000;

interface FetchedRing {
  readonly ring: KeyRing;
  readonly at: EpochMillis;
}

/** Signs with HMAC-SHA256, base64url, by a ring of keys in one secret; the ring is fetched at first use. */
export class SecretsManagerSigner implements Signer {
  readonly #ports: SignerPorts;
  #fetched: Promise<FetchedRing> | undefined;

  constructor(ports: SignerPorts) {
    this.#ports = ports;
  }

  async sign(content: Uint8Array): Promise<{ readonly keyId: string; readonly mac: string }> {
    const { ring } = await this.#ringUpTo(RING_MAX_AGE_MILLIS);
    const key = ring.keys.get(ring.current);
    if (key === undefined) throw refusal('sign', 'NoCurrentKey');
    return { keyId: ring.current, mac: macOf(content, key.material) };
  }

  async verify(content: Uint8Array, keyId: string, mac: string): Promise<Verified> {
    const known = (await this.#ringUpTo(RING_MAX_AGE_MILLIS)).ring.keys.get(keyId);
    const key = known ?? (await this.#ringUpTo(REFETCH_INTERVAL_MILLIS)).ring.keys.get(keyId);
    if (key === undefined) return 'unknown-key';
    const expiresAt = (key.retiredAt ?? Number.POSITIVE_INFINITY) + RETIRED_KEY_DAYS * DAY_MILLIS;
    const timely = this.#ports.clock.now() <= expiresAt;
    return timely && sameText(mac, macOf(content, key.material)) ? 'valid' : 'forged';
  }

  /** The ring as it was at most so long ago. Callers at one time share one fetch; a failed one is not kept. */
  async #ringUpTo(maxAgeMillis: number): Promise<FetchedRing> {
    const held = this.#fetched;
    if (held !== undefined) {
      const fetched = await held;
      if (this.#ports.clock.now() - fetched.at < maxAgeMillis) return fetched;
    }
    // Another caller may have begun a fetch while this one looked at the age.
    const begun = this.#fetched === held ? undefined : this.#fetched;
    this.#fetched = begun ?? this.#fetch();
    return this.#fetched;
  }

  async #fetch(): Promise<FetchedRing> {
    const { client, secretArn, clock } = this.#ports;
    try {
      const at = clock.now();
      const command = new GetSecretValueCommand({ SecretId: secretArn });
      const { SecretString } = await portCall('fetchKeys', () => client.send(command));
      const ring = parseKeyRing(SecretString ?? '');
      if (ring === undefined) throw refusal('fetchKeys', 'MalformedKeyRing');
      return { ring, at };
    } catch (error) {
      this.#fetched = undefined;
      throw error;
    }
  }
}

function macOf(content: Uint8Array, material: string): string {
  return createHmac('sha256', material).update(content).digest('base64url');
}

/** In a time that does not tell where two texts differ. */
function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
