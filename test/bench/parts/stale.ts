import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { sumOf } from '../contender.ts';
import { type ContenderName, type Ran, run } from '../contenders.ts';
import type { Figure, Part, Scale } from '../figures.ts';
import { accountId, accounts, NARROW } from '../shapes.ts';
import type { World } from '../store.ts';

const PERCENTS = [0, 0.1, 1, 5];
const TENANTS = 10;
const BATCH_SIZE = 100;
const RECORDS: Readonly<Record<Scale, number>> = { full: 4_000, quick: 2_000, tiny: 60 };
/** A loop that writes as it reads has nothing between plan and write. */
const CONTENDERS: readonly ContenderName[] = ['ours', 'message per record', 'transaction per batch'];
const UPDATES_AT_ONCE = 16;

/** A prime far from the number of tenants, so that the changed records lie scattered over the batches. */
const STRIDE = 7_919;

/** Somebody uses these accounts again: their time is no longer the planned one. */
async function reactivate({ settings, records }: World, changed: number): Promise<void> {
  const client = new DynamoDBClient({});
  const numbers = Array.from({ length: changed }, (_, n) => (n * STRIDE) % records);
  await pMap(
    numbers,
    (number) =>
      client.send(
        new UpdateItemCommand({
          TableName: settings.recordTableName,
          Key: { id: { S: accountId(number) } },
          UpdateExpression: 'SET lastActivity = :now',
          ExpressionAttributeValues: { ':now': { S: '2025-12-31T00:00:00Z' } },
        }),
      ),
    { concurrency: UPDATES_AT_ONCE },
  );
  client.destroy();
}

function stale(name: ContenderName, records: number, percent: number): Promise<Ran> {
  const changed = Math.round((records * percent) / 100);
  const items = accounts(records, TENANTS, NARROW);
  const between = (world: World) => reactivate(world, changed);
  return run(name, { batchSize: BATCH_SIZE, shape: NARROW, items, metering: 'units', between });
}

function figuresAt(percent: number, ran: Ran, records: number): readonly Figure[] {
  const changed = Math.round((records * percent) / 100);
  return [
    {
      what: `deliveries of ours that came again with ${percent} % of the records changed`,
      value: ran.retries,
      unit: 'deliveries',
      bound: { atMost: 0 },
    },
    {
      what: `records of ours that were not changed by us beyond the ${changed} that had changed`,
      value: ran.skipped - changed,
      unit: 'records',
      bound: { atMost: 0 },
    },
  ];
}

/** What it costs that records change between plan and write. */
export const staleness: Part = {
  name: 'stale',
  about: '0, 0.1, 1 and 5 % of the records changed between plan and write',
  async measure(scale) {
    const records = RECORDS[scale];
    const figures: Figure[] = [];
    const rows: (string | number)[][] = [];
    for (const percent of PERCENTS) {
      for (const name of CONTENDERS) {
        const ran = await stale(name, records, percent);
        const { changed, skipped, retries, calls, cost } = ran;
        rows.push([percent, name, changed, skipped, retries, sumOf(calls) / records, cost.writeUnits / records]);
        if (name === 'ours') figures.push(...figuresAt(percent, ran, records));
      }
    }
    const columns = ['% changed', 'pipeline', 'changed by it', 'left alone', 'tried again'];
    const title = `Changed between plan and write: ${records} records`;
    return { figures, tables: [{ title, columns: [...columns, 'calls per record', 'write units per record'], rows }] };
  },
};
