import { randomBytes } from 'node:crypto';
import { CreateSecretCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, describe, expect, it } from 'vitest';
import { SecretsManagerSigner } from '../../lib/aws/signer.ts';
import { formatInstant } from '../../lib/core/identity/instant.ts';
import { startAwsUnderTest, uniqueName } from '../helpers/aws-under-test.ts';
import { signerContract } from './signer.contract.ts';

const aws = await startAwsUnderTest();
afterAll(() => aws.stop());

const client = new SecretsManagerClient(aws.config);

signerContract(aws.name, async () => {
  let now = Date.UTC(2026, 0, 1);
  const clock = { now: () => now, sleep: async () => {} };
  const materials = { k1: randomBytes(32).toString('hex') } as Record<string, string>;
  const SecretString = JSON.stringify({ current: 'k1', ...materials });
  const made = await client.send(new CreateSecretCommand({ Name: uniqueName('secret'), SecretString }));
  const secretArn = made.ARN ?? '';
  return {
    open: () => new SecretsManagerSigner({ client, secretArn, clock }),
    pass: (millis) => {
      now += millis;
    },
    async rotate() {
      materials.k2 = randomBytes(32).toString('hex');
      const ring = { current: 'k2', ...materials, retired: { k1: formatInstant(now) } };
      await client.send(new PutSecretValueCommand({ SecretId: secretArn, SecretString: JSON.stringify(ring) }));
    },
  };
});

describe(`signer on ${aws.name}`, () => {
  it('says that a secret that is not there will not be there next time either', async () => {
    const clock = { now: () => 0, sleep: async () => {} };
    const nowhere = new SecretsManagerSigner({ client, secretArn: uniqueName('no-secret'), clock });
    await expect(nowhere.sign(Buffer.from('a'))).rejects.toMatchObject({ failure: { class: 'permanent' } });
  });
});
