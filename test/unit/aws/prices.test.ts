import { describe, expect, it } from 'vitest';
import { priceCall } from '../../../lib/aws/meter/prices.ts';

const KB = 1024;

/** An item of exactly so many bytes. */
function item(bytes: number, more: Record<string, unknown> = {}) {
  return { pk: { S: 'x'.repeat(bytes - 2) }, ...more };
}

function price(command: string, input: object, output: object = {}) {
  return priceCall({ command: `${command}Command`, input, output }, 'elsewhere');
}

describe('prices by item size', () => {
  it.each([
    [1 * KB, 1],
    [1 * KB + 1, 2],
    [3 * KB, 3],
  ])('a put of %i bytes', (bytes, writeUnits) => {
    expect(price('PutItem', { Item: item(bytes) })).toEqual({ writeUnits });
  });

  it('an update by the item after it, a delete by the item before it', () => {
    expect(price('UpdateItem', { Key: item(9) }, { Attributes: item(2 * KB) })).toEqual({ writeUnits: 2 });
    expect(price('DeleteItem', { Key: item(9) }, { Attributes: item(2 * KB) })).toEqual({ writeUnits: 2 });
    expect(price('DeleteItem', { Key: item(9) }, {})).toEqual({ writeUnits: 1 });
  });

  it('one more where the item stands in the sparse index', () => {
    const open = item(100, { openShard: { S: 'OPEN#1' } });
    expect(price('PutItem', { Item: open })).toEqual({ writeUnits: 2 });
    expect(price('UpdateItem', {}, { Attributes: open })).toEqual({ writeUnits: 2 });
  });

  it('a transaction twice', () => {
    const items = [{ Put: { Item: item(KB + 1) } }, { Update: { Key: item(9), ExpressionAttributeValues: {} } }];
    expect(price('TransactWriteItems', { TransactItems: items })).toEqual({ writeUnits: 4 + 2 });
  });

  it('a failed condition by the larger of the item there and the one that was to be', () => {
    const failed = (input: object, more: object) =>
      priceCall(
        { command: 'PutItemCommand', input, error: { name: 'ConditionalCheckFailedException', ...more } },
        'elsewhere',
      );
    expect(failed({ Item: item(10) }, { Item: item(3 * KB) })).toEqual({ writeUnits: 3 });
    expect(failed({ Item: item(2 * KB) }, {})).toEqual({ writeUnits: 2 });
    expect(failed({}, {})).toEqual({ writeUnits: 1 });
  });

  it('nothing for a call that failed otherwise', () => {
    const call = { command: 'PutItemCommand', input: { Item: item(9) }, error: { name: 'ThrottlingException' } };
    expect(priceCall(call, 'elsewhere')).toEqual({});
  });

  it.each([
    [4 * KB, true, 1],
    [4 * KB + 1, true, 2],
    [4 * KB + 1, false, 1],
  ])('a get of %i bytes, consistent %s', (bytes, ConsistentRead, readUnits) => {
    expect(price('GetItem', { ConsistentRead }, { Item: item(bytes) })).toEqual({ readUnits });
  });

  it('a get of nothing as of the smallest item', () => {
    expect(price('GetItem', { ConsistentRead: true })).toEqual({ readUnits: 1 });
    expect(price('GetItem', {})).toEqual({ readUnits: 0.5 });
  });

  it('a page on its sum, with what its filter threw away', () => {
    const Items = [item(KB), item(KB), item(KB)];
    expect(price('Query', { ConsistentRead: true }, { Items })).toEqual({ readUnits: 1 });
    expect(price('Query', { ConsistentRead: true }, { Items, Count: 3, ScannedCount: 12 })).toEqual({ readUnits: 3 });
    expect(price('Scan', {}, { Items: [], Count: 0, ScannedCount: 9 })).toEqual({ readUnits: 0.5 });
  });

  it('a batch by each item, the missing included, the unprocessed not', () => {
    const Keys = [1, 2, 3, 4].map((n) => ({ pk: { S: String(n) } }));
    const output = {
      Responses: { t: [item(5 * KB), item(100)] },
      UnprocessedKeys: { t: { Keys: [{ pk: { S: '4' } }] } },
    };
    const input = { RequestItems: { t: { Keys, ConsistentRead: true } } };
    expect(price('BatchGetItem', input, output)).toEqual({ readUnits: 2 + 1 + 1 });
  });
});

describe('prices on AWS', () => {
  const onAws = (command: string, ConsumedCapacity: object) =>
    priceCall({ command: `${command}Command`, input: { Item: item(9) }, output: { ConsumedCapacity } }, 'aws');

  it('are what the service reported, over all its tables', () => {
    expect(onAws('PutItem', { CapacityUnits: 4 })).toEqual({ writeUnits: 4 });
    expect(onAws('Query', { CapacityUnits: 1.5 })).toEqual({ readUnits: 1.5 });
    expect(onAws('TransactWriteItems', [{ CapacityUnits: 4 }, { CapacityUnits: 2 }])).toEqual({ writeUnits: 6 });
  });

  it('leave a batch of statements to its caller', () => {
    expect(onAws('BatchExecuteStatement', [{ CapacityUnits: 4 }])).toEqual({});
  });
});
