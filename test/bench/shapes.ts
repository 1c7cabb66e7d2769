import type { Item } from '../../lib/local/records.ts';
import type { TableShape } from '../contract/target-harness.ts';

/** A kind of record and its table. Its write units are in DynamoDB's terms, and `units` checks them. */
export interface RecordShape {
  readonly name: string;
  /** Units of the record's own write, by its size. */
  readonly s: number;
  /** Units of its indexes at that write. */
  readonly g: number;
  readonly indexes: NonNullable<TableShape['indexes']>;
  readonly more: Item;
}

export const NARROW: RecordShape = { name: 'small record, no index', s: 1, g: 0, indexes: [], more: {} };

export const WIDE: RecordShape = {
  name: 'record of 1.6 KB, no index',
  s: 2,
  g: 0,
  indexes: [],
  more: { note: { S: '.'.repeat(1_500) } },
};

/** The entry is carried along: one write of the index. */
export const MIRRORED: RecordShape = {
  name: 'small record, an index that carries all of it',
  s: 1,
  g: 1,
  indexes: [{ name: 'by-tenant', keys: ['tenant', 'id'], projects: 'all' }],
  more: {},
};

/** The state is a key of the index: the old entry goes, a new one comes. */
export const INDEXED: RecordShape = {
  name: 'small record, an index keyed by the state',
  s: 1,
  g: 2,
  indexes: [{ name: 'by-state', keys: ['status', 'lastActivity'], projects: [] }],
  more: {},
};

export const SHAPES: readonly RecordShape[] = [NARROW, WIDE, MIRRORED, INDEXED];

/** The key of the record that is made as number so-and-so. */
export function accountId(number: number): string {
  return `acct-${String(number).padStart(7, '0')}`;
}

function account(number: number, tenant: string, more: Item): Item {
  return {
    id: { S: accountId(number) },
    tenant: { S: tenant },
    status: { S: 'ACTIVE' },
    lastActivity: { S: '2020-01-01T00:00:00Z' },
    plan: { S: 'standard' },
    ...more,
  };
}

/** Due records, the same number in each tenant. */
export function* accounts(records: number, tenants: number, { more }: RecordShape): Generator<Item> {
  for (let number = 0; number < records; number += 1) {
    yield account(number, `tenant-${String(number % tenants).padStart(4, '0')}`, more);
  }
}

/** Due records of tenants that have 1 to `most` each, evenly spread. */
export function* smallTenants(tenants: number, most: number, { more }: RecordShape): Generator<Item> {
  let number = 0;
  for (let tenant = 0; tenant < tenants; tenant += 1) {
    for (let place = 0; place <= tenant % most; place += 1) {
      yield account(number, `tenant-${String(tenant).padStart(4, '0')}`, more);
      number += 1;
    }
  }
}
