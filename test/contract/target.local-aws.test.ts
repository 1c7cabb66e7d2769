import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe } from 'vitest';
import { clientConfig, trust } from '../../lib/local/access.ts';
import { startLocalAws } from '../../lib/local/server.ts';
import { sourceContract } from './source.contract.ts';
import { targetContract } from './target.contract.ts';
import { dynamoHarness } from './target-harness.ts';
import { probeContract } from './target-probe.contract.ts';

const aws = await startLocalAws();
trust(aws);
afterAll(() => aws.stop());

describe('on the local AWS', () => {
  const client = new DynamoDBClient(clientConfig(aws));

  for (const variant of ['batch-execute', 'update-item'] as const) {
    targetContract(`local AWS by ${variant}`, () => dynamoHarness(client, { variant }));
  }

  sourceContract('local AWS', () => dynamoHarness(client, { variant: 'batch-execute' }));
  probeContract('local AWS', client);
});
