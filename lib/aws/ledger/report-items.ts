import { digestOf } from '../../core/identity/encode.ts';
import type { BadMessage, Tally, TenantReport } from '../../core/ledger/items.ts';
import type { Attributes } from '../item-size.ts';
import { decodeFields, encodeFields, type Field } from './fields.ts';
import { itemKey, policyPartition, runPartition, SK, tallySort } from './schema.ts';
import { packJson, unpackJson } from './slice-item.ts';

const TALLY_FIELDS = {
  runId: 'text',
  number: 'number',
  epoch: 'number',
  examined: 'number',
} as const satisfies Record<Exclude<keyof Tally, 'tenants' | 'unreadable'>, Field>;

export function encodeTally(tally: Tally): Attributes {
  return {
    ...itemKey(runPartition(tally.runId), tallySort(tally.number)),
    ...encodeFields(TALLY_FIELDS, tally),
    // Grows with the tenants, so it is packed as slices are.
    counts: { B: packJson([tally.tenants, tally.unreadable]) },
  };
}

export function decodeTally(item: Attributes): Tally {
  const [tenants, unreadable] = unpackJson<[Tally['tenants'], Tally['unreadable']]>(item.counts?.B ?? new Uint8Array());
  return { ...decodeFields<Pick<Tally, keyof typeof TALLY_FIELDS>>(TALLY_FIELDS, item), tenants, unreadable };
}

const TENANT_FIELDS = {
  runId: 'text',
  tenant: 'text',
  epoch: 'number',
  discovered: 'number',
  held: 'number',
  planned: 'number',
  overLimit: 'number',
  oldest: 'number',
} as const satisfies Record<keyof TenantReport, Field>;

/** A sort key takes 1,024 bytes, and a tenant's name may be longer. */
const PLAIN_TENANT_BYTES = 512;

export function encodeTenant(report: TenantReport): Attributes {
  const plain = Buffer.byteLength(report.tenant) <= PLAIN_TENANT_BYTES;
  const name = plain ? report.tenant : `sha256:${digestOf([report.tenant])}`;
  return {
    ...itemKey(runPartition(report.runId), `${SK.tenant}${name}`),
    ...encodeFields(TENANT_FIELDS, report),
  };
}

export function decodeTenant(item: Attributes): TenantReport {
  return decodeFields(TENANT_FIELDS, item);
}

const MESSAGE_FIELDS = {
  policyId: 'text',
  digest: 'text',
  reason: 'text',
  at: 'number',
  abandonedAt: 'number',
} as const satisfies Record<keyof BadMessage, Field>;

export function messageKey({ policyId, digest }: Pick<BadMessage, 'policyId' | 'digest'>): Attributes {
  return itemKey(policyPartition(policyId), `${SK.message}${digest}`);
}

export function encodeMessage(message: BadMessage): Attributes {
  return {
    ...messageKey(message),
    ...encodeFields(MESSAGE_FIELDS, message),
  };
}

export function decodeMessage(item: Attributes): BadMessage {
  return decodeFields(MESSAGE_FIELDS, item);
}
