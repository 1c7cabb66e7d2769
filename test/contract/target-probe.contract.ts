import { type DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { describeTable } from '../../lib/aws/targets/dynamodb/describe.ts';
import { probeWrites } from '../../lib/aws/targets/dynamodb/probe.ts';
import type { Item } from '../../lib/aws/targets/dynamodb/values.ts';
import { failureOf } from '../../lib/core/ports/index.ts';
import { uniqueName } from '../helpers/aws-under-test.ts';
import { testSettings } from '../model/settings.ts';
import { dueItem, expiredItem } from './target-fixture.ts';
import { createTable } from './target-harness.ts';

/** The probe of grants, on a store that permits everything: what it asks is well formed, and it changes nothing. */
export function probeContract(name: string, client: DynamoDBClient): void {
  describe(`probe of grants: ${name}`, () => {
    it.each([
      ['a string', {}, '', {}],
      ['a number', { N: '1' }, '', { id: 'N' }],
      ['binary', { B: new Uint8Array([1]) }, '', { id: 'B' }],
      ['a string and a number', {}, 'position', { position: 'N' }],
    ] as const)('P73: the very writes, by keys of %s, change nothing', async (_key, id, sortKeyAttribute, types) => {
      const settings = testSettings({
        recordTableName: uniqueName('probed.'),
        sortKeyAttribute,
        action: 'delete',
        allowDelete: 'yes',
        holdAttributes: 'hold,a.b',
      });
      await createTable(client, settings, { types });
      const keyed = (item: Item): Item => ({
        ...item,
        ...(Object.keys(id).length === 0 ? {} : { id: id as Item[string] }),
        ...(sortKeyAttribute === '' ? {} : { position: { N: '1' } }),
      });
      const items = Object.keys(id).length === 0 ? [dueItem('a'), expiredItem('b')] : [expiredItem('a')];
      for (const item of items.map(keyed)) {
        await client.send(new PutItemCommand({ TableName: settings.recordTableName, Item: item }));
      }
      const before = await contents(client, settings.recordTableName);
      const { keys } = await describeTable(client, settings.recordTableName);
      expect(await probeWrites(client, settings, keys)).toEqual([]);
      expect(await contents(client, settings.recordTableName)).toEqual(before);
      expect(before).toHaveLength(items.length);
    });

    it('a table that is not there is no missing grant', async () => {
      const settings = testSettings({ recordTableName: 'no-such-table' });
      const thrown = await probeWrites(client, settings, []).catch((error: unknown) => failureOf(error));
      expect(thrown).toMatchObject({ class: 'permanent' });
    });
  });
}

async function contents(client: DynamoDBClient, table: string): Promise<readonly string[]> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
  return Items.map((item) => JSON.stringify(item)).sort();
}
