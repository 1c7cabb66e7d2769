import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Settings } from '../../../core/policy/settings.ts';
import type { WorkItem } from '../../../core/ports/target.ts';
import { refusal } from '../../errors.ts';
import type { TransitionKind } from './transition.ts';
import { type Item, tagged, untagged } from './values.ts';

/**
 * What must still stand in a record at its write, as text: of an expiry the timestamp as in `S2021-06-01T12:00:00Z`;
 * of a deletion the time of expiry and the operation key as in `["S2021-06-01T12:00:00Z","Skey"]`.
 */
export function witnessOf(kind: TransitionKind, settings: Settings, item: Item): string {
  if (kind === 'expire') return tagged(item[settings.timestampAttribute]) ?? '';
  const { expiredAtAttribute, operationKeyAttribute } = settings;
  return JSON.stringify([expiredAtAttribute, operationKeyAttribute].map((name) => tagged(item[name]) ?? ''));
}

/** The timestamp that an expiry was planned on. Throws a permanent PortError where the witness is none. */
export function plannedTimestamp({ witness }: WorkItem): AttributeValue {
  return untagged(witness) ?? malformed();
}

/** What a deletion was planned on. Throws a permanent PortError where the witness is none. */
export function plannedExpiry({ witness }: WorkItem): {
  readonly expiredAt: AttributeValue;
  readonly operationKey: AttributeValue;
} {
  const [expiredAt, operationKey] = readParts(witness).map((part) => untagged(part) ?? malformed());
  if (expiredAt === undefined || operationKey === undefined) return malformed();
  return { expiredAt, operationKey };
}

function readParts(witness: string): readonly string[] {
  let read: unknown;
  try {
    read = JSON.parse(witness);
  } catch {
    return malformed();
  }
  const isPair = Array.isArray(read) && read.length === 2 && read.every((part) => typeof part === 'string');
  return isPair ? (read as string[]) : malformed();
}

function malformed(): never {
  throw refusal('read a witness', 'MalformedWitness');
}
