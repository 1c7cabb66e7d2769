import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll } from 'vitest';
import { startAwsUnderTest } from '../helpers/aws-under-test.ts';
import { idempotencyContract } from './idempotency.contract.ts';
import { idempotencyOn } from './idempotency-dynamo.ts';

const aws = await startAwsUnderTest();
afterAll(() => aws.stop());

idempotencyContract(aws.name, () => idempotencyOn(new DynamoDBClient(aws.config)));
