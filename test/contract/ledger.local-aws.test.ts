import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe } from 'vitest';
import { startAwsUnderTest } from '../helpers/aws-under-test.ts';
import { ledgerContract } from './ledger.contract.ts';
import { createLedgerTable, ledgerOn } from './ledger-dynamo.ts';
import { ledgerDynamoCases } from './ledger-dynamo-cases.ts';

const aws = await startAwsUnderTest();
afterAll(() => aws.stop());

describe(`on ${aws.name}`, () => {
  const client = new DynamoDBClient(aws.config);
  ledgerContract(aws.name, async () => ledgerOn(client, await createLedgerTable(client)));
  ledgerDynamoCases(aws.name, () => new DynamoDBClient(aws.config));
});
