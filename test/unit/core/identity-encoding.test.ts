import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keysDigest, sliceDigest } from '../../../lib/core/identity/digests.ts';
import { asciiJson, digestOf, lengthPrefixed } from '../../../lib/core/identity/encode.ts';
import { operationKey } from '../../../lib/core/identity/keys.ts';
import { groupOf } from '../../../lib/core/publish/reference.ts';

/** Any text that JavaScript can hold, half a surrogate pair included. */
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) });
const nastyText = fc.oneof(anyText, fc.string({ unit: fc.constantFrom('a', '#', ':', '|', '\u0000', ',', '"') }));
const parts = fc.array(nastyText, { maxLength: 5 });

function bytes(text: readonly string[]): string {
  return lengthPrefixed(text).toString('hex');
}

describe('encoding of identities', () => {
  const SEPARATORS = ['#', ':', '|', '%', '\u0000', '/', '.', ',', '\n', '"', '\\', '[', '', '\u0004'];

  it.each(SEPARATORS)('P22: %j inside a part does not move the border between two parts', (separator) => {
    const key = (policyId: string, recordKey: string) =>
      operationKey({ policyId, policyVersion: 'v1', recordKey, cutoff: 0, kind: 'expire' });
    expect(key(`a${separator}b`, 'c')).not.toBe(key('a', `b${separator}c`));
    expect(bytes([`a${separator}b`, 'c'])).not.toBe(bytes(['a', `b${separator}c`]));
  });

  it('P22: an empty part is a part', () => {
    const spellings = [[], [''], ['', ''], ['a'], ['a', ''], ['', 'a']].map(bytes);
    expect(new Set(spellings).size).toBe(spellings.length);
  });

  it('P22: two lists of parts give the same bytes only where they are the same list', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(bytes(a) === bytes(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });

  it('P22: halves of surrogate pairs, which UTF-8 cannot tell apart, are told apart', () => {
    const spellings = ['\ud800', '\ud801', '\udc00', '\ufffd', '\ud800a', 'a\ud800'].map((text) => bytes([text]));
    expect(new Set(spellings).size).toBe(spellings.length);
  });

  it('P22: slices with the same text under other borders have other digests', () => {
    const digests = [
      sliceDigest(1, 'a', [['b', 'c']]),
      sliceDigest(1, 'ab', [['', 'c']]),
      sliceDigest(1, 'a', [['bc', '']]),
      sliceDigest(11, 'a', [['b', 'c']]),
      sliceDigest(1, 'a', [
        ['b', 'c'],
        ['', ''],
      ]),
      sliceDigest(1, 'a', []),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('P22: tenants have message groups of their own, in characters that SQS takes', () => {
    const tenants = ['a', 'a b', 'a#b', 'A', 'h.a', 't.a', '', 'x'.repeat(100), 'x'.repeat(101), 'ä', 'a\u0000'];
    const groups = tenants.map(groupOf);
    expect(new Set(groups).size).toBe(tenants.length);
    for (const group of groups) expect(group).toMatch(/^[A-Za-z0-9!-/:-@[-`{-~]{1,128}$/);
    expect(groupOf('a b')).toBe('h.YsW_Sam6xeti_3pY191b3Q');
  });

  it('the digest of a set of keys does not depend on their order, and tells sets apart', () => {
    fc.assert(
      fc.property(fc.uniqueArray(nastyText, { maxLength: 6 }), fc.infiniteStream(fc.nat()), (keys, order) => {
        const shuffled = keys
          .map((key) => [order.next().value, key] as const)
          .sort(([a], [b]) => Number(a) - Number(b));
        expect(keysDigest(shuffled.map(([, key]) => key))).toBe(keysDigest(keys));
        expect(keysDigest([...keys, 'one more'])).not.toBe(keysDigest(keys));
      }),
    );
  });

  it('a digest is cut to the bits asked for', () => {
    expect(Buffer.from(digestOf(['a'], 128), 'base64url')).toHaveLength(16);
    expect(digestOf(['a']).startsWith(digestOf(['a'], 128).slice(0, 21))).toBe(true);
  });

  it('P29: JSON in ASCII reads back as the same value, whatever the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = asciiJson({ text });
        expect(json).toMatch(/^[ -~]*$/);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });
});
