import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { itemSize } from '../../lib/aws/item-size.ts';
import { createMeter } from '../../lib/aws/meter.ts';
import { createLedgerTable } from './ledger-dynamo.ts';
import { meterOnDynamo } from './meter-dynamo.ts';
import { onDynamoDbLocal } from './on-dynamodb-local.ts';

// Shapes whose size depends on a rule of its own; padding brings each to a boundary between two units.
const SHAPES: readonly (readonly [string, Record<string, AttributeValue>])[] = [
  ['strings', { größe: { S: 'aé€😀' } }],
  ['a small number', { n: { N: '27' } }],
  ['an odd count of digits', { n: { N: '123' } }],
  ['a negative number', { n: { N: '-27' } }],
  ['zero', { n: { N: '0' } }],
  ['zeros at the end', { n: { N: '1200' } }],
  ['a fraction', { n: { N: '0.0012' } }],
  ['a time', { n: { N: '1767232800123' } }],
  ['bytes', { b: { B: new Uint8Array(10) } }],
  ['booleans and nulls', { yes: { BOOL: true }, none: { NULL: true } }],
  ['a list', { l: { L: [{ S: 'ab' }, { N: '1' }, { L: [] }] } }],
  ['a map', { m: { M: { key: { S: 'v' }, nested: { M: { x: { N: '5' } } } } } }],
  ['sets', { ss: { SS: ['ab', 'c'] }, ns: { NS: ['1', '22'] } }],
];

await onDynamoDbLocal((local) => {
  meterOnDynamo('DynamoDB Local', () => new DynamoDBClient({ ...local }));

  const client = new DynamoDBClient({ ...local });
  const meter = createMeter();
  meter.price(client);
  let TableName: string;
  beforeAll(async () => {
    TableName = await createLedgerTable(client);
    meter.take();
  });

  function padded(sk: string, shape: Record<string, AttributeValue>, bytes: number): Record<string, AttributeValue> {
    const item = { pk: { S: 'prices' }, sk: { S: sk }, ...shape, pad: { S: '' } };
    return { ...item, pad: { S: '.'.repeat(bytes - itemSize(item)) } };
  }

  it.each(SHAPES)('%s: both change at the same byte', async (name, shape) => {
    for (const [bytes, units] of [
      [1_024, 1],
      [1_025, 2],
      [4_096, 4],
      [4_097, 5],
    ] as const) {
      const Item = padded(name, shape, bytes);
      const put = await client.send(new PutItemCommand({ TableName, Item }));
      expect([put.ConsumedCapacity?.CapacityUnits, meter.take().writeUnits]).toEqual([units, units]);
      const Key = { pk: Item.pk ?? { S: '' }, sk: Item.sk ?? { S: '' } };
      const got = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
      const readUnits = bytes > 4_096 ? 2 : 1;
      expect([got.ConsumedCapacity?.CapacityUnits, meter.take().readUnits]).toEqual([readUnits, readUnits]);
    }
  });

  it('a page is rounded on its sum', async () => {
    for (let n = 0; n < 5; n += 1)
      await client.send(new PutItemCommand({ TableName, Item: padded(`page${n}`, {}, 1_000) }));
    meter.take();
    const query = new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :page)',
      ExpressionAttributeValues: { ':pk': { S: 'prices' }, ':page': { S: 'page' } },
      ConsistentRead: true,
    });
    const { ConsumedCapacity } = await client.send(query);
    expect([ConsumedCapacity?.CapacityUnits, meter.take().readUnits]).toEqual([2, 2]);
  });
});
