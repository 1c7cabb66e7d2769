import { describe, expect, it } from 'vitest';
import { describeTable, type IndexFacts, type TableFacts } from '../../../lib/aws/targets/dynamodb/describe.ts';
import { partitionValues, upperBound } from '../../../lib/aws/targets/dynamodb/partition-values.ts';
import { tableProblems } from '../../../lib/aws/targets/dynamodb/table-problems.ts';
import { leastUpdateUnits, updateUnits } from '../../../lib/aws/targets/dynamodb/write-units.ts';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import { failureOf } from '../../../lib/core/ports/index.ts';
import { testSettings } from '../../model/settings.ts';
import { fakeClient } from './fixture.ts';

const KEYS = [{ name: 'id', role: 'partition', type: 'S' }] as const;
const BY_STATUS: IndexFacts = {
  name: 'by-status',
  keys: [
    { name: 'status', role: 'partition', type: 'S' },
    { name: 'lastActivity', role: 'sort', type: 'S' },
  ],
  projects: ['tenant'],
  complete: true,
};

function tableWith(...indexes: readonly IndexFacts[]): TableFacts {
  return { name: 'accounts-table', keys: KEYS, indexes };
}

function problemsOf(overrides: Partial<Record<SettingKey, string>>, table = tableWith(BY_STATUS)): readonly string[] {
  return tableProblems(table, testSettings(overrides)).map((problem) => problem.message);
}

describe('the description of a table', () => {
  it('tells keys, types, projections and whether an index is complete', async () => {
    const { client } = fakeClient({
      DescribeTableCommand: () => ({
        Table: {
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
              IndexStatus: 'ACTIVE',
              Backfilling: true,
            },
          ],
        },
      }),
    });
    expect(await describeTable(client, 't')).toEqual({
      name: 't',
      keys: [
        { name: 'id', role: 'partition', type: 'S' },
        { name: 'position', role: 'sort', type: 'N' },
      ],
      indexes: [
        {
          name: 'filling',
          keys: [{ name: 'status', role: 'partition', type: 'S' }],
          projects: ['note'],
          complete: false,
        },
      ],
    });
  });

  it('a table that is not there is a permanent failure', async () => {
    const { client } = fakeClient({
      DescribeTableCommand: () => {
        throw Object.assign(new Error('no'), { name: 'ResourceNotFoundException' });
      },
    });
    const failure = await describeTable(client, 't').catch((error: unknown) => failureOf(error));
    expect(failure).toMatchObject({ class: 'permanent' });
  });
});

describe('settings that do not fit the table', () => {
  it('none where they do', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ recordIndexName: 'by-status' })).toEqual([]);
    expect(problemsOf({ recordIndexName: 'by-status', indexPartitionValues: 'ACTIVE' })).toEqual([]);
  });

  it('keys of other names', () => {
    expect(problemsOf({ partitionKeyAttribute: 'pk', sortKeyAttribute: 'sk' })).toEqual([
      'PartitionKeyAttribute: the partition key of the table accounts-table is "id".',
      'SortKeyAttribute: the sort key of the table accounts-table is (none).',
    ]);
  });

  it('an expiry that would write a key, one attribute twice, or the timestamp or a hold', () => {
    expect(problemsOf({ operationKeyAttribute: 'id' })).toEqual([
      'OperationKeyAttribute: a key of the table cannot be changed.',
    ]);
    expect(problemsOf({ expiredAtAttribute: 'status' })).toHaveLength(2);
    expect(problemsOf({ expiredAtAttribute: 'lastActivity' })).toEqual([
      'ExpiredAtAttribute: "lastActivity" is also the timestamp, the tenant or a hold.',
    ]);
    expect(problemsOf({ holdAttributes: 'status' })).toHaveLength(1);
  });

  it('an index key that an expiry would write with another type', () => {
    const byTime: IndexFacts = {
      ...BY_STATUS,
      name: 'by-expiry',
      keys: [{ name: 'expiredAt', role: 'partition', type: 'N' }],
    };
    expect(problemsOf({}, tableWith(byTime))).toEqual([
      'ExpiredAtAttribute: the index by-expiry needs another type of "expiredAt".',
    ]);
    expect(problemsOf({ timestampFormat: 'epoch-seconds' }, tableWith(byTime))).toEqual([]);
  });

  it('an index that is missing, being filled, or does not carry what discovery reads', () => {
    expect(problemsOf({ recordIndexName: 'other' })).toHaveLength(1);
    const filling = tableWith({ ...BY_STATUS, complete: false });
    expect(problemsOf({ recordIndexName: 'by-status' }, filling)).toEqual([
      'RecordIndexName: the index is still being built or removed.',
    ]);
    const bare = tableWith({ ...BY_STATUS, projects: [] });
    expect(problemsOf({ recordIndexName: 'by-status' }, bare)).toEqual([
      'RecordIndexName: the index does not carry "tenant".',
    ]);
  });

  it('partition values without a suitable index', () => {
    expect(problemsOf({ indexPartitionValues: 'ACTIVE' })).toHaveLength(1);
    const query = { recordIndexName: 'by-status', indexPartitionValues: 'ACTIVE' };
    expect(problemsOf({ ...query, timestampFormat: 'epoch-millis' })).toEqual([
      'IndexPartitionValues: the index by-status is sorted by a type that timestamps of this format do not have.',
    ]);
    const [, sort] = BY_STATUS.keys;
    const twoKeys = { ...BY_STATUS, keys: [...KEYS, ...BY_STATUS.keys] };
    expect(problemsOf(query, tableWith(twoKeys))).toHaveLength(1);
    const shards = {
      ...BY_STATUS,
      projects: 'all',
      keys: [{ name: 'shard', role: 'partition', type: 'N' }, sort],
    } as IndexFacts;
    expect(problemsOf({ ...query, indexPartitionValues: '1,2,x' }, tableWith(shards))).toEqual([
      'IndexPartitionValues: not every value fits the partition key "shard" of type N.',
    ]);
  });
});

describe('listed partitions', () => {
  it('are taken once each, without spaces, in the type of the key', () => {
    expect(partitionValues(testSettings({ indexPartitionValues: 'a, b,a' }), 'S')).toEqual([{ S: 'a' }, { S: 'b' }]);
    expect(partitionValues(testSettings({ indexPartitionValues: '1,-2' }), 'N')).toEqual([{ N: '1' }, { N: '-2' }]);
    for (const [text, type] of [
      ['1,x', 'N'],
      ['a, ', 'S'],
      ['a', 'B'],
    ] as const) {
      expect(partitionValues(testSettings({ indexPartitionValues: text }), type)).toBeUndefined();
    }
  });

  it('P15: the upper bound is behind every canonical spelling of a due instant', () => {
    const cutoff = Date.UTC(2022, 0, 1);
    for (const offset of [0, 1, 499, 500, 999]) {
      const bound = upperBound(cutoff + offset, 'iso-8601').S ?? '';
      const due = [new Date(cutoff + offset - 1).toISOString(), '2021-12-31T23:59:59Z', '2021-12-31T23:59:59.999Z'];
      if (offset > 0) due.push('2022-01-01T00:00:00Z', '2022-01-01T00:00:00.000Z');
      for (const text of due) expect(text <= bound).toBe(true);
      expect('2022-01-01T00:00:01Z' <= bound).toBe(false);
    }
    expect(upperBound(cutoff + 999, 'epoch-seconds')).toEqual({ N: String(cutoff / 1000) });
    expect(upperBound(cutoff + 999, 'epoch-millis')).toEqual({ N: String(cutoff + 999) });
  });
});

describe('write units of an update', () => {
  const before = { id: { S: 'a' }, status: { S: 'ACTIVE' }, lastActivity: { S: '2021-06-01T12:00:00Z' } };
  const change = { status: { S: 'EXPIRED' }, expiredAt: { N: '1' }, key: { S: 'k' } };
  const index = (keys: readonly string[], projects: IndexFacts['projects']): IndexFacts => ({
    name: 'i',
    keys: keys.map((name, n) => ({ name, role: n === 0 ? 'partition' : 'sort', type: 'S' })),
    projects,
    complete: true,
  });

  it.each([
    ['no index', [], 1],
    ['an index by the state: the old entry goes, the new one comes', [index(['status'], [])], 3],
    ['an index that only carries what changed', [index(['lastActivity'], ['status'])], 2],
    ['an index that carries nothing that changed', [index(['lastActivity'], ['note'])], 1],
    ['an index whose key the record never has', [index(['nowhere'], 'all')], 1],
    ['an index whose key the update brings', [index(['key'], 'all')], 2],
  ] as const)('%s', (_name, indexes, units) => {
    expect(updateUnits(tableWith(...indexes), before, change)).toBe(units);
  });

  it('go by the larger of both images, a kilobyte at a time', () => {
    const sized = (bytes: number) => ({ ...before, n: { S: 'n'.repeat(bytes) } });
    // Both images without `n`: 47 and 63 bytes, and 1 for its name.
    expect(updateUnits(tableWith(), sized(1024 - 64), change)).toBe(1);
    expect(updateUnits(tableWith(), sized(1024 - 63), change)).toBe(2);
    // 2,048 bytes before and 2,064 after: 3 for the table, 2 to remove the old entry, 3 to put the new one.
    expect(updateUnits(tableWith(index(['status'], 'all')), sized(2000), change)).toBe(3 + 2 + 3);
  });

  it('where only a part of the record is known, each index counts as touched', () => {
    const table = tableWith(index(['status'], []), index(['nowhere'], 'all'), index(['lastActivity'], ['note']));
    expect(leastUpdateUnits(table, before, change)).toBe(1 + 2 + 1);
  });
});
