import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Settings } from '../../lib/core/policy/settings.ts';
import { type Item, loadRecords } from '../../lib/local/records.ts';
import { createLedgerTable } from '../contract/ledger-dynamo.ts';
import { createTable } from '../contract/target-harness.ts';
import type { DynamoDbLocal } from '../helpers/dynamodb-local.ts';
import { BenchQueue } from './queue.ts';
import { type BenchOptions, benchSettings } from './settings.ts';
import type { RecordShape } from './shapes.ts';
import type { TableRole } from './tally.ts';

/** Every DynamoDB client of this process, and of its children, talks to it from now on. */
export function pointProcessAtDynamoDbLocal({ endpoint, region, credentials }: DynamoDbLocal): void {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
}

/** What one run of one contender works on; nothing of it is shared with another run. */
export interface World {
  readonly settings: Settings;
  readonly ledgerTable: string;
  readonly idempotencyTable: string;
  readonly queue: BenchQueue;
  /** How many work at once, where there is a queue. */
  readonly consumers: number;
  readonly shape: RecordShape;
  readonly records: number;
  readonly roleOf: TableRole;
}

export interface WorldOptions extends BenchOptions {
  readonly shape: RecordShape;
  readonly items: Iterable<Item>;
}

/** Makes tables and queue, and loads the records. Its own client is not metered: loading costs nobody anything. */
export async function createWorld({ shape, items, ...options }: WorldOptions): Promise<World> {
  const dynamo = new DynamoDBClient({});
  const settings = benchSettings(`records-${randomUUID()}`, options);
  await createTable(dynamo, settings, { indexes: shape.indexes });
  const idempotencyTable = await createIdempotencyTable(dynamo);
  const ledgerTable = await createLedgerTable(dynamo);
  const records = await loadRecords(dynamo, settings.recordTableName, items);
  dynamo.destroy();
  const roles = new Map([
    [settings.recordTableName, 'records'],
    [ledgerTable, 'ledger'],
    [idempotencyTable, 'idempotency'],
  ]);
  const queue = new BenchQueue();
  const { consumerConcurrency: consumers } = settings;
  const roleOf: TableRole = (table) => roles.get(table);
  return { settings, ledgerTable, idempotencyTable, queue, consumers, shape, records, roleOf };
}

export async function createIdempotencyTable(dynamo: DynamoDBClient): Promise<string> {
  const TableName = `idempotency-${randomUUID()}`;
  await dynamo.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  return TableName;
}
