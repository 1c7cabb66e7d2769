import type { AttributeValue, DeleteItemInput, UpdateItemInput } from '@aws-sdk/client-dynamodb';
import type { TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { expiryChange, type Guard, type Test } from './guard.ts';
import { keyNames, keyValues } from './keys.ts';

/** Gives out numbered placeholders, so that no configured text ever stands in an expression (pitfall P74). */
export class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, AttributeValue> = {};
  readonly #given = new Map<string, string>();

  name(attribute: string): string {
    const known = this.#given.get(attribute);
    if (known !== undefined) return known;
    const placeholder = `#n${this.#given.size}`;
    this.#given.set(attribute, placeholder);
    this.names[placeholder] = attribute;
    return placeholder;
  }

  value(value: AttributeValue): string {
    const placeholder = `:v${Object.keys(this.values).length}`;
    this.values[placeholder] = value;
    return placeholder;
  }
}

/** An expiry for UpdateItem. A failed condition returns the record as it stands. */
export function expiryUpdate(call: TargetCall, item: WorkItem, guard: Guard): UpdateItemInput {
  const placeholders = new Placeholders();
  const changes = expiryChange(call, item).map(
    ([name, value]) => `${placeholders.name(name)} = ${placeholders.value(value)}`,
  );
  return {
    ...conditional(call, item, guard, placeholders),
    UpdateExpression: `SET ${changes.join(', ')}`,
    // Without the new image: it would travel only to be priced, and the plan has a price for it.
    ReturnValues: 'NONE',
  };
}

/** A deletion for DeleteItem. A failed condition returns the record as it stands; one that held, as it stood. */
export function deletion(call: TargetCall, item: WorkItem, guard: Guard): DeleteItemInput {
  return { ...conditional(call, item, guard, new Placeholders()), ReturnValues: 'ALL_OLD' };
}

function conditional(call: TargetCall, item: WorkItem, guard: Guard, placeholders: Placeholders) {
  const { settings } = call;
  return {
    TableName: settings.recordTableName,
    Key: Object.fromEntries(keyValues(item.key, keyNames(settings))),
    ConditionExpression: guard(call, item)
      .map(({ test }) => condition(placeholders, test))
      .join(' AND '),
    ExpressionAttributeNames: placeholders.names,
    ExpressionAttributeValues: placeholders.values,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;
}

function condition(placeholders: Placeholders, test: Test): string {
  const name = placeholders.name(test.attribute);
  switch (test.kind) {
    case 'is':
      return `${name} = ${placeholders.value(test.value)}`;
    case 'is-not':
      return `NOT (${name} = ${placeholders.value(test.value)})`;
    case 'no-hold': {
      const isNull = `attribute_type(${name}, ${placeholders.value({ S: 'NULL' })})`;
      const isFalse = `${name} = ${placeholders.value({ BOOL: false })}`;
      const isEmpty = `${name} = ${placeholders.value({ S: '' })}`;
      return `NOT (attribute_exists(${name}) AND NOT (${isNull}) AND NOT (${isFalse}) AND NOT (${isEmpty}))`;
    }
  }
}
