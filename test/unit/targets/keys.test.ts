import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayKey, keyCandidates, keyValues, recordKey } from '../../../lib/aws/targets/dynamodb/keys.ts';
import { tagged, untagged } from '../../../lib/aws/targets/dynamodb/values.ts';
import { failureOf } from '../../../lib/core/ports/index.ts';

const NAMES = ['id', 'position'];

describe('record keys', () => {
  it('spells each type in its own way', () => {
    expect(recordKey({ id: { S: 'acct-1' } }, ['id'])).toBe('["Sacct-1"]');
    expect(recordKey({ id: { S: 'a' }, position: { N: '12' } }, NAMES)).toBe('["Sa","N12"]');
    expect(recordKey({ id: { B: new Uint8Array([1, 2, 255]) } }, ['id'])).toBe('["BAQL/"]');
  });

  it('P20: keeps every digit of a number', () => {
    const key = recordKey({ id: { N: '9007199254740993' } }, ['id']);
    expect(key).toBe('["N9007199254740993"]');
    expect(keyValues(key, ['id'])).toEqual([['id', { N: '9007199254740993' }]]);
  });

  it('P22: no two keys have one spelling, and each reads back as itself', () => {
    const text = fc.string({ unit: 'binary' }).filter((s) => s.isWellFormed());
    fc.assert(
      fc.property(text, text, text, text, (a, b, c, d) => {
        const first = recordKey({ id: { S: a }, position: { S: b } }, NAMES);
        const second = recordKey({ id: { S: c }, position: { S: d } }, NAMES);
        expect(first === second).toBe(a === c && b === d);
        expect(keyValues(first, NAMES)).toEqual([
          ['id', { S: a }],
          ['position', { S: b }],
        ]);
      }),
    );
  });

  it('reads binary keys back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        const [[, value] = []] = keyValues(recordKey({ id: { B: bytes } }, ['id']), ['id']);
        expect(Buffer.from(value?.B ?? [])).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('refuses for good what is no key of this table', () => {
    for (const key of [
      'acct-1',
      '[]',
      '["Sa","Sb","Sc"]',
      '["Xa"]',
      '[1]',
      '["N"]',
      '{"id":"Sa"}',
      '["Sa"',
      '["Sa","Sb"]',
    ]) {
      const thrown = (() => {
        try {
          return keyValues(key, ['id']);
        } catch (error) {
          return failureOf(error);
        }
      })();
      expect(thrown).toEqual({ class: 'permanent', error: 'MalformedRecordKey' });
    }
  });

  it('refuses a record without its key, by the attribute name only', () => {
    expect(() => recordKey({ id: { BOOL: true }, secret: { S: 'marker' } }, ['id'])).toThrow(
      /^A record without a value for its key attribute id\.$/,
    );
  });
});

describe('keys that people type', () => {
  it.each([
    ['acct-1', ['["Sacct-1"]']],
    ['["Sacct-1"]', ['["Sacct-1"]']],
    [' [ "Sa" ] '.trim(), ['["Sa"]']],
    ['["Sa","N12"]', ['["Sa","N12"]']],
    ['12', ['["S12"]', '["N12"]']],
    ['-0.5', ['["S-0.5"]', '["N-0.5"]']],
    ['007', ['["S007"]']],
    ['1.0', ['["S1.0"]']],
    ['[draft]', ['["S[draft]"]']],
    ['["draft"]', ['["S[\\"draft\\"]"]']],
    ['', ['["S"]']],
  ])('%s may mean %j', (text, keys) => {
    expect(keyCandidates(text)).toEqual(keys);
  });

  it.each([
    ['["Sacct-1"]', 'acct-1'],
    ['["S12"]', '12'],
    ['["N12"]', '["N12"]'],
    ['["Sa","Sb"]', '["Sa","Sb"]'],
    ['["S[x]"]', '["S[x]"]'],
    ['["Stwo words"]', '["Stwo words"]'],
    ['["S"]', '["S"]'],
  ])('%s is shown as %s', (key, text) => {
    expect(displayKey(key)).toBe(text);
    expect(keyCandidates(text)).toContain(key);
  });
});

describe('tagged values', () => {
  it('there is none for what cannot be a key or a timestamp', () => {
    const values: AttributeValue[] = [{ NULL: true }, { BOOL: true }, { L: [] }, { M: {} }, { SS: ['a'] }];
    for (const value of [undefined, ...values]) expect(tagged(value)).toBeUndefined();
    expect(untagged('')).toBeUndefined();
    expect(untagged('S')).toEqual({ S: '' });
  });
});
