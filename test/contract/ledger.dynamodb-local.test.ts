import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe } from 'vitest';
import { startDynamoDbLocal } from '../helpers/dynamodb-local.ts';
import { ledgerContract } from './ledger.contract.ts';
import { createLedgerTable, ledgerOn } from './ledger-dynamo.ts';
import { ledgerDynamoCases } from './ledger-dynamo-cases.ts';

const local = await startDynamoDbLocal();
afterAll(() => local?.stop());

describe.runIf(local !== undefined)('on DynamoDB Local', () => {
  const client = new DynamoDBClient({ ...local, maxAttempts: 1 });
  ledgerContract('DynamoDB Local', async () => ledgerOn(client, await createLedgerTable(client)));
  ledgerDynamoCases('DynamoDB Local', () => new DynamoDBClient({ ...local }));
});
