import { createHmac } from 'node:crypto';
import type { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseKeyRing } from '../../../lib/aws/key-ring.ts';
import { SecretsManagerSigner } from '../../../lib/aws/signer.ts';
import { DAY_MILLIS, formatInstant } from '../../../lib/core/identity/instant.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const CONTENT = Buffer.from('content');

class FakeSecrets {
  secret: object = { current: 'k1', k1: 'material-1' };
  fetches = 0;
  failure: Error | undefined;

  async send(command: GetSecretValueCommand) {
    expect(command.input).toEqual({ SecretId: 'arn:secret' });
    this.fetches += 1;
    if (this.failure !== undefined) throw this.failure;
    return { SecretString: JSON.stringify(this.secret) };
  }
}

let secrets: FakeSecrets;
let now: number;
let signer: SecretsManagerSigner;

beforeEach(() => {
  secrets = new FakeSecrets();
  now = START;
  const clock = { now: () => now, sleep: async () => {} };
  const client = secrets as unknown as SecretsManagerClient;
  signer = new SecretsManagerSigner({ client, secretArn: 'arn:secret', clock });
});

describe('signer', () => {
  it('signs with the current key: HMAC-SHA256, base64url', async () => {
    const mac = createHmac('sha256', 'material-1').update(CONTENT).digest('base64url');
    expect(await signer.sign(CONTENT)).toEqual({ keyId: 'k1', mac });
    expect(await signer.verify(CONTENT, 'k1', mac)).toBe('valid');
  });

  it('finds any other content, MAC or spelling of it forged', async () => {
    const { mac } = await signer.sign(CONTENT);
    expect(await signer.verify(Buffer.from('content!'), 'k1', mac)).toBe('forged');
    for (const wrong of ['', mac.slice(1), `${mac}=`, `x${mac.slice(1)}`, `${mac} `]) {
      expect(await signer.verify(CONTENT, 'k1', wrong), wrong).toBe('forged');
    }
  });

  it('fetches the ring once for many calls at a time, and once more when it is old', async () => {
    await Promise.all([signer.sign(CONTENT), signer.sign(CONTENT), signer.verify(CONTENT, 'k1', 'x')]);
    expect(secrets.fetches).toBe(1);
    now += 14 * MINUTE;
    await signer.sign(CONTENT);
    expect(secrets.fetches).toBe(1);
    secrets.secret = { current: 'k2', k1: 'material-1', k2: 'material-2', retired: { k1: formatInstant(now) } };
    now += MINUTE;
    const signed = await Promise.all([signer.sign(CONTENT), signer.sign(CONTENT)]);
    expect(signed.map(({ keyId }) => keyId)).toEqual(['k2', 'k2']);
    expect(secrets.fetches).toBe(2);
  });

  it('refetches exactly once for a key id that it does not know, and knows a rotated key then', async () => {
    await signer.sign(CONTENT);
    secrets.secret = { current: 'k2', k1: 'material-1', k2: 'material-2', retired: { k1: formatInstant(now) } };
    now += MINUTE;
    const mac = createHmac('sha256', 'material-2').update(CONTENT).digest('base64url');
    expect(await signer.verify(CONTENT, 'k2', mac)).toBe('valid');
    expect(secrets.fetches).toBe(2);
  });

  it('does not let made-up key ids become calls: one refetch a minute, unknown and not forged', async () => {
    await signer.sign(CONTENT);
    for (const keyId of ['kx', '__proto__', 'current', 'retired', '']) {
      expect(await signer.verify(CONTENT, keyId, 'mac'), keyId).toBe('unknown-key');
    }
    expect(secrets.fetches).toBe(1);
    now += MINUTE;
    await Promise.all(['a', 'b', 'c'].map((keyId) => signer.verify(CONTENT, keyId, 'mac')));
    expect(secrets.fetches).toBe(2);
  });

  it('verifies with a retired key for 30 days and no longer', async () => {
    const mac = createHmac('sha256', 'material-0').update(CONTENT).digest('base64url');
    secrets.secret = { current: 'k1', k1: 'material-1', k0: 'material-0', retired: { k0: formatInstant(START) } };
    now = START + 30 * DAY_MILLIS;
    expect(await signer.verify(CONTENT, 'k0', mac)).toBe('valid');
    now += 1;
    expect(await signer.verify(CONTENT, 'k0', mac)).toBe('forged');
  });

  it('fails for now where the ring cannot be fetched, and tries again at the next call', async () => {
    secrets.failure = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    await expect(signer.sign(CONTENT)).rejects.toMatchObject({ failure: { class: 'transient' } });
    secrets.failure = undefined;
    expect((await signer.sign(CONTENT)).keyId).toBe('k1');
  });

  it('fails for good where the secret is no ring of keys', async () => {
    secrets.secret = { current: 'k9', k1: 'material-1' };
    await expect(signer.sign(CONTENT)).rejects.toMatchObject({ failure: { class: 'permanent' } });
  });
});

describe('key ring', () => {
  it.each([
    ['no JSON', 'not json'],
    ['no object', '"k1"'],
    ['null', 'null'],
    ['no current key', '{"k1":"m"}'],
    ['a current key without material', '{"current":"k2","k1":"m"}'],
    ['material that is blank', '{"current":"k1","k1":""}'],
    ['material that is no text', '{"current":"k1","k1":5}'],
    ['a retirement that is no time', '{"current":"k1","k1":"m","k0":"m","retired":{"k0":"yesterday"}}'],
  ])('is none: %s', (_what, secret) => {
    expect(parseKeyRing(secret)).toBeUndefined();
  });
});
