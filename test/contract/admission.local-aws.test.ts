import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe } from 'vitest';
import { clientConfig, trust } from '../../lib/local/access.ts';
import { startLocalAws } from '../../lib/local/server.ts';
import { admissionOnDynamo } from './admission-dynamo.ts';

const aws = await startLocalAws();
trust(aws);
afterAll(() => aws.stop());

describe('on the local AWS', () => {
  admissionOnDynamo('local AWS', () => new DynamoDBClient(clientConfig(aws)));
});
