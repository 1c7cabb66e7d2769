import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe } from 'vitest';
import { startAwsUnderTest } from '../helpers/aws-under-test.ts';
import { admissionOnDynamo } from './admission-dynamo.ts';

const aws = await startAwsUnderTest();
afterAll(() => aws.stop());

describe(`on ${aws.name}`, () => {
  admissionOnDynamo(aws.name, () => new DynamoDBClient(aws.config));
});
