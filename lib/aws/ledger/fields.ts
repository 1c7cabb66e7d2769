import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes } from '../item-size.ts';
import { positionsOf, rangesOf } from './exceptions.ts';

/**
 * How a property is stored. Structures are JSON in a string: nothing looks inside them but us. Positions are ranges in
 * a string.
 */
export type Field = 'text' | 'number' | 'json' | 'positions';

/** The properties of one item type; each is stored under its own name. */
export type Fields = Readonly<Record<string, Field>>;

export function text(value: string): AttributeValue {
  return { S: value };
}

/** Null where there is none. */
export function number(value: number | null): AttributeValue {
  return value === null ? { NULL: true } : { N: String(value) };
}

/** Encodes the properties that are there and that the table names; others are the caller's. */
export function encodeFields(fields: Fields, value: object): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  for (const [name, part] of Object.entries(value)) {
    const field = fields[name];
    if (field !== undefined && part !== undefined) attributes[name] = encodeField(field, part);
  }
  return attributes;
}

function encodeField(field: Field, value: unknown): AttributeValue {
  switch (field) {
    case 'text':
      return text(value as string);
    case 'number':
      return number(value as number | null);
    case 'json':
      return text(JSON.stringify(value));
    case 'positions':
      return text(rangesOf(value as readonly number[]));
  }
}

/** Decodes what `encodeFields` wrote. The ledger is written by this code alone, so types are not checked again. */
export function decodeFields<T>(fields: Fields, item: Attributes): T {
  const value: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const attribute = item[name];
    if (attribute !== undefined) value[name] = decodeField(field, attribute);
  }
  return value as T;
}

function decodeField(field: Field, attribute: AttributeValue): unknown {
  switch (field) {
    case 'text':
      return attribute.S;
    case 'number':
      return attribute.NULL === true ? null : Number(attribute.N);
    case 'json':
      return JSON.parse(attribute.S ?? 'null');
    case 'positions':
      return positionsOf(attribute.S ?? '');
  }
}
