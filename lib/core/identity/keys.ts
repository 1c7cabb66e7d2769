import { digestOf } from './encode.ts';
import { type EpochMillis, formatInstant } from './instant.ts';

/** What a run does to a record. */
export type RunKind = 'expire' | 'delete' | 'undo';

export interface OperationIdentity {
  readonly policyId: string;
  readonly policyVersion: string;
  /** The record's key as the record source spells it. */
  readonly recordKey: string;
  readonly cutoff: EpochMillis;
  readonly kind: RunKind;
}

/**
 * The operation key: 128 bits, base64url. It identifies one operation on one record and authenticates nothing. The
 * cutoff is part of it, else a customer who was a no-op this week could never expire next week.
 */
export function operationKey(identity: OperationIdentity): string {
  const { policyId, policyVersion, recordKey, cutoff, kind } = identity;
  return digestOf(['operation', policyId, policyVersion, recordKey, String(cutoff), kind], 128);
}

/**
 * A run's id, the same on every attempt at one scheduled time: `<policy>.<version>.<YYYYMMDDThhmmssZ>`. Neither
 * policy id nor version may hold a dot, so two runs never share an id.
 */
export function runIdOf(policyId: string, policyVersion: string, scheduledTime: EpochMillis): string {
  const stamp = formatInstant(scheduledTime).replace(/[-:]|\.\d{3}/g, '');
  return `${policyId}.${policyVersion}.${stamp}`;
}

/** `<ordinal>` for a batch, `<ordinal>.<position>` for a record split from it. */
export type UnitId = string;

export function batchUnit(ordinal: number): UnitId {
  return String(ordinal);
}

export function ordinalOf(unit: UnitId): number {
  return Number(unit.split('.', 1)[0]);
}

/** Position in the slice of a record that is a unit of its own, from 0; undefined for a batch. */
export function positionOf(unit: UnitId): number | undefined {
  const position = unit.split('.', 2)[1];
  return position === undefined ? undefined : Number(position);
}

export function splitUnitOf(batch: UnitId, position: number): UnitId {
  return `${batch}.${position}`;
}

/** Orders units as their batches lie, a batch before the records split from it. */
export function compareUnits(a: UnitId, b: UnitId): number {
  return ordinalOf(a) - ordinalOf(b) || (positionOf(a) ?? -1) - (positionOf(b) ?? -1);
}
