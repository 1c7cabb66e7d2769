import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Item } from '../../lib/aws/targets/dynamodb/values.ts';
import {
  idOfKey,
  MemoryRecordSource,
  MemoryRecords,
  MemoryTarget,
  type Row,
  testSettings,
  World,
} from '../model/index.ts';
import { recordSourceContract } from './record-source.contract.ts';
import { targetContract } from './target.contract.ts';
import type { TargetHarness } from './target-harness.ts';

const RECORDS_PER_CALL = 25;

function plain(value: AttributeValue): unknown {
  if (value.NULL !== undefined) return null;
  if (value.N !== undefined) return Number(value.N);
  if (value.L !== undefined) return value.L.map(plain);
  if (value.M !== undefined) return rowOf(value.M);
  return value.S ?? value.BOOL;
}

function rowOf(item: Item): Row {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plain(value)]));
}

function stored(value: unknown): AttributeValue {
  if (value === null) return { NULL: true };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(stored) };
  return typeof value === 'string' ? { S: value } : { M: itemOf(value as Row) };
}

function itemOf(row: Row): Item {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, stored(value)]));
}

function harness(emptyPages: 'none' | 'between'): TargetHarness {
  return {
    async table(overrides = {}) {
      const settings = testSettings(overrides);
      const world = new World();
      const records = new MemoryRecords(world, settings);
      return {
        settings,
        target: new MemoryTarget(world, records, { recordsPerCall: RECORDS_PER_CALL }),
        put: async (item) => records.put(rowOf(item)),
        read: async (key) => {
          const row = records.row(idOfKey(key));
          return row === undefined ? undefined : itemOf(row);
        },
        remove: async (key) => records.remove(idOfKey(key)),
        source: async (cutoff, { itemsPerPage = 4, kind = 'expire' } = {}) =>
          new MemoryRecordSource(records, { paging: { size: itemsPerPage, emptyPages } }, { settings, cutoff, kind }),
      };
    },
  };
}

targetContract('in memory', () => harness('none'), 'records');
recordSourceContract('in memory', () => harness('none'), 'records');
recordSourceContract('in memory, with empty pages', () => harness('between'), 'records');
