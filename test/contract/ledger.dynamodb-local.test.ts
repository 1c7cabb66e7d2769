import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ledgerContract } from './ledger.contract.ts';
import { createLedgerTable, ledgerOn } from './ledger-dynamo.ts';
import { ledgerDynamoCases } from './ledger-dynamo-cases.ts';
import { onDynamoDbLocal } from './on-dynamodb-local.ts';

await onDynamoDbLocal((local) => {
  const client = new DynamoDBClient({ ...local, maxAttempts: 1 });
  ledgerContract('DynamoDB Local', async () => ledgerOn(client, await createLedgerTable(client)));
  ledgerDynamoCases('DynamoDB Local', () => new DynamoDBClient({ ...local }));
});
