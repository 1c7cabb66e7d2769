import type { AttributeValue, BatchStatementRequest } from '@aws-sdk/client-dynamodb';
import type { TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { type Clause, expiryChange, type Guard, type Test } from './guard.ts';
import { keyNames, keyValues } from './keys.ts';
import { transitionOf } from './transition.ts';

interface Part {
  readonly text: string;
  readonly parameters: readonly AttributeValue[];
}

/**
 * The conditional write of one record in PartiQL. A failed condition returns the record as it stands. A deletion also
 * returns the record as it stood, since one of a missing record succeeds: what is not returned was not there.
 */
export function recordStatement(call: TargetCall, item: WorkItem, guard: Guard): BatchStatementRequest {
  const table = quoted(call.settings.recordTableName);
  const where = conditionOf(call, item, guard);
  if (transitionOf(call.kind) === 'delete') {
    return statement(`DELETE FROM ${table} WHERE ${textOf(where, ' AND ')} RETURNING ALL OLD *`, where);
  }
  const changes = expiryChange(call, item).map(([name, value]) => equals(name, value));
  return statement(`UPDATE ${table} SET ${textOf(changes, ', ')} WHERE ${textOf(where, ' AND ')}`, [
    ...changes,
    ...where,
  ]);
}

function statement(text: string, parts: readonly Part[]): BatchStatementRequest {
  return {
    Statement: text,
    Parameters: parts.flatMap((part) => part.parameters),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

function conditionOf(call: TargetCall, item: WorkItem, guard: Guard): readonly Part[] {
  const key = keyValues(item.key, keyNames(call.settings)).map(([name, value]) => equals(name, value));
  return [...key, ...guard(call, item).map(clausePart)];
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
