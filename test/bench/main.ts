import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { environmentOf, pointProcessAt } from '../../lib/local/access.ts';
import type { Item } from '../../lib/local/records.ts';
import { type LocalAws, startLocalAws } from '../../lib/local/server.ts';
import { startDynamoDbLocal } from '../helpers/dynamodb-local.ts';
import { packageItems } from './packages.ts';
import { type BenchRun, runPipeline } from './pipeline.ts';
import type { RedriveFigures } from './redrive.ts';
import { createStore } from './store.ts';

// `npm run bench`: figures that do not change from machine to machine, each beside its bound; exit 1 over a bound.

const BATCH_SIZE = 100;
const RECORDS = 10_000;
const TENANTS = 20;
/** Low enough that one consumer waits for its share, so that shares follow each other as they do under load. */
const RECORDS_PER_SECOND = 500;
const BOUNDS = {
  calls: 0.12,
  writeUnits: 1 + 0 + 0.1,
  rateWriteUnits: 0.02,
  bodyBytes: 512,
  heapGrowthBytes: 5 * 1024 * 1024,
  listCalls: 0.05,
  filteredCalls: 0.5,
  redriveCalls: 4,
  redriveHeapBytes: 20 * 1024 * 1024,
};

/** What the figures beside ours were measured on. */
let packagesName = 'packages.csv';

interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bound: number | null;
  readonly packages: number | null;
}

function* accounts(): Generator<Item> {
  for (let number = 0; number < RECORDS; number += 1) {
    yield {
      id: { S: `acct-${String(number).padStart(6, '0')}` },
      tenant: { S: `tenant-${String(number % TENANTS).padStart(2, '0')}` },
      status: { S: 'ACTIVE' },
      lastActivity: { S: '2020-01-01T00:00:00Z' },
      plan: { S: 'standard' },
    };
  }
}

function perRecord({ cost, view }: BenchRun): { readonly calls: number; readonly writeUnits: number } {
  const planned = view.planned ?? 0;
  return { calls: cost.calls / planned, writeUnits: cost.writeUnits / planned };
}

function checkComplete(name: string, run: BenchRun): void {
  if (run.view.status !== 'complete' || !run.view.proof.holds)
    throw new Error(`${name}: the run is ${run.view.status}.`);
  const keys = run.bodies.filter((body) => body.includes('acct-'));
  if (keys.length > 0) throw new Error(`${name}: a message carries a record key.`);
}

async function planHeap(env: NodeJS.ProcessEnv, records: number): Promise<number> {
  const script = join(import.meta.dirname, 'heap.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, String(records)], { env });
  return Number(stdout.trim());
}

const FEW_LETTERS = 1_000;
const MANY_LETTERS = 10_000;

/** The acts over so many dead letters; the ledger on DynamoDB Local where it can run, the queues on the local AWS. */
async function redriveFigures(aws: LocalAws): Promise<{ readonly few: RedriveFigures; readonly many: RedriveFigures }> {
  const local = await startDynamoDbLocal();
  const own = local === undefined ? {} : { AWS_ENDPOINT_URL_DYNAMODB: local.endpoint };
  const script = join(import.meta.dirname, 'redrive.ts');
  const run = async (letters: number): Promise<RedriveFigures> => {
    const env = { ...environmentOf(aws), ...own };
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, String(letters)], { env });
    return JSON.parse(stdout);
  };
  try {
    return { few: await run(FEW_LETTERS), many: await run(MANY_LETTERS) };
  } finally {
    await local?.stop();
  }
}

/** DynamoDB Local where it can run: it is faster, and the ledger is all that planning needs. */
async function heapGrowth(aws: LocalAws): Promise<{ readonly small: number; readonly large: number }> {
  const local = await startDynamoDbLocal();
  const env = local === undefined ? environmentOf(aws) : { ...environmentOf(aws), AWS_ENDPOINT_URL: local.endpoint };
  try {
    return { small: await planHeap(env, 10_000), large: await planHeap(env, 200_000) };
  } finally {
    await local?.stop();
  }
}

async function measure(aws: LocalAws): Promise<readonly Figure[]> {
  console.error(`10,000 records in ${TENANTS} tenants, batches of ${BATCH_SIZE} …`);
  const full = await runPipeline(await createStore('full', accounts()), { batchSize: BATCH_SIZE });
  checkComplete('full batches', full);
  console.error(`the same at ${RECORDS_PER_SECOND} records per second …`);
  const options = { batchSize: BATCH_SIZE, recordsPerSecond: RECORDS_PER_SECOND };
  const paced = await runPipeline(await createStore('paced', accounts()), options);
  checkComplete('rate-limited', paced);
  const file = resolve(import.meta.dirname, '../../../shared/data/packages.csv');
  const data = existsSync(file) ? file : join(import.meta.dirname, '../fixtures/packages-excerpt.csv');
  packagesName = data.endsWith('excerpt.csv') ? 'an excerpt of packages.csv' : 'packages.csv';
  console.error(`${packagesName} …`);
  const packages = await runPipeline(await createStore('packages', packageItems(data)), { batchSize: BATCH_SIZE });
  checkComplete('packages.csv', packages);
  console.error('heap of a dispatcher that plans 10,000 and 200,000 records …');
  const heap = await heapGrowth(aws);
  console.error('10,000 dead letters: list, redrive of 37, redrive of all …');
  const { few, many } = await redriveFigures(aws);
  const [ours, theirs] = [perRecord(full), perRecord(packages)];
  const { quotedWriteUnits } = full.view.cost;
  return [
    { what: 'SDK calls', value: ours.calls, unit: 'per record', bound: BOUNDS.calls, packages: theirs.calls },
    {
      what: 'write units (s = 1, g = 0)',
      value: ours.writeUnits,
      unit: 'per record',
      bound: BOUNDS.writeUnits,
      packages: theirs.writeUnits,
    },
    {
      what: 'write units quoted for the records',
      value: (quotedWriteUnits ?? 0) / RECORDS,
      unit: 'per record',
      bound: null,
      packages: (packages.view.cost.quotedWriteUnits ?? 0) / (packages.view.planned ?? 1),
    },
    {
      what: `write units more at ${RECORDS_PER_SECOND} records per second`,
      value: perRecord(paced).writeUnits - ours.writeUnits,
      unit: 'per record',
      bound: BOUNDS.rateWriteUnits,
      packages: null,
    },
    {
      what: 'largest message body',
      value: full.largestBodyBytes,
      unit: 'bytes',
      bound: BOUNDS.bodyBytes,
      packages: packages.largestBodyBytes,
    },
    {
      what: 'dispatcher heap growth, 10,000 to 200,000 records',
      value: heap.large - heap.small,
      unit: 'bytes',
      bound: BOUNDS.heapGrowthBytes,
      packages: null,
    },
    {
      what: 'SDK calls of a list of 10,000 dead letters',
      value: many.listCalls / many.letters,
      unit: 'per message',
      bound: BOUNDS.listCalls,
      packages: null,
    },
    {
      what: 'SDK calls of a redrive of 37 among 10,000 dead letters',
      value: many.filteredCalls / many.letters,
      unit: 'per message in the queue',
      bound: BOUNDS.filteredCalls,
      packages: null,
    },
    {
      what: 'SDK calls of a redrive of all 10,000 dead letters',
      value: many.allCalls / many.letters,
      unit: 'per message',
      bound: BOUNDS.redriveCalls,
      packages: null,
    },
    {
      what: 'heap growth of the acts, 1,000 to 10,000 dead letters',
      value: many.heapBytes - few.heapBytes,
      unit: 'bytes',
      bound: BOUNDS.redriveHeapBytes,
      packages: null,
    },
  ];
}

function print(figures: readonly Figure[]): void {
  const round = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(4));
  for (const { what, value, unit, bound, packages } of figures) {
    const limit = bound === null ? '' : ` (bound ${bound})`;
    const beside = packages === null ? '' : `; ${packagesName} ${round(packages)}`;
    console.log(`${what}: ${round(value)} ${unit}${limit}${beside}`);
  }
}

const aws = await startLocalAws();
pointProcessAt(aws);
try {
  const figures = await measure(aws);
  print(figures);
  const over = figures.filter(({ value, bound }) => bound !== null && value > bound);
  for (const { what } of over) console.error(`Over its bound: ${what}.`);
  process.exitCode = over.length > 0 ? 1 : 0;
} finally {
  await aws.stop();
}
