import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Settings } from '../../../core/policy/settings.ts';
import { refusal } from '../../errors.ts';
import { type Item, tagged, untagged } from './values.ts';

/** Names of the table's key attributes, partition key first. */
export function keyNames(settings: Settings): readonly string[] {
  const { partitionKeyAttribute, sortKeyAttribute } = settings;
  return sortKeyAttribute === '' ? [partitionKeyAttribute] : [partitionKeyAttribute, sortKeyAttribute];
}

/**
 * The record key: a JSON array of the key's values, each behind its type, as in `["Sacct-1"]` or `["Sa","N12"]`.
 * Numbers stay the text that DynamoDB gave (pitfall P20).
 */
export function recordKey(item: Item, names: readonly string[]): string {
  return JSON.stringify(
    names.map((name) => {
      const part = tagged(item[name]);
      // The names only: the values are record content.
      if (part === undefined) throw new Error(`A record without a value for its key attribute ${name}.`);
      return part;
    }),
  );
}

/** The key attributes of a record key, in the order of the names. Throws a permanent PortError where it is no key. */
export function keyValues(key: string, names: readonly string[]): readonly (readonly [string, AttributeValue])[] {
  const parts = readParts(key);
  if (parts === undefined || parts.length !== names.length) {
    throw refusal('read a record key', 'MalformedRecordKey');
  }
  return names.map((name, n) => {
    const value = untagged(parts[n] ?? '');
    if (value === undefined) throw refusal('read a record key', 'MalformedRecordKey');
    return [name, value];
  });
}

/** The record keys that somebody may mean who types `text`: JSON means itself, plain text a single string or number. */
export function keyCandidates(text: string): readonly string[] {
  const parts = readParts(text);
  if (parts !== undefined) return [JSON.stringify(parts)];
  const string = JSON.stringify([`S${text}`]);
  return NUMBER.test(text) ? [string, JSON.stringify([`N${text}`])] : [string];
}

/** A record key for people: the bare text of a single string that cannot be taken for anything else, else JSON. */
export function displayKey(key: string): string {
  const [part, ...more] = readParts(key) ?? [];
  if (part === undefined || more.length > 0 || !part.startsWith('S')) return key;
  const text = part.slice(1);
  return /^[!-Z^-~]+$/.test(text) ? text : key;
}

// As DynamoDB gives numbers back: no exponent, no sign of plus, no zeros that say nothing.
const NUMBER = /^(0|-?(0\.\d*[1-9]|[1-9]\d*(\.\d*[1-9])?))$/;

function readParts(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(read) || read.length < 1 || read.length > 2) return undefined;
  return read.every((part) => typeof part === 'string' && untagged(part) !== undefined) ? read : undefined;
}
