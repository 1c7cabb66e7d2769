import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Attributes } from '../item-size.ts';

/** Where the pieces of one request's expressions get their placeholders: no name or value is ever part of the text. */
export class Placeholders {
  readonly #names = new Map<string, string>();
  readonly #values: Record<string, AttributeValue> = {};

  name(attribute: string): string {
    const known = this.#names.get(attribute) ?? `#a${this.#names.size}`;
    this.#names.set(attribute, known);
    return known;
  }

  value(value: AttributeValue): string {
    const placeholder = `:v${Object.keys(this.#values).length}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  /** The request fields that explain the placeholders; one that would be empty is left out, as DynamoDB demands. */
  fields(): { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Attributes } {
    const names = Object.fromEntries([...this.#names].map(([attribute, placeholder]) => [placeholder, attribute]));
    return {
      ...(this.#names.size === 0 ? {} : { ExpressionAttributeNames: names }),
      ...(Object.keys(this.#values).length === 0 ? {} : { ExpressionAttributeValues: this.#values }),
    };
  }
}

/** A clause of a condition or of an update, written once its placeholders are known. */
export type Clause = (at: Placeholders) => string;

export function equals(attribute: string, value: AttributeValue): Clause {
  return (at) => `${at.name(attribute)} = ${at.value(value)}`;
}

export function lessThan(attribute: string, value: AttributeValue): Clause {
  return (at) => `${at.name(attribute)} < ${at.value(value)}`;
}

export function atMost(attribute: string, value: AttributeValue): Clause {
  return (at) => `${at.name(attribute)} <= ${at.value(value)}`;
}

export function between(attribute: string, low: AttributeValue, high: AttributeValue): Clause {
  return (at) => `${at.name(attribute)} BETWEEN ${at.value(low)} AND ${at.value(high)}`;
}

export function beginsWith(attribute: string, prefix: AttributeValue): Clause {
  return (at) => `begins_with(${at.name(attribute)}, ${at.value(prefix)})`;
}

export function oneOf(attribute: string, values: readonly AttributeValue[]): Clause {
  return (at) => `${at.name(attribute)} IN (${values.map((value) => at.value(value)).join(', ')})`;
}

export function absent(attribute: string): Clause {
  return (at) => `attribute_not_exists(${at.name(attribute)})`;
}

export function all(...clauses: readonly Clause[]): Clause {
  return (at) => clauses.map((clause) => clause(at)).join(' AND ');
}

export function either(...clauses: readonly Clause[]): Clause {
  return (at) => clauses.map((clause) => `(${clause(at)})`).join(' OR ');
}

/** What one update does to an item; it does something. */
export interface Update {
  readonly set: Attributes;
  /** Set only where the item has no such attribute yet. */
  readonly initially?: Attributes;
  /** Numbers that grow by so much; the item must have them. */
  readonly increase?: Attributes;
  readonly remove?: readonly string[];
}

export function updateClause({ set, initially = {}, increase = {}, remove = [] }: Update): Clause {
  return (at) => {
    const sets = [
      ...Object.entries(set).map(([name, value]) => `${at.name(name)} = ${at.value(value)}`),
      ...Object.entries(initially).map(
        ([name, value]) => `${at.name(name)} = if_not_exists(${at.name(name)}, ${at.value(value)})`,
      ),
      ...Object.entries(increase).map(([name, value]) => `${at.name(name)} = ${at.name(name)} + ${at.value(value)}`),
    ];
    const removes = remove.map((name) => at.name(name));
    return [
      ...(sets.length === 0 ? [] : [`SET ${sets.join(', ')}`]),
      ...(removes.length === 0 ? [] : [`REMOVE ${removes.join(', ')}`]),
    ].join(' ');
  };
}
