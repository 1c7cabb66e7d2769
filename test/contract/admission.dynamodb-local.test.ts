import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe } from 'vitest';
import { startDynamoDbLocal } from '../helpers/dynamodb-local.ts';
import { admissionOnDynamo } from './admission-dynamo.ts';

const local = await startDynamoDbLocal();
afterAll(() => local?.stop());

describe.runIf(local !== undefined)('on DynamoDB Local', () => {
  admissionOnDynamo('DynamoDB Local', () => new DynamoDBClient({ ...local }));
});
