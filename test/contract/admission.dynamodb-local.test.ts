import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { admissionOnDynamo } from './admission-dynamo.ts';
import { onDynamoDbLocal } from './on-dynamodb-local.ts';

await onDynamoDbLocal((local) => {
  admissionOnDynamo('DynamoDB Local', () => new DynamoDBClient({ ...local }));
});
