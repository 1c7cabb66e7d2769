import {
  type AttributeDefinition,
  DescribeTableCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndexDescription,
  type KeySchemaElement,
  type LocalSecondaryIndexDescription,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import type { Settings } from '../../../core/policy/settings.ts';
import { portError } from '../../errors.ts';
import type { KeyType } from './values.ts';

export interface KeyFacts {
  readonly name: string;
  readonly role: 'partition' | 'sort';
  readonly type: KeyType;
}

export interface IndexFacts {
  readonly name: string;
  /** Partition keys first. An item without one of them is not in the index. */
  readonly keys: readonly KeyFacts[];
  /** `all`, or the attributes that it carries besides its own keys and the table's. */
  readonly projects: 'all' | readonly string[];
  /** `ACTIVE`, or what is being done to it: it may lack records. Local indexes are always active. */
  readonly status: string;
  /** True while the records of before it was made are still being put into it. */
  readonly backfilling: boolean;
}

/** What discovery, pricing and preflight must know about a record table. */
export interface TableFacts {
  readonly name: string;
  /** As DynamoDB names it: `ACTIVE`, `UPDATING`, `CREATING` ... */
  readonly status: string;
  readonly keys: readonly KeyFacts[];
  readonly indexes: readonly IndexFacts[];
  /** Undefined where the table is in one Region only. */
  readonly replication: ReplicationFacts | undefined;
}

export interface ReplicationFacts {
  /** The other Regions; empty where the table is of a version of global tables that does not tell. */
  readonly regions: readonly string[];
  /** A condition then judges the newest write of any Region. */
  readonly stronglyConsistent: boolean;
}

/** Reads a table's description. Throws PortError; permanent where there is no such table. */
export async function describeTable(client: DynamoDBClient, name: string): Promise<TableFacts> {
  let table: TableDescription | undefined;
  try {
    table = (await client.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    throw portError('DescribeTable', error);
  }
  const types = table?.AttributeDefinitions ?? [];
  return {
    name,
    status: table?.TableStatus ?? 'unknown',
    keys: keysOf(table?.KeySchema, types),
    indexes: [
      ...(table?.GlobalSecondaryIndexes ?? []).map((index) => indexOf(index, types, index)),
      ...(table?.LocalSecondaryIndexes ?? []).map((index) => indexOf(index, types, { IndexStatus: 'ACTIVE' })),
    ],
    replication: replicationOf(table),
  };
}

/** The index that discovery goes through; undefined where it scans the table, or where there is no such index. */
export function discoveryIndex(table: TableFacts, settings: Settings): IndexFacts | undefined {
  return table.indexes.find((index) => index.name === settings.recordIndexName);
}

/** True where an index holds the attribute of every item that is in it. */
export function carries(table: TableFacts, index: IndexFacts, attribute: string): boolean {
  if (index.projects === 'all' || index.projects.includes(attribute)) return true;
  return [...index.keys, ...table.keys].some((key) => key.name === attribute);
}

function indexOf(
  index: GlobalSecondaryIndexDescription | LocalSecondaryIndexDescription,
  types: readonly AttributeDefinition[],
  { IndexStatus, Backfilling }: Pick<GlobalSecondaryIndexDescription, 'IndexStatus' | 'Backfilling'>,
): IndexFacts {
  const { ProjectionType, NonKeyAttributes = [] } = index.Projection ?? {};
  return {
    name: index.IndexName ?? '',
    keys: keysOf(index.KeySchema, types),
    projects: ProjectionType === 'ALL' ? 'all' : NonKeyAttributes,
    status: IndexStatus ?? 'unknown',
    backfilling: Backfilling === true,
  };
}

/** The first version of global tables is known by its name only; it lists no replicas here. */
const GLOBAL_TABLES_OF_2017 = '2017.11.29';

function replicationOf(table: TableDescription | undefined): ReplicationFacts | undefined {
  const regions = (table?.Replicas ?? []).map(({ RegionName }) => RegionName ?? 'unknown');
  if (regions.length === 0 && table?.GlobalTableVersion !== GLOBAL_TABLES_OF_2017) return undefined;
  return { regions, stronglyConsistent: table?.MultiRegionConsistency === 'STRONG' };
}

/** A global index may have up to four keys of each role. */
function keysOf(schema: readonly KeySchemaElement[] = [], types: readonly AttributeDefinition[]): readonly KeyFacts[] {
  const keys = schema.map(({ AttributeName: name = '', KeyType }): KeyFacts => {
    const type = types.find((definition) => definition.AttributeName === name)?.AttributeType;
    return { name, role: KeyType === 'HASH' ? 'partition' : 'sort', type: type === 'N' || type === 'B' ? type : 'S' };
  });
  return [...keys.filter((key) => key.role === 'partition'), ...keys.filter((key) => key.role === 'sort')];
}
