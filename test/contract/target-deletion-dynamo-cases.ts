import { expect } from 'vitest';
import type { Item } from '../../lib/aws/targets/dynamodb/values.ts';
import { failureOf } from '../../lib/core/ports/index.ts';
import { type ContractCase, deleteFrom, expiredItem, keyOf, only, planDeletion } from './target-fixture.ts';

/** Key types, odd keys and odd names in deletions. */
export const DYNAMO_DELETION_CASES: readonly ContractCase[] = [
  {
    name: 'P20: a deletion addresses exactly its record, by keys of any types',
    async run(harness) {
      const table = await harness.table({ sortKeyAttribute: 'position' }, { types: { id: 'N', position: 'B' } });
      const at = (id: string, position: readonly number[]): Item => ({
        ...expiredItem('x'),
        id: { N: id },
        position: { B: new Uint8Array(position) },
      });
      await table.put(at('9007199254740993', [1, 255]));
      const plan = await planDeletion(table);
      const neighbours = [at('9007199254740992', [1, 255]), at('9007199254740993', [1, 254])];
      for (const item of neighbours) await table.put(item);
      const key = '["N9007199254740993","BAf8="]';
      expect(await deleteFrom(table, [only(plan, key)])).toEqual({ [key]: 'deleted/now' });
      expect(await table.read(key)).toBeUndefined();
      expect(await table.read('["N9007199254740992","BAf8="]')).toEqual(neighbours[0]);
      expect(await table.read('["N9007199254740993","BAf4="]')).toEqual(neighbours[1]);
    },
  },
  {
    name: 'P74: odd keys, values and names in a deletion stay values and names',
    async run(harness) {
      const names = {
        stateAttribute: 'status',
        expiredAtAttribute: 'a.b',
        operationKeyAttribute: 'x-y',
        holdAttributes: 'ttl,size',
        expiredState: `EX'?"OR`,
      };
      const table = await harness.table(names);
      const ids = [`'`, `"`, '?', `x' OR '1'='1`, '\u{1F9F9} \u0000\n', '["Sa"]'];
      const make = (id: string): Item => ({
        ...expiredItem(id),
        a: { M: { b: { S: 'not this one' } } },
        status: { S: names.expiredState },
        'a.b': { S: '2026-01-01T00:00:00Z' },
        'x-y': { S: `" = ? OR 'key of ${id}` },
      });
      for (const id of ids) await table.put(make(id));
      const plan = await planDeletion(table);
      await table.put({ ...make('?'), size: { S: 'open' } });
      const outcomes = await deleteFrom(table, plan.values());
      const wanted = (id: string) => (id === '?' ? 'held/not' : 'deleted/now');
      expect(outcomes).toEqual(Object.fromEntries(ids.map((id) => [keyOf(id), wanted(id)])));
    },
  },
  {
    name: 'P57: a record that is both made anew and held is reported as held',
    async run(harness) {
      const table = await harness.table();
      await table.put(expiredItem('a'));
      const plan = await planDeletion(table);
      const anew = expiredItem('a', { status: { S: 'ACTIVE' }, hold: { SS: ['court'] } });
      await table.put(anew);
      expect(await deleteFrom(table, plan.values())).toEqual({ [keyOf('a')]: 'held/not' });
      expect(await table.read(keyOf('a'))).toEqual(anew);
    },
  },
  {
    name: 'P45: a deletion without a whole witness is refused for good, and nothing is deleted',
    async run(harness) {
      const table = await harness.table();
      await table.put(expiredItem('a'));
      const work = only(await planDeletion(table), keyOf('a'));
      for (const witness of ['', 'S2026-01-01T02:00:05.250Z', '["S2026-01-01T02:00:05.250Z"]', '["Sx",""]', '[1,2]']) {
        const result = await deleteFrom(table, [{ ...work, witness }]).then(
          (outcomes) => Object.values(outcomes)[0],
          (error: unknown) => failureOf(error).class,
        );
        expect(result).toMatch(/^permanent/);
      }
      expect(await table.read(keyOf('a'))).toEqual(expiredItem('a'));
    },
  },
];
