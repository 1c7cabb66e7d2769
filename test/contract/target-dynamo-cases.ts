import { expect } from 'vitest';
import type { Item } from '../../lib/aws/targets/dynamodb/values.ts';
import {
  applyTo,
  type ContractCase,
  CUTOFF,
  discoverAll,
  dueItem,
  expired,
  keyOf,
  only,
  planNow,
} from './target-fixture.ts';

function without(item: Item, ...names: string[]): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));
}

/** Names that break expressions where they are written out (pitfall P74). */
const ODD_NAMES = [
  { timestampAttribute: 'ttl', stateAttribute: 'state', holdAttributes: 'hold' },
  { timestampAttribute: 'a.b', stateAttribute: 'x-y', holdAttributes: 'status' },
  { timestampAttribute: 'x-y', stateAttribute: 'a.b', holdAttributes: 'ttl,size,values' },
  { timestampAttribute: 'date', stateAttribute: 'select', holdAttributes: 'a.b,-,0' },
] as const;

/** Key types, odd keys and odd names: what only an adapter over DynamoDB has to get right. */
export const DYNAMO_TARGET_CASES: readonly ContractCase[] = [
  {
    name: 'P20: numeric keys above 2^53 address exactly their record',
    async run(harness) {
      const table = await harness.table({}, { types: { id: 'N' } });
      const neighbour = { ...dueItem('x', { status: { S: 'CLOSED' } }), id: { N: '9007199254740992' } };
      const due = { ...dueItem('x'), id: { N: '9007199254740993' } };
      const odd = { ...dueItem('x'), id: { N: '-0.5' }, huge: { N: `1${'0'.repeat(40)}` } };
      for (const item of [neighbour, due, odd]) await table.put(item);
      const plan = await planNow(table);
      const keys = ['["N9007199254740993"]', '["N-0.5"]'] as const;
      expect([...plan.keys()].sort()).toEqual([...keys].sort());
      expect(await applyTo(table, plan.values())).toEqual({ [keys[0]]: 'expired/now', [keys[1]]: 'expired/now' });
      expect(await table.read(keys[0])).toEqual(expired(table, due, only(plan, keys[0])));
      expect(await table.read(keys[1])).toEqual(expired(table, odd, only(plan, keys[1])));
      expect(await table.read('["N9007199254740992"]')).toEqual(neighbour);
    },
  },
  {
    name: 'P20: numeric timestamps are compared as numbers, of their own type only',
    async run(harness) {
      const table = await harness.table({ timestampFormat: 'epoch-seconds' });
      for (const id of ['same', 'other', 'text']) await table.put(dueItem(id, { lastActivity: { N: '1600000000' } }));
      const plan = await planNow(table);
      await table.put(dueItem('other', { lastActivity: { N: '1600000001' } }));
      await table.put(dueItem('text', { lastActivity: { S: '1600000000' } }));
      expect(await applyTo(table, plan.values())).toEqual({
        [keyOf('same')]: 'expired/now',
        [keyOf('other')]: 'state_changed/not',
        [keyOf('text')]: 'state_changed/not',
      });
    },
  },
  {
    name: 'composite keys of any types',
    async run(harness) {
      for (const [type, value, tag] of [
        ['S', { S: 'x#y' }, 'Sx#y'],
        ['N', { N: '12' }, 'N12'],
        ['B', { B: new Uint8Array([1, 2, 255]) }, 'BAQL/'],
      ] as const) {
        const table = await harness.table({ sortKeyAttribute: 'position' }, { types: { position: type } });
        const item = dueItem('a', { position: value });
        await table.put(item);
        const plan = await planNow(table);
        const key = JSON.stringify(['Sa', tag]);
        expect(await applyTo(table, plan.values())).toEqual({ [key]: 'expired/now' });
        expect(await table.read(key)).toEqual(expired(table, item, only(plan, key)));
      }
    },
  },
  {
    name: 'P22: keys that differ only in where a separator stands are two records',
    async run(harness) {
      const table = await harness.table({ sortKeyAttribute: 'position' });
      const pairs = [
        ['a#b', 'c'],
        ['a', 'b#c'],
        ['a","Sb', 'c'],
        ['a', 'b","Sc'],
      ] as const;
      for (const [id, position] of pairs) await table.put(dueItem(id, { position: { S: position } }));
      const plan = await planNow(table);
      expect(plan.size).toBe(pairs.length);
      expect(Object.values(await applyTo(table, plan.values()))).toEqual(pairs.map(() => 'expired/now'));
    },
  },
  {
    name: 'P74: odd keys stay values',
    async run(harness) {
      const table = await harness.table();
      const ids = [`'`, `"`, '?', `x' OR '1'='1`, '\\', '\u{1F9F9} \u0000\n', '["Sa"]', ' '];
      for (const id of ids) await table.put(dueItem(id));
      const plan = await planNow(table);
      const outcomes = await applyTo(table, plan.values());
      expect(outcomes).toEqual(Object.fromEntries(ids.map((id) => [keyOf(id), 'expired/now'])));
    },
  },
  {
    name: 'P74: attribute names that are reserved or look like paths',
    async run(harness) {
      for (const names of ODD_NAMES) {
        const table = await harness.table({ ...names, expiredAtAttribute: 'time', operationKeyAttribute: 'key' });
        const base = without(dueItem('x'), 'status', 'lastActivity');
        const make = (id: string, more: Item = {}): Item => ({
          ...base,
          id: { S: id },
          // A name with a dot is one name: what stands at the path of the same look is somebody else's.
          a: { M: { b: { BOOL: true } } },
          [names.stateAttribute]: { S: 'ACTIVE' },
          [names.timestampAttribute]: { S: '2020-01-01T00:00:00Z' },
          ...more,
        });
        for (const id of ['due', 'held', 'changed']) await table.put(make(id));
        const plan = await planNow(table);
        const hold = names.holdAttributes.split(',')[0] ?? '';
        await table.put(make('held', { [hold]: { S: 'court' } }));
        await table.put(make('changed', { [names.timestampAttribute]: { S: '2025-01-01T00:00:00Z' } }));
        expect(await applyTo(table, plan.values())).toEqual({
          [keyOf('due')]: 'expired/now',
          [keyOf('held')]: 'held/not',
          [keyOf('changed')]: 'state_changed/not',
        });
        expect(await table.read(keyOf('due'))).toEqual(expired(table, make('due'), only(plan, keyOf('due'))));
      }
    },
  },
  {
    name: 'P57: sets and binary values are holds too',
    async run(harness) {
      const table = await harness.table();
      const holds: readonly Item[string][] = [{ SS: ['a'] }, { NS: ['0'] }, { B: new Uint8Array([0]) }];
      for (const n of holds.keys()) await table.put(dueItem(`h${n}`));
      const plan = await planNow(table);
      for (const [n, hold] of holds.entries()) await table.put(dueItem(`h${n}`, { hold }));
      const found = await discoverAll(await table.source(CUTOFF));
      expect(found.map((record) => record.held)).toEqual(holds.map(() => true));
      expect(Object.values(await applyTo(table, plan.values()))).toEqual(holds.map(() => 'held/not'));
    },
  },
  {
    name: 'a record that grew too large fails for good, and its neighbours do not',
    async run(harness) {
      const table = await harness.table();
      await table.put(dueItem('small'));
      // Its other attributes take 65 bytes: within 400 KB, with no room for time and operation key.
      const filler = 'f'.repeat(400 * 1024 - 100);
      await table.put(dueItem('large', { note: { S: filler } }));
      const plan = await planNow(table);
      const outcomes = await applyTo(table, plan.values());
      expect(outcomes[keyOf('small')]).toBe('expired/now');
      expect(outcomes[keyOf('large')]).toMatch(/^permanent\//);
    },
  },
];
