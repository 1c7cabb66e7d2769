import { createHash } from 'node:crypto';

/** Set in the length of a part that UTF-8 cannot spell. */
const NOT_UTF8 = 0x8000_0000;

/**
 * Joins parts so that no two lists of parts give the same bytes: each part stands behind its length in UTF-8 bytes
 * (32-bit big-endian). A separator would collide with ids that contain it (pitfall P22). UTF-8 spells every half of a
 * surrogate pair alike, so a part that holds one is written in UTF-16 and marked.
 */
export function lengthPrefixed(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const wellFormed = part.isWellFormed();
      const bytes = Buffer.from(part, wellFormed ? 'utf8' : 'utf16le');
      const length = Buffer.alloc(4);
      length.writeUInt32BE(wellFormed ? bytes.length : NOT_UTF8 + bytes.length);
      return [length, bytes];
    }),
  );
}

/** SHA-256 over length-prefixed parts, base64url; `bits` is a multiple of 8, at most 256. */
export function digestOf(parts: readonly string[], bits: 128 | 256 = 256): string {
  return createHash('sha256')
    .update(lengthPrefixed(parts))
    .digest()
    .subarray(0, bits / 8)
    .toString('base64url');
}

/** JSON in ASCII only: SQS refuses some characters that JSON leaves raw (pitfall P29). */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
