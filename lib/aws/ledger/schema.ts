import { digestOf } from '../../core/identity/encode.ts';
import { type EpochMillis, formatInstant } from '../../core/identity/instant.ts';
import { ordinalOf, type UnitId } from '../../core/identity/keys.ts';
import type { AuditScope } from '../../core/ports/ledger.ts';
import type { Attributes } from '../item-size.ts';

/** Key schema of the ledger table; the CDK construct defines the same. All keys are strings. */
export const LEDGER_KEY = { partitionKey: 'pk', sortKey: 'sk' } as const;

/** The table's time-to-live attribute, in epoch seconds. */
export const EXPIRES_AT = 'expiresAt';

/** The sparse index of what needs someone or something. */
export const OPEN_INDEX = {
  indexName: 'open',
  partitionKey: 'openShard',
  sortKey: 'openSort',
  /** Projection INCLUDE; DynamoDB takes at most 20. */
  included: [
    'state',
    'status',
    'reason',
    'errorClass',
    'tenant',
    'generation',
    'notBefore',
    'since',
    'runId',
    'unit',
    'records',
    'attempts',
    'failureClass',
    'copiedAt',
    'copiedGeneration',
  ],
} as const;

// One partition would be hot when many units fail at once (pitfall P53).
export const OPEN_SHARDS = 8;

export function openShard(shard: number): string {
  return `OPEN#${shard}`;
}

/** The shard that a run (`unit` blank) or a unit stands in. */
export function openShardOf(runId: string, unit: UnitId | ''): string {
  return openShard((Buffer.from(digestOf([runId, unit]), 'base64url')[0] ?? 0) % OPEN_SHARDS);
}

/** Sorts runs by scheduled time: it is the last part of a run's id. */
export function openRunSort(runId: string): string {
  return `run#${runId.slice(runId.lastIndexOf('.') + 1)}#${runId}`;
}

export type OpenState = 'planned' | 'quarantined' | 'uncertain';

/** `at`: when a planned unit is due; since when any other stands there. */
export function openUnitSort(state: OpenState, at: EpochMillis, runId: string, unit: UnitId): string {
  return `${state}#${formatInstant(at)}#${runId}#${unit}`;
}

/** Above every sort of this state at this instant or earlier, below every later one. */
export function openUnitSortAfter(state: OpenState, at: EpochMillis): string {
  return `${state}#${formatInstant(at + 1)}`;
}

export const SK = {
  run: 'RUN',
  control: 'CONTROL',
  slice: 'SLICE#',
  batch: 'BATCH#',
  tally: 'TALLY#',
  tenant: 'TENANT#',
  audit: 'AUDIT#',
  runAt: 'AT#',
  message: 'MESSAGE#',
  selection: 'SELECTION#',
  admission: 'ADMISSION#',
} as const;

export function runPartition(runId: string): string {
  return `RUN#${runId}`;
}

export function policyPartition(policyId: string): string {
  return `POLICY#${policyId}`;
}

export function scopePartition(scope: AuditScope): string {
  return scope.kind === 'run' ? runPartition(scope.runId) : policyPartition(scope.policyId);
}

export function sliceSort(ordinal: number): string {
  return `${SK.slice}${padded(ordinal, 8)}`;
}

export function tallySort(number: number): string {
  return `${SK.tally}${padded(number, 6)}`;
}

export function auditSort(number: number): string {
  return `${SK.audit}${padded(number, 8)}`;
}

/** The number that an entry's sort key says; NaN where it is none of ours. */
export function auditNumber(sort: string): number {
  const digits = sort.slice(SK.audit.length);
  return /^\d{8}$/.test(digits) ? Number(digits) : Number.NaN;
}

/** A batch sorts before the records split from it. */
export function unitSort(unit: UnitId): string {
  const position = unit.split('.')[1];
  return `${SK.batch}${padded(ordinalOf(unit), 8)}${position === undefined ? '' : `.${padded(Number(position), 4)}`}`;
}

export function runAtSort(scheduledTime: EpochMillis, policyVersion: string): string {
  return `${SK.runAt}${formatInstant(scheduledTime)}#${policyVersion}`;
}

export function itemKey(partition: string, sort: string): Attributes {
  return { [LEDGER_KEY.partitionKey]: { S: partition }, [LEDGER_KEY.sortKey]: { S: sort } };
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
