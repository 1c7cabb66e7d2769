import { CreateTableCommand, type DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { PowertoolsIdempotency } from '../../lib/aws/idempotency.ts';
import { uniqueName } from '../helpers/aws-under-test.ts';
import type { IdempotencyHarness } from './idempotency.contract.ts';
import { untilInTime } from './until.ts';

/** Powertools on a table of its own, by the key that the stack gives it. */
export async function idempotencyOn(client: DynamoDBClient): Promise<IdempotencyHarness> {
  const TableName = uniqueName('idempotency');
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  await waitUntilTableExists({ client, minDelay: 1, maxDelay: 2, maxWaitTime: 60 }, { TableName });
  const open = (remainingMillis: number) =>
    new PowertoolsIdempotency({ client, tableName: TableName, deadline: { remainingMillis: () => remainingMillis } });
  return { open, until: untilInTime };
}
