import { type DynamoDBClient, GetItemCommand, ListTablesCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll } from 'vitest';
import { createMeter } from '../../lib/aws/meter.ts';
import { createLedgerTable } from './ledger-dynamo.ts';
import { meterContract } from './meter.contract.ts';

/** The meter of a process, on clients of its own. */
export function meterOnDynamo(name: string, makeClient: () => DynamoDBClient): void {
  let TableName: string;
  beforeAll(async () => {
    TableName = await createLedgerTable(makeClient());
  });

  meterContract(name, async () => {
    const meter = createMeter();
    const client = makeClient();
    meter.price(client);
    const Key = { pk: { S: 'a' }, sk: { S: 'b' } };
    return {
      meter,
      write: async () => void (await client.send(new PutItemCommand({ TableName, Item: Key }))),
      read: async () => void (await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))),
      call: async () => void (await client.send(new ListTablesCommand({ Limit: 1 }))),
    };
  });
}
