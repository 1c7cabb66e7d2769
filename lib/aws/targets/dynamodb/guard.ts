import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Settings } from '../../../core/policy/settings.ts';
import { writeTimestamp } from '../../../core/policy/timestamp.ts';
import type { TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { transitionOf } from './transition.ts';
import { attributeValue, type Item, tagged } from './values.ts';
import { plannedExpiry, plannedTimestamp } from './witness.ts';

/** What a clause asks of one attribute. All values are strings or numbers. */
export type Test =
  | { readonly kind: 'is'; readonly attribute: string; readonly value: AttributeValue }
  /** Also true where the attribute is missing. */
  | { readonly kind: 'is-not'; readonly attribute: string; readonly value: AttributeValue }
  /** True where the attribute is absent, NULL, false or empty (pitfall P57). */
  | { readonly kind: 'no-hold'; readonly attribute: string };

export type ClauseName = 'state' | 'timestamp' | 'expired-at' | 'operation-key' | 'no-hold' | 'not-ours';

/** One clause of a record's own condition; the write takes effect only where all of them hold. */
export interface Clause {
  readonly name: ClauseName;
  readonly test: Test;
}

/** Makes the condition of one record's write. Throws a permanent PortError for a kind that has none. */
export type Guard = (call: Pick<TargetCall, 'kind' | 'settings'>, item: WorkItem) => readonly Clause[];

/**
 * The condition of each kind of write, once as data: both kinds of statement are spelled from it, and the old item of a
 * failed condition is judged by it. That the record exists follows from its state being there.
 */
export const recordGuard: Guard = (call, item) =>
  transitionOf(call.kind) === 'delete' ? deletionClauses(call.settings, item) : expiryClauses(call.settings, item);

function expiryClauses(settings: Settings, item: WorkItem): readonly Clause[] {
  return [
    is('state', settings.stateAttribute, { S: settings.eligibleState }),
    is('timestamp', settings.timestampAttribute, plannedTimestamp(item)),
    ...noHolds(settings),
    {
      name: 'not-ours',
      test: { kind: 'is-not', attribute: settings.operationKeyAttribute, value: { S: item.operationKey } },
    },
  ];
}

/**
 * Nothing of ours is left in a deleted record, so the condition asks for all that the expiry left in it: a record that
 * was made anew under the same key has another key of operation, another time of expiry, or none (pitfall P73).
 */
function deletionClauses(settings: Settings, item: WorkItem): readonly Clause[] {
  const { expiredAt, operationKey } = plannedExpiry(item);
  return [
    is('state', settings.stateAttribute, { S: settings.expiredState }),
    is('expired-at', settings.expiredAtAttribute, expiredAt),
    is('operation-key', settings.operationKeyAttribute, operationKey),
    ...noHolds(settings),
  ];
}

function is(name: ClauseName, attribute: string, value: AttributeValue): Clause {
  return { name, test: { kind: 'is', attribute, value } };
}

function noHolds(settings: Settings): readonly Clause[] {
  return holdAttributes(settings).map((attribute) => ({ name: 'no-hold', test: { kind: 'no-hold', attribute } }));
}

/** What an expiry writes, in the order of the statement. */
export function expiryChange(
  { settings, now }: TargetCall,
  item: WorkItem,
): readonly (readonly [string, AttributeValue])[] {
  return [
    [settings.stateAttribute, { S: settings.expiredState }],
    [settings.expiredAtAttribute, attributeValue(writeTimestamp(now, settings.timestampFormat))],
    [settings.operationKeyAttribute, { S: item.operationKey }],
  ];
}

export function holdAttributes(settings: Settings): readonly string[] {
  return settings.holdAttributes.split(',').filter((name) => name !== '');
}

/** True where any hold attribute of the item holds it back. */
export function isHeld(item: Item, settings: Settings): boolean {
  return holdAttributes(settings).some((attribute) => !satisfies(item, { kind: 'no-hold', attribute }));
}

/** Judges an item as the store would. */
export function satisfies(item: Item, test: Test): boolean {
  const value = item[test.attribute];
  switch (test.kind) {
    case 'is':
      return sameScalar(value, test.value);
    case 'is-not':
      return !sameScalar(value, test.value);
    case 'no-hold':
      return value === undefined || value.NULL === true || value.BOOL === false || value.S === '';
  }
}

// Numbers are compared as text: what DynamoDB gives back is in one spelling, and the witness is what it gave before.
function sameScalar(a: AttributeValue | undefined, b: AttributeValue): boolean {
  return a !== undefined && tagged(a) !== undefined && tagged(a) === tagged(b);
}
