import { describe, expect, it } from 'vitest';
import type { IndexFacts, TableFacts } from '../../../lib/aws/targets/dynamodb/describe.ts';
import { partitionValues, upperBound } from '../../../lib/aws/targets/dynamodb/partition-values.ts';
import { tableProblems, unseenTable } from '../../../lib/aws/targets/dynamodb/table-problems.ts';
import type { TransitionKind } from '../../../lib/aws/targets/dynamodb/transition.ts';
import {
  deletionUnits,
  leastDeletionUnits,
  leastUpdateUnits,
  updateUnits,
} from '../../../lib/aws/targets/dynamodb/write-units.ts';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import { testSettings } from '../../model/settings.ts';

const KEYS = [{ name: 'id', role: 'partition', type: 'S' }] as const;
const BY_STATUS: IndexFacts = {
  name: 'by-status',
  keys: [
    { name: 'status', role: 'partition', type: 'S' },
    { name: 'lastActivity', role: 'sort', type: 'S' },
  ],
  projects: ['tenant'],
  status: 'ACTIVE',
  backfilling: false,
};

function tableWith(...indexes: readonly IndexFacts[]): TableFacts {
  return { name: 'accounts-table', status: 'ACTIVE', keys: KEYS, indexes, replication: undefined };
}

function problemsOf(
  overrides: Partial<Record<SettingKey, string>>,
  table = tableWith(BY_STATUS),
  kind: TransitionKind = 'expire',
): readonly string[] {
  return tableProblems(table, testSettings(overrides), kind).map((problem) => problem.message);
}

describe('settings that do not fit the table', () => {
  it('none where they do', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ recordIndexName: 'by-status' })).toEqual([]);
    expect(problemsOf({ recordIndexName: 'by-status', indexPartitionValues: 'ACTIVE' })).toEqual([]);
  });

  it('keys of other names', () => {
    expect(problemsOf({ partitionKeyAttribute: 'pk', sortKeyAttribute: 'sk' })).toEqual([
      'PartitionKeyAttribute: the partition key of the table accounts-table is "id". Received "pk".',
      'SortKeyAttribute: the sort key of the table accounts-table is (none). Received "sk".',
    ]);
  });

  it('an expiry that would write a key, one attribute twice, or the timestamp or a hold', () => {
    expect(problemsOf({ operationKeyAttribute: 'id' })).toEqual([
      'OperationKeyAttribute: a key of the table cannot be changed. Received "id".',
    ]);
    expect(problemsOf({ expiredAtAttribute: 'status' })).toHaveLength(2);
    expect(problemsOf({ expiredAtAttribute: 'lastActivity' })).toEqual([
      'ExpiredAtAttribute: "lastActivity" is also the timestamp, the tenant or a hold. Received "lastActivity".',
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
      'ExpiredAtAttribute: the index by-expiry needs another type of "expiredAt". Received "expiredAt".',
    ]);
    expect(problemsOf({ timestampFormat: 'epoch-seconds' }, tableWith(byTime))).toEqual([]);
  });

  it.each(['CREATING', 'UPDATING', 'DELETING'])('P19: an index that is %s', (status) => {
    expect(problemsOf({ recordIndexName: 'by-status' }, tableWith({ ...BY_STATUS, status }))).toEqual([
      `RecordIndexName: the index is ${status}, not ACTIVE. Received "by-status".`,
    ]);
  });

  it('P19: an index that is missing, being filled, or does not carry what discovery reads', () => {
    expect(problemsOf({ recordIndexName: 'other' })).toEqual([
      'RecordIndexName: the table accounts-table has no index of this name. Received "other".',
    ]);
    const filling = tableWith({ ...BY_STATUS, status: 'CREATING', backfilling: true });
    expect(problemsOf({ recordIndexName: 'by-status' }, filling)).toEqual([
      'RecordIndexName: the index is still being filled with the records of before it was made. Received "by-status".',
    ]);
    const bare = tableWith({ ...BY_STATUS, projects: [] });
    expect(problemsOf({ recordIndexName: 'by-status' }, bare)).toEqual([
      'RecordIndexName: the index does not carry "tenant". Received "by-status".',
    ]);
  });

  it('an index that is being filled does not matter where discovery does not go through it', () => {
    expect(problemsOf({}, tableWith({ ...BY_STATUS, status: 'CREATING', backfilling: true }))).toEqual([]);
  });

  it('partition values without a suitable index', () => {
    expect(problemsOf({ indexPartitionValues: 'ACTIVE' })).toEqual([
      'IndexPartitionValues: partition values need an index to be queried. Received "ACTIVE".',
    ]);
    const query = { recordIndexName: 'by-status', indexPartitionValues: 'ACTIVE' };
    expect(problemsOf({ ...query, timestampFormat: 'epoch-millis' })).toEqual([
      'RecordIndexName: the index is sorted by a type that timestamps of format epoch-millis do not have. Received "by-status".',
    ]);
    const [, sort] = BY_STATUS.keys;
    const twoKeys = { ...BY_STATUS, keys: [...KEYS, ...BY_STATUS.keys] };
    expect(problemsOf(query, tableWith(twoKeys))).toEqual([
      'RecordIndexName: to query partition values, the index must have one partition key and be sorted by "lastActivity". Received "by-status".',
    ]);
    const shards = {
      ...BY_STATUS,
      projects: 'all',
      keys: [{ name: 'shard', role: 'partition', type: 'N' }, sort],
    } as IndexFacts;
    expect(problemsOf({ ...query, indexPartitionValues: '1,2,x' }, tableWith(shards))).toEqual([
      'IndexPartitionValues: not every value fits the partition key "shard" of type N. Received "1,2,x".',
    ]);
  });

  it('partition values of the state that leave out the state that is looked for', () => {
    const query = { recordIndexName: 'by-status', indexPartitionValues: 'active,EXPIRED' };
    expect(problemsOf(query)).toEqual([
      'IndexPartitionValues: the index is partitioned by the state, and no record in the state "ACTIVE" would be found. Received "active,EXPIRED".',
    ]);
    expect(problemsOf({ ...query, indexPartitionValues: 'CLOSED, ACTIVE' })).toEqual([]);
  });

  it('P73: a deletion through an index that lacks the time of expiry or the operation key, or is sorted otherwise', () => {
    const through = { recordIndexName: 'by-status' };
    expect(problemsOf(through, tableWith(BY_STATUS), 'delete')).toEqual([
      'RecordIndexName: the index does not carry "expiredAt". Received "by-status".',
      'RecordIndexName: the index does not carry "sweepOperationKey". Received "by-status".',
    ]);
    const all = tableWith({ ...BY_STATUS, projects: 'all' });
    expect(problemsOf(through, all, 'delete')).toEqual([]);
    expect(problemsOf({ ...through, indexPartitionValues: 'EXPIRED' }, all, 'delete')).toEqual([
      'RecordIndexName: to query partition values, the index must have one partition key and be sorted by "expiredAt". Received "by-status".',
    ]);
    const [partition] = BY_STATUS.keys;
    const byExpiry = {
      ...BY_STATUS,
      projects: 'all',
      keys: [partition, { name: 'expiredAt', role: 'sort', type: 'S' }],
    } as IndexFacts;
    const query = { ...through, indexPartitionValues: 'EXPIRED' };
    expect(problemsOf(query, tableWith(byExpiry), 'delete')).toEqual([]);
    expect(problemsOf({ ...query, indexPartitionValues: 'ACTIVE' }, tableWith(byExpiry), 'delete')).toHaveLength(1);
  });
});

describe('a table that cannot be relied on', () => {
  it.each(['CREATING', 'DELETING', 'INACCESSIBLE_ENCRYPTION_CREDENTIALS', 'ARCHIVING', 'ARCHIVED', 'unknown'])(
    'is one that is %s',
    (status) => {
      expect(problemsOf({}, { ...tableWith(), status })).toEqual([
        `RecordTableName: the table is ${status}, not ACTIVE. Received "accounts-table".`,
      ]);
    },
  );

  it('is not one to which somebody adds an index: it serves all the while', () => {
    expect(problemsOf({}, { ...tableWith(), status: 'UPDATING' })).toEqual([]);
  });

  it('P57: has replicas that are not strongly consistent: a hold that is set there may come too late', () => {
    const replicated = (regions: readonly string[], stronglyConsistent: boolean) => ({
      ...tableWith(),
      replication: { regions, stronglyConsistent },
    });
    const [said = '', ...more] = problemsOf({}, replicated(['eu-west-1', 'us-west-2'], false));
    expect(more).toEqual([]);
    expect(said).toMatch(
      /^RecordTableName: the table has replicas in eu-west-1, us-west-2 without multi-Region strong/,
    );
    expect(said).toMatch(
      /No setting declares a single writing Region, so such a table is refused\. Received "accounts-/,
    );
    expect(problemsOf({}, replicated([], false))[0]).toMatch(/replicas in other Regions without/);
    expect(problemsOf({}, replicated(['us-east-2', 'us-west-2'], true))).toEqual([]);
  });

  it('is not there, or may not be looked at; any other failure says nothing about it', () => {
    const settings = testSettings();
    expect(unseenTable(settings, 'ResourceNotFoundException')).toEqual({
      parameter: 'RecordTableName',
      received: '"accounts-table"',
      message: 'RecordTableName: this account and Region have no table of this name. Received "accounts-table".',
    });
    expect(unseenTable(settings, 'AccessDeniedException')?.message).toMatch(/may not describe the table/);
    for (const error of ['ThrottlingException', 'TimeoutError', 'ExpiredTokenException', 'ValidationException']) {
      expect(unseenTable(settings, error)).toBeUndefined();
    }
  });

  it('has all that is wrong with it said at once, each with the parameter and the value received', () => {
    const table = {
      ...tableWith(),
      status: 'DELETING',
      replication: { regions: ['eu-west-1'], stronglyConsistent: false },
    };
    const settings = testSettings({ partitionKeyAttribute: 'pk', recordIndexName: 'none' });
    const problems = tableProblems(table, settings, 'expire');
    expect(problems.map(({ parameter }) => parameter)).toEqual([
      'RecordTableName',
      'RecordTableName',
      'PartitionKeyAttribute',
      'RecordIndexName',
    ]);
    for (const { parameter, received, message } of problems) {
      expect(message.startsWith(`${parameter}: `)).toBe(true);
      expect(message.endsWith(` Received ${received}.`)).toBe(true);
    }
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
    status: 'ACTIVE',
    backfilling: false,
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

describe('write units of a deletion', () => {
  const record = { id: { S: 'a' }, status: { S: 'EXPIRED' }, note: { S: 'n'.repeat(1500) } };
  const index = (key: string, projects: IndexFacts['projects']): IndexFacts => ({
    ...BY_STATUS,
    keys: [{ name: key, role: 'partition', type: 'S' }],
    projects,
  });

  it.each([
    ['no index', [], 2],
    ['an index with its keys only', [index('status', [])], 2 + 1],
    ['an index with all of it', [index('status', 'all')], 2 + 2],
    ['an index that it is not in', [index('nowhere', 'all')], 2],
    ['several', [index('status', 'all'), index('id', ['status']), index('nowhere', [])], 2 + 2 + 1],
  ] as const)('%s', (_name, indexes, units) => {
    expect(deletionUnits(tableWith(...indexes), record)).toBe(units);
  });

  it('a kilobyte at a time', () => {
    const sized = (bytes: number) => ({ id: { S: 'i'.repeat(bytes - 2) } });
    expect([1024, 1025, 2048, 2049].map((bytes) => deletionUnits(tableWith(), sized(bytes)))).toEqual([1, 2, 2, 3]);
  });

  it('where only a part of the record is known, it counts as in every index', () => {
    expect(leastDeletionUnits(tableWith(index('status', 'all'), index('nowhere', [])), { id: { S: 'a' } })).toBe(3);
  });
});
