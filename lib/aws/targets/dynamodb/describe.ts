import {
  type AttributeDefinition,
  DescribeTableCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndexDescription,
  type KeySchemaElement,
  type LocalSecondaryIndexDescription,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
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
  /** False while it is built, filled or removed: it may lack records. */
  readonly complete: boolean;
}

/** What discovery, pricing and preflight must know about a record table. */
export interface TableFacts {
  readonly name: string;
  readonly keys: readonly KeyFacts[];
  readonly indexes: readonly IndexFacts[];
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
    keys: keysOf(table?.KeySchema, types),
    indexes: [
      ...(table?.GlobalSecondaryIndexes ?? []).map((index) => indexOf(index, types, isComplete(index))),
      ...(table?.LocalSecondaryIndexes ?? []).map((index) => indexOf(index, types, true)),
    ],
  };
}

/** True where an index holds the attribute of every item that is in it. */
export function carries(table: TableFacts, index: IndexFacts, attribute: string): boolean {
  if (index.projects === 'all' || index.projects.includes(attribute)) return true;
  return [...index.keys, ...table.keys].some((key) => key.name === attribute);
}

function isComplete(index: GlobalSecondaryIndexDescription): boolean {
  return index.IndexStatus === 'ACTIVE' && index.Backfilling !== true;
}

function indexOf(
  index: GlobalSecondaryIndexDescription | LocalSecondaryIndexDescription,
  types: readonly AttributeDefinition[],
  complete: boolean,
): IndexFacts {
  const { ProjectionType, NonKeyAttributes = [] } = index.Projection ?? {};
  return {
    name: index.IndexName ?? '',
    keys: keysOf(index.KeySchema, types),
    projects: ProjectionType === 'ALL' ? 'all' : NonKeyAttributes,
    complete,
  };
}

/** A global index may have up to four keys of each role. */
function keysOf(schema: readonly KeySchemaElement[] = [], types: readonly AttributeDefinition[]): readonly KeyFacts[] {
  const keys = schema.map(({ AttributeName: name = '', KeyType }): KeyFacts => {
    const type = types.find((definition) => definition.AttributeName === name)?.AttributeType;
    return { name, role: KeyType === 'HASH' ? 'partition' : 'sort', type: type === 'N' || type === 'B' ? type : 'S' };
  });
  return [...keys.filter((key) => key.role === 'partition'), ...keys.filter((key) => key.role === 'sort')];
}
