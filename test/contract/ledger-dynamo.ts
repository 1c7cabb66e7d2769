import { CreateTableCommand, type DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoLedger } from '../../lib/aws/ledger/ledger.ts';
import { LEDGER_KEY, OPEN_INDEX } from '../../lib/aws/ledger/schema.ts';
import { systemClock, systemRandom } from '../../lib/aws/system.ts';
import { uniqueName } from '../helpers/aws-under-test.ts';

/** Makes an empty ledger table by the key schema that the code and the stack agree on. */
export async function createLedgerTable(client: DynamoDBClient): Promise<string> {
  const TableName = uniqueName('ledger');
  const keys = [LEDGER_KEY.partitionKey, LEDGER_KEY.sortKey, OPEN_INDEX.partitionKey, OPEN_INDEX.sortKey];
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: keySchema(LEDGER_KEY),
      GlobalSecondaryIndexes: [
        {
          IndexName: OPEN_INDEX.indexName,
          KeySchema: keySchema(OPEN_INDEX),
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...OPEN_INDEX.included] },
        },
      ],
    }),
  );
  await waitUntilTableExists({ client, minDelay: 1, maxDelay: 2, maxWaitTime: 120 }, { TableName });
  return TableName;
}

export function ledgerOn(client: DynamoDBClient, tableName: string): DynamoLedger {
  return new DynamoLedger({ client, tableName, clock: systemClock, random: systemRandom });
}

function keySchema(key: { readonly partitionKey: string; readonly sortKey: string }) {
  return [
    { AttributeName: key.partitionKey, KeyType: 'HASH' as const },
    { AttributeName: key.sortKey, KeyType: 'RANGE' as const },
  ];
}
