import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { dueRecords } from '../alternatives/due-records.ts';
import { updateOf } from '../alternatives/write.ts';
import { sumOf } from '../contender.ts';
import { type Ran, run } from '../contenders.ts';
import type { Figure, Part, Scale, Table } from '../figures.ts';
import { accounts, NARROW, type RecordShape, SHAPES } from '../shapes.ts';
import { createWorld } from '../store.ts';

const TENANTS = 10;
const RECORDS: Readonly<Record<Scale, number>> = { full: 20_000, quick: 10_000, tiny: 400 };
const BOUNDS = [
  { batchSize: 100, unitsMore: 0.08, calls: 0.1 },
  { batchSize: 500, unitsMore: 0.03, calls: 0.06 },
] as const;

/** What DynamoDB Local says the write of one record takes, its indexes included. */
async function asTheStoreSays(shape: RecordShape): Promise<number> {
  const { settings } = await createWorld({ batchSize: 1, shape, items: accounts(1, 1, shape) });
  const client = new DynamoDBClient({});
  for await (const [record] of dueRecords(client, settings)) {
    if (record === undefined) continue;
    const update = { ...updateOf(settings, record), ReturnConsumedCapacity: 'TOTAL' } as const;
    const { ConsumedCapacity } = await client.send(new UpdateItemCommand(update));
    return ConsumedCapacity?.CapacityUnits ?? Number.NaN;
  }
  throw new Error('No record is due.');
}

function callsOf({ calls, world }: Ran, batchSize: number): Table {
  const batches = world.records / batchSize;
  return {
    title: `Calls of ours in batches of ${batchSize}: ${world.records} records in ${TENANTS} tenants`,
    columns: ['call', 'in the run', 'per batch', 'per record'],
    rows: [...[...calls].map(([name, count]) => [name, count] as const), ['all', sumOf(calls)] as const].map(
      ([name, count]) => [name, count, count / batches, count / world.records],
    ),
  };
}

function figuresOf(
  { cost, calls, world }: Ran,
  { batchSize, unitsMore, calls: most }: (typeof BOUNDS)[number],
): Figure[] {
  const { s, g } = world.shape;
  return [
    {
      what: `write units per record beyond s + g, batches of ${batchSize}`,
      value: cost.writeUnits / world.records - (s + g),
      unit: 'units',
      bound: { atMost: unitsMore },
    },
    {
      what: `SDK calls per record, batches of ${batchSize}`,
      value: sumOf(calls) / world.records,
      unit: 'calls',
      bound: { atMost: most },
    },
  ];
}

/** What a record costs, by what it is and by the size of its batch. */
export const units: Part = {
  name: 'units',
  about: 'write units and SDK calls per record at batches of 100 and 500, by call',
  async measure(scale) {
    const figures: Figure[] = [];
    const tables: Table[] = [];
    for (const bound of BOUNDS) {
      const { batchSize } = bound;
      const items = accounts(RECORDS[scale], scale === 'tiny' ? 2 : TENANTS, NARROW);
      const ran = await run('ours', { batchSize, shape: NARROW, items, metering: 'units' });
      figures.push(...figuresOf(ran, bound));
      tables.push(callsOf(ran, batchSize));
    }
    const rows: (string | number)[][] = [];
    for (const shape of SHAPES) {
      const records = RECORDS[scale] / 10;
      const items = accounts(records, 1, shape);
      const { cost } = await run('ours', { batchSize: 100, shape, items, metering: 'units' });
      const said = await asTheStoreSays(shape);
      figures.push({
        what: `s + g beside the write units that DynamoDB Local reports, ${shape.name}`,
        value: Math.abs(said - shape.s - shape.g),
        unit: 'units apart',
        bound: { atMost: 0 },
      });
      rows.push([shape.name, shape.s, shape.g, said, cost.writeUnits / records]);
    }
    tables.push({
      title: 'Write units per record, batches of 100',
      columns: ['record', 's', 'g', 's + g by DynamoDB Local', 'ours, ledger and all'],
      rows,
    });
    return { figures, tables };
  },
};
