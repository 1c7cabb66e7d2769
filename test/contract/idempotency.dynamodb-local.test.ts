import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { idempotencyContract } from './idempotency.contract.ts';
import { idempotencyOn } from './idempotency-dynamo.ts';
import { onDynamoDbLocal } from './on-dynamodb-local.ts';

await onDynamoDbLocal((local) => {
  idempotencyContract('DynamoDB Local', () => idempotencyOn(new DynamoDBClient({ ...local })));
});
