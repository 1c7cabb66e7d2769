import type { GlobalSecondaryIndexDescription, TableDescription } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { describeTable } from '../../../lib/aws/targets/dynamodb/describe.ts';
import { openRecordSource } from '../../../lib/aws/targets/dynamodb/source.ts';
import { RefusedRequest } from '../../../lib/core/plan/request.ts';
import type { Problem } from '../../../lib/core/policy/parse.ts';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import { failureOf } from '../../../lib/core/ports/index.ts';
import { testSettings } from '../../model/settings.ts';
import { fakeClient } from './fixture.ts';

const TABLE: TableDescription = {
  TableStatus: 'ACTIVE',
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  AttributeDefinitions: [
    { AttributeName: 'id', AttributeType: 'S' },
    { AttributeName: 'status', AttributeType: 'S' },
    { AttributeName: 'lastActivity', AttributeType: 'S' },
  ],
};

const INDEX: GlobalSecondaryIndexDescription = {
  IndexName: 'by-status',
  KeySchema: [
    { AttributeName: 'status', KeyType: 'HASH' },
    { AttributeName: 'lastActivity', KeyType: 'RANGE' },
  ],
  Projection: { ProjectionType: 'ALL' },
  IndexStatus: 'ACTIVE',
};

function clientOf(table: TableDescription | (() => never)) {
  const answer = typeof table === 'function' ? table : () => ({ Table: table });
  return fakeClient({ DescribeTableCommand: answer }).client;
}

function failing(name: string): () => never {
  return () => {
    throw Object.assign(new Error('no'), { name });
  };
}

/** Opens a source over what DescribeTable answers; the problems, or how many segments it has. */
async function opened(
  table: TableDescription | (() => never),
  overrides: Partial<Record<SettingKey, string>> = {},
): Promise<readonly Problem[] | number> {
  const options = { client: clientOf(table), settings: testSettings(overrides), cutoff: 0, kind: 'expire' } as const;
  try {
    return (await openRecordSource(options)).segments.length;
  } catch (error) {
    if (error instanceof RefusedRequest) return error.problems;
    throw error;
  }
}

describe('the description of a table', () => {
  it('tells keys, types, projections, states and replicas', async () => {
    const client = clientOf({
      TableStatus: 'UPDATING',
      KeySchema: [
        { AttributeName: 'position', KeyType: 'RANGE' },
        { AttributeName: 'id', KeyType: 'HASH' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'position', AttributeType: 'N' },
        { AttributeName: 'status', AttributeType: 'S' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'filling',
          KeySchema: [{ AttributeName: 'status', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['note'] },
          IndexStatus: 'CREATING',
          Backfilling: true,
        },
      ],
      LocalSecondaryIndexes: [{ IndexName: 'local', KeySchema: [], Projection: { ProjectionType: 'ALL' } }],
      Replicas: [{ RegionName: 'eu-west-1', ReplicaStatus: 'ACTIVE' }],
    });
    expect(await describeTable(client, 't')).toEqual({
      name: 't',
      status: 'UPDATING',
      keys: [
        { name: 'id', role: 'partition', type: 'S' },
        { name: 'position', role: 'sort', type: 'N' },
      ],
      indexes: [
        {
          name: 'filling',
          keys: [{ name: 'status', role: 'partition', type: 'S' }],
          projects: ['note'],
          status: 'CREATING',
          backfilling: true,
        },
        { name: 'local', keys: [], projects: 'all', status: 'ACTIVE', backfilling: false },
      ],
      replication: { regions: ['eu-west-1'], stronglyConsistent: false },
    });
  });

  it.each<[string, Partial<TableDescription>, object | undefined]>([
    ['one Region', {}, undefined],
    ['one Region, once replicated', { Replicas: [], GlobalTableVersion: '2019.11.21' }, undefined],
    ['replicas', { Replicas: [{ RegionName: 'r' }] }, { regions: ['r'], stronglyConsistent: false }],
    [
      'strongly consistent replicas',
      { Replicas: [{ RegionName: 'r' }], MultiRegionConsistency: 'STRONG' },
      { regions: ['r'], stronglyConsistent: true },
    ],
    [
      'a global table of the first version',
      { GlobalTableVersion: '2017.11.29' },
      { regions: [], stronglyConsistent: false },
    ],
  ])('knows of %s', async (_what, part, replication) => {
    expect((await describeTable(clientOf({ ...TABLE, ...part }), 't')).replication).toEqual(replication);
  });

  it('a table that is not there is a permanent failure', async () => {
    const failure = await describeTable(clientOf(failing('ResourceNotFoundException')), 't').catch((error: unknown) =>
      failureOf(error),
    );
    expect(failure).toMatchObject({ class: 'permanent' });
  });
});

describe('preflight of the record table', () => {
  const through = { recordIndexName: 'by-status' };

  it('opens a table that fits', async () => {
    expect(await opened(TABLE)).toBe(2);
    expect(await opened({ ...TABLE, GlobalSecondaryIndexes: [INDEX] }, through)).toBe(2);
  });

  it.each<
    [string, TableDescription | (() => never), Partial<Record<SettingKey, string>>, readonly (readonly string[])[]]
  >([
    ['an unknown table', failing('ResourceNotFoundException'), {}, [['RecordTableName', '"accounts-table"']]],
    [
      'a table that may not be described',
      failing('AccessDeniedException'),
      {},
      [['RecordTableName', '"accounts-table"']],
    ],
    ['a table being made', { ...TABLE, TableStatus: 'CREATING' }, {}, [['RecordTableName', '"accounts-table"']]],
    [
      'a table with a replica',
      { ...TABLE, Replicas: [{ RegionName: 'eu-west-1' }] },
      {},
      [['RecordTableName', '"accounts-table"']],
    ],
    ['a missing index', TABLE, through, [['RecordIndexName', '"by-status"']]],
    [
      'a backfilling index',
      { ...TABLE, GlobalSecondaryIndexes: [{ ...INDEX, IndexStatus: 'CREATING', Backfilling: true }] },
      through,
      [['RecordIndexName', '"by-status"']],
    ],
    [
      'an index being removed',
      { ...TABLE, GlobalSecondaryIndexes: [{ ...INDEX, IndexStatus: 'DELETING' }] },
      through,
      [['RecordIndexName', '"by-status"']],
    ],
    [
      'an index with keys only',
      { ...TABLE, GlobalSecondaryIndexes: [{ ...INDEX, Projection: { ProjectionType: 'KEYS_ONLY' } }] },
      through,
      [['RecordIndexName', '"by-status"']],
    ],
    [
      'other keys',
      TABLE,
      { partitionKeyAttribute: 'pk', sortKeyAttribute: 'sk' },
      [
        ['PartitionKeyAttribute', '"pk"'],
        ['SortKeyAttribute', '"sk"'],
      ],
    ],
  ])('P25: refuses %s, with the parameter and the value received', async (_what, table, overrides, wanted) => {
    const problems = await opened(table, overrides);
    if (typeof problems === 'number') throw new Error('It was opened.');
    expect(problems.map(({ parameter, received }) => [parameter, received])).toEqual(wanted);
    for (const { parameter, received, message } of problems) {
      expect(message).toContain(parameter);
      expect(message).toContain(received);
    }
  });

  it('a failure that says nothing about the table is no refusal: it is tried again', async () => {
    const thrown = await opened(failing('ThrottlingException')).catch((error: unknown) => failureOf(error));
    expect(thrown).toMatchObject({ class: 'transient', error: 'ThrottlingException' });
  });
});
