import type { AuditEntry } from '../../core/ledger/items.ts';
import type { AuditScope } from '../../core/ports/ledger.ts';
import type { Attributes } from '../item-size.ts';
import { encodeFields, type Field } from './fields.ts';
import { auditNumber, auditSort, EXPIRES_AT, itemKey, LEDGER_KEY, scopePartition } from './schema.ts';

const AUDIT_FIELDS = {
  number: 'number',
  act: 'text',
  actor: 'text',
  reason: 'text',
  requestId: 'text',
  units: 'json',
  selection: 'text',
  at: 'number',
  previousHash: 'text',
  hash: 'text',
} as const satisfies Record<Exclude<keyof AuditEntry, 'damaged'>, Field>;

export function encodeAudit(scope: AuditScope, entry: AuditEntry): Attributes {
  return { ...itemKey(scopePartition(scope), auditSort(entry.number)), ...encodeFields(AUDIT_FIELDS, entry) };
}

/** Attributes of an entry's item that are not of the entry. */
const BESIDE_AUDIT: readonly string[] = [LEDGER_KEY.partitionKey, LEDGER_KEY.sortKey, EXPIRES_AT];

/** The one item whose content is not taken on trust: that somebody changed it is what it is read to find out. */
export function decodeAudit(item: Attributes): AuditEntry {
  const damaged: string[] = Object.keys(item).filter((name) => !(name in AUDIT_FIELDS || BESIDE_AUDIT.includes(name)));
  const read = <T>(name: keyof AuditEntry, value: T | undefined, missing: T): T => {
    if (value === undefined) damaged.push(name);
    return value ?? missing;
  };
  const textOf = (name: keyof AuditEntry) => read(name, item[name]?.S, '');
  // Its place is its key: what the item says of itself must agree.
  const place = auditNumber(item[LEDGER_KEY.sortKey]?.S ?? '');
  if (item.number?.N !== String(place)) damaged.push('number');
  const entry = {
    number: place,
    act: textOf('act'),
    actor: textOf('actor'),
    reason: textOf('reason'),
    requestId: textOf('requestId'),
    units: read('units', unitNames(item.units?.S), []),
    ...(item.selection === undefined ? {} : { selection: textOf('selection') }),
    at: read('at', instant(item.at?.N), 0),
    previousHash: textOf('previousHash'),
    hash: textOf('hash'),
  };
  return damaged.length === 0 ? entry : { ...entry, damaged };
}

function unitNames(json: string | undefined): readonly string[] | undefined {
  try {
    const names: unknown = JSON.parse(json ?? '');
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : undefined;
  } catch {
    return undefined;
  }
}

function instant(digits: string | undefined): number | undefined {
  const millis = Number(digits ?? Number.NaN);
  return Number.isNaN(new Date(millis).getTime()) ? undefined : millis;
}
