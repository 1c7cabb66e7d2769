import type { AttributeValue, BatchStatementRequest } from '@aws-sdk/client-dynamodb';
import type { TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { type Clause, expiryChange, type Guard, type Test } from './guard.ts';
import { keyNames, keyValues } from './keys.ts';

interface Part {
  readonly text: string;
  readonly parameters: readonly AttributeValue[];
}

/** The conditional write of one record in PartiQL. A failed condition returns the record as it stands. */
export function expiryStatement(call: TargetCall, item: WorkItem, guard: Guard): BatchStatementRequest {
  const { settings } = call;
  const changes = expiryChange(call, item).map(([name, value]) => equals(name, value));
  const key = keyValues(item.key, keyNames(settings)).map(([name, value]) => equals(name, value));
  const conditions = [...key, ...guard(settings, item).map(clausePart)];
  return {
    Statement: `UPDATE ${quoted(settings.recordTableName)} SET ${textOf(changes, ', ')} WHERE ${textOf(conditions, ' AND ')}`,
    Parameters: [...changes, ...conditions].flatMap((part) => part.parameters),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

function clausePart({ test }: Clause): Part {
  const name = quoted(test.attribute);
  switch (test.kind) {
    case 'is':
      return equals(test.attribute, test.value);
    case 'is-not':
      return { text: `NOT (${name} = ?)`, parameters: [test.value] };
    case 'no-hold':
      return noHold(test);
  }
}

/**
 * Without OR, which the local AWS does not take in a write, and without `<>`: should a store ever hold unequal types
 * to be incomparable, `<>` would let a hold pass, where `NOT (=)` keeps it.
 */
function noHold({ attribute }: Extract<Test, { kind: 'no-hold' }>): Part {
  const name = quoted(attribute);
  return {
    text: `NOT (${name} IS NOT MISSING AND ${name} IS NOT NULL AND NOT (${name} = ?) AND NOT (${name} = ?))`,
    parameters: [{ BOOL: false }, { S: '' }],
  };
}

function equals(attribute: string, value: AttributeValue): Part {
  return { text: `${quoted(attribute)} = ?`, parameters: [value] };
}

function textOf(parts: readonly Part[], separator: string): string {
  return parts.map((part) => part.text).join(separator);
}

/** PartiQL has no placeholder for a name; the settings let no name through that could end its quotes (pitfall P74). */
function quoted(name: string): string {
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) throw new Error('A name that cannot be quoted.');
  return `"${name}"`;
}
