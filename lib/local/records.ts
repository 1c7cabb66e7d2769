import { setTimeout as pause } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  type DynamoDBClient,
  paginateScan,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

export type Item = Record<string, AttributeValue>;

export interface RecordTable {
  readonly name: string;
  /** Attribute names; both keys are strings. */
  readonly partitionKey: string;
  readonly sortKey?: string;
}

const ITEMS_PER_CALL = 25;
const CALLS_AT_ONCE = 8;
const MAX_TRIES = 10;
const RETRY_PAUSE_MILLIS = 50;
const CREATE_DEADLINE_SECONDS = 60;

/** Makes an on-demand table and waits until it takes writes. */
export async function createRecordTable(client: DynamoDBClient, table: RecordTable): Promise<void> {
  const keys = [table.partitionKey, ...(table.sortKey === undefined ? [] : [table.sortKey])];
  await client.send(
    new CreateTableCommand({
      TableName: table.name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((name) => ({ AttributeName: name, AttributeType: 'S' })),
      KeySchema: keys.map((name, n) => ({ AttributeName: name, KeyType: n === 0 ? 'HASH' : 'RANGE' })),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: CREATE_DEADLINE_SECONDS }, { TableName: table.name });
}

/** Writes all items, several calls at a time and in memory that does not grow; gives how many. Keys must not repeat. */
export async function loadRecords(
  client: DynamoDBClient,
  tableName: string,
  items: AsyncIterable<Item> | Iterable<Item>,
): Promise<number> {
  const chunks = chunked(items);
  let loaded = 0;
  const worker = async () => {
    for (;;) {
      const next = await chunks.next();
      if (next.done) return;
      await writeChunk(client, tableName, next.value);
      loaded += next.value.length;
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, worker));
  return loaded;
}

async function* chunked(items: AsyncIterable<Item> | Iterable<Item>): AsyncGenerator<Item[], undefined> {
  let chunk: Item[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < ITEMS_PER_CALL) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
  return undefined;
}

async function writeChunk(client: DynamoDBClient, tableName: string, chunk: readonly Item[]): Promise<void> {
  let left = chunk.map((Item) => ({ PutRequest: { Item } }));
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const answer = await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: left } }));
    left = (answer.UnprocessedItems?.[tableName] ?? []) as typeof left;
    if (left.length === 0) return;
    await pause(RETRY_PAUSE_MILLIS * 2 ** tries);
  }
  throw new Error(`${left.length} items were still not written to ${tableName} after ${MAX_TRIES} tries.`);
}

/** Every item of a table, in no particular order, read strongly consistent. */
export async function* readRecords(client: DynamoDBClient, tableName: string): AsyncGenerator<Item> {
  for await (const page of paginateScan({ client }, { TableName: tableName, ConsistentRead: true })) {
    yield* page.Items ?? [];
  }
}
