import { describe, expect, it } from 'vitest';
import { itemSize, valueSize } from '../../../lib/aws/item-size.ts';

describe('item size', () => {
  // Golden values by the rules of "DynamoDB item sizes and formats".
  it.each([
    ['a string, in UTF-8 bytes', { S: 'aé€😀' }, 1 + 2 + 3 + 4],
    ['an empty string', { S: '' }, 0],
    ['a number of two digits', { N: '27' }, 2],
    ['a number of three digits', { N: '123' }, 3],
    ['a number without its zeros at either end', { N: '0001200' }, 2],
    ['a fraction without leading zeros', { N: '0.0012' }, 2],
    ['zero', { N: '0' }, 1],
    ['a negative number, one more', { N: '-27' }, 3],
    ['a number in scientific notation', { N: '1.5E+10' }, 2],
    ['a time in milliseconds', { N: '1767232800123' }, 8],
    ['38 digits', { N: '12345678901234567890123456789012345678' }, 20],
    ['bytes', { B: new Uint8Array(10) }, 10],
    ['a boolean', { BOOL: true }, 1],
    ['null', { NULL: true }, 1],
    ['an empty list', { L: [] }, 3],
    ['an empty map', { M: {} }, 3],
    ['a list', { L: [{ S: 'ab' }, { N: '1' }] }, 3 + (1 + 2) + (1 + 2)],
    ['a map with its names', { M: { k: { S: 'v' }, nested: { M: {} } } }, 3 + (1 + 1 + 1) + (1 + 6 + 3)],
    ['a set of strings', { SS: ['ab', 'c'] }, 3],
    ['a set of numbers', { NS: ['1', '22'] }, 4],
  ] as const)('of %s', (_what, value, bytes) => {
    // The cast: attribute values are mutable types, the cases are constants.
    expect(valueSize(value as never)).toBe(bytes);
  });

  it('counts attribute names in UTF-8 bytes', () => {
    expect(itemSize({ pk: { S: 'RUN#1' }, größe: { N: '100' } })).toBe(2 + 5 + (7 + 2));
  });

  it('P20: an attribute that the SDK cannot hand over does not stop the count of its page', () => {
    const odd = { id: { S: 'a' }, ['__proto__']: undefined } as unknown as Parameters<typeof itemSize>[0];
    expect(itemSize(odd)).toBe('id'.length + 'a'.length + '__proto__'.length);
  });
});
