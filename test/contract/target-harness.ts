import {
  type AttributeDefinition,
  CreateTableCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  type Projection,
  PutItemCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { type Guard, recordGuard } from '../../lib/aws/targets/dynamodb/guard.ts';
import { keyNames, keyValues } from '../../lib/aws/targets/dynamodb/keys.ts';
import { openRecordSource } from '../../lib/aws/targets/dynamodb/source.ts';
import { type TargetVariant, targetOf } from '../../lib/aws/targets/dynamodb/target.ts';
import type { Item, KeyType } from '../../lib/aws/targets/dynamodb/values.ts';
import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { RunKind } from '../../lib/core/identity/keys.ts';
import type { SettingKey, Settings } from '../../lib/core/policy/settings.ts';
import type { RecordSource, Target } from '../../lib/core/ports/index.ts';
import { uniqueName } from '../helpers/aws-under-test.ts';
import { testSettings } from '../model/settings.ts';

/** A record table with a policy over it, empty at first. Items travel as DynamoDB's attribute values. */
export interface RecordTable {
  readonly settings: Settings;
  readonly target: Target;
  put(item: Item): Promise<void>;
  /** By record key. */
  read(key: string): Promise<Item | undefined>;
  remove(key: string): Promise<void>;
  /** For a run of kind `expire` unless told otherwise. */
  source(cutoff: EpochMillis, options?: SourceAsked): Promise<RecordSource>;
}

export interface SourceAsked {
  readonly itemsPerPage?: number;
  readonly kind?: RunKind;
  /** Looks into a table of this name instead; of DynamoDB only. */
  readonly inTable?: string;
}

/** What a contract case asks for beyond the settings' names; a key is a string unless it says otherwise. */
export interface TableShape {
  readonly types?: Readonly<Record<string, KeyType>>;
  readonly indexes?: readonly {
    readonly name: string;
    readonly keys: readonly string[];
    /** `all`, or the attributes carried besides the keys. */
    readonly projects: 'all' | readonly string[];
  }[];
}

export interface TargetHarness {
  /** Makes a fresh table over `testSettings` with these overrides. */
  table(overrides?: Partial<Record<SettingKey, string>>, shape?: TableShape): Promise<RecordTable>;
}

export interface DynamoHarnessOptions {
  readonly variant: TargetVariant;
  /** The guard of a mutant; the real one unless given. */
  readonly guard?: Guard;
}

/** The real adapters over a DynamoDB of any kind. */
export function dynamoHarness(client: DynamoDBClient, options: DynamoHarnessOptions): TargetHarness {
  return {
    async table(overrides = {}, shape = {}) {
      const settings = testSettings({ ...overrides, recordTableName: uniqueName('records.table') });
      await createTable(client, settings, shape);
      const guard = options.guard ?? recordGuard;
      const target = targetOf(options.variant, { client, meter: { addWriteUnits: () => {} }, guard });
      return tableOf(client, settings, target);
    },
  };
}

function tableOf(client: DynamoDBClient, settings: Settings, target: Target): RecordTable {
  const TableName = settings.recordTableName;
  const keyOf = (key: string) => Object.fromEntries(keyValues(key, keyNames(settings)));
  return {
    settings,
    target,
    put: async (item) => void (await client.send(new PutItemCommand({ TableName, Item: item }))),
    read: async (key) =>
      (await client.send(new GetItemCommand({ TableName, Key: keyOf(key), ConsistentRead: true }))).Item,
    remove: async (key) => void (await client.send(new DeleteItemCommand({ TableName, Key: keyOf(key) }))),
    source: (cutoff, { inTable = TableName, ...options } = {}) =>
      openRecordSource({
        client,
        settings: { ...settings, recordTableName: inTable },
        cutoff,
        kind: 'expire',
        ...options,
      }),
  };
}

export async function createTable(
  client: DynamoDBClient,
  settings: Settings,
  { types = {}, indexes = [] }: TableShape,
) {
  const names = new Set([...keyNames(settings), ...indexes.flatMap((index) => index.keys)]);
  const AttributeDefinitions = [...names].map(
    (name): AttributeDefinition => ({ AttributeName: name, AttributeType: types[name] ?? 'S' }),
  );
  await client.send(
    new CreateTableCommand({
      TableName: settings.recordTableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions,
      KeySchema: schemaOf(keyNames(settings)),
      GlobalSecondaryIndexes: indexes.length === 0 ? undefined : indexes.map(indexOf),
    }),
  );
  await waitUntilTableExists(
    { client, minDelay: 1, maxDelay: 2, maxWaitTime: 120 },
    { TableName: settings.recordTableName },
  );
}

function indexOf({ name, keys, projects }: NonNullable<TableShape['indexes']>[number]): GlobalSecondaryIndex {
  const Projection: Projection =
    projects === 'all'
      ? { ProjectionType: 'ALL' }
      : projects.length === 0
        ? { ProjectionType: 'KEYS_ONLY' }
        : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...projects] };
  return { IndexName: name, KeySchema: schemaOf(keys), Projection };
}

function schemaOf(keys: readonly string[]): KeySchemaElement[] {
  return keys.map((name, n) => ({ AttributeName: name, KeyType: n === 0 ? 'HASH' : 'RANGE' }));
}
