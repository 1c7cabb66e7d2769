import type { Item } from '../../../lib/local/records.ts';
import { sumOf } from '../contender.ts';
import { type Ran, run } from '../contenders.ts';
import type { Part, Scale, Table } from '../figures.ts';
import { accounts, NARROW, smallTenants } from '../shapes.ts';

const BATCH_SIZES = [1, 10, 25, 100, 500, 1_000];
const TENANTS = 2;
/** Small batches of many records would take long and show the same. */
const BATCHES_AT_MOST = 400;
const RECORDS: Readonly<Record<Scale, number>> = { full: 10_000, quick: 4_000, tiny: 60 };
const SMALL_TENANTS: Readonly<Record<Scale, number>> = { full: 1_000, quick: 200, tiny: 20 };
const LARGEST_SMALL_TENANT = 20;

function rowOf(name: string, { cost, calls, world, millis, queueRequests }: Ran, base: number): (string | number)[] {
  const { records } = world;
  const per = [cost.writeUnits, cost.readUnits, sumOf(calls), queueRequests].map((count) => count / records);
  return [name, records, ...per, records / millis / base];
}

function ours(batchSize: number, items: Iterable<Item>): Promise<Ran> {
  return run('ours', { batchSize, shape: NARROW, items, metering: 'units' });
}

/** What the size of a batch does to the cost of a record, and what tenants do that have only a few records. */
export const sizes: Part = {
  name: 'sizes',
  about: 'cost per record by batch size, 1 to 1,000, and with many small tenants',
  async measure(scale) {
    const ran: (readonly [string, Ran])[] = [];
    for (const batchSize of BATCH_SIZES) {
      const records = Math.min(RECORDS[scale], batchSize * BATCHES_AT_MOST);
      ran.push([`batches of ${batchSize}`, await ours(batchSize, accounts(records, TENANTS, NARROW))]);
    }
    const tenants = SMALL_TENANTS[scale];
    const name = `${tenants} tenants of 1 to ${LARGEST_SMALL_TENANT} records, batches of 100`;
    ran.push([name, await ours(100, smallTenants(tenants, LARGEST_SMALL_TENANT, NARROW))]);
    const hundred = ran.find(([size]) => size === 'batches of 100')?.[1];
    const base = hundred === undefined ? Number.NaN : hundred.world.records / hundred.millis;
    const table: Table = {
      title: 'Cost per record by batch size (s = 1, g = 0)',
      columns: ['', 'records', 'write units', 'read units', 'SDK calls', 'SQS requests', 'speed over that of 100'],
      rows: ran.map(([size, one]) => rowOf(size, one, base)),
    };
    return { figures: [], tables: [table] };
  },
};
