import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createMeter } from '../../lib/aws/meter.ts';
import { systemClock } from '../../lib/aws/system.ts';
import { discover } from '../../lib/core/plan/discover.ts';
import { freeze } from '../../lib/core/plan/freeze.ts';
import { newRun } from '../../lib/core/plan/new-run.ts';
import type { RecordSource } from '../../lib/core/ports/index.ts';
import { createLedgerTable, ledgerOn } from '../contract/ledger-dynamo.ts';
import { benchSettings, SCHEDULED_TIME } from './pipeline.ts';

// Run as a child with --expose-gc: `heap.ts RECORDS` plans so many records into a real ledger and prints the largest
// heap, in bytes, that was left after a garbage collection at any page.

const RECORDS_PER_PAGE = 2_000;
const TENANTS = 20;
const SEGMENTS = 4;

const collect: (() => void) | undefined = globalThis.gc;
if (collect === undefined) throw new Error('Run with --expose-gc.');

let largest = 0;

function sample(): void {
  collect?.();
  largest = Math.max(largest, process.memoryUsage().heapUsed);
}

function synthetic(records: number): RecordSource {
  const perSegment = records / SEGMENTS;
  return {
    seesUnreadable: true,
    seesAll: true,
    segments: Array.from({ length: SEGMENTS }, (_, segment) => String(segment)),
    page: async (segment, cursor) => {
      sample();
      const start = Number(cursor ?? 0);
      const end = Math.min(perSegment, start + RECORDS_PER_PAGE);
      return {
        records: Array.from({ length: end - start }, (_, index) => {
          const number = Number(segment) * perSegment + start + index;
          return {
            key: `["Sacct-${String(number).padStart(9, '0')}"]`,
            witness: 'S2020-01-01T00:00:00Z',
            tenant: `tenant-${number % TENANTS}`,
            timestamp: { kind: 'readable', millis: Date.UTC(2020, 0, 1) },
            held: false,
            operationKey: undefined,
            writeUnits: 1,
          };
        }),
        next: end < perSegment ? String(end) : undefined,
      };
    },
  };
}

const records = Number(process.argv[2]);
const client = new DynamoDBClient({});
const ledger = ledgerOn(client, await createLedgerTable(client));
const store = {
  ledgerTable: '',
  idempotencyTable: '',
  recordTable: 'records',
  workQueueUrl: '',
  deadLetterQueueUrl: '',
  secretArn: '',
};
const run = newRun(
  benchSettings(store, { batchSize: 100 }),
  { scheduledTime: SCHEDULED_TIME, startedBy: 'bench' },
  Date.now(),
);
const ports = { ledger, clock: systemClock, meter: createMeter(), source: synthetic(records), eligible: () => true };
const plenty = { remainingMillis: () => 800_000 };
await ledger.createRun(run);
const taken = await ledger.takeLease(run.runId, run.lease, 'bench', Date.now(), Date.now() + 120_000);
if (taken.kind !== 'moved') throw new Error('The lease was not taken.');
const discovered = await discover(ports, taken.run, plenty);
if (discovered.kind !== 'discovered') throw new Error(`Discovery ended as ${discovered.kind}.`);
sample();
const frozen = await freeze(ports, discovered.run);
sample();
if (frozen.kind !== 'frozen' || frozen.run.plan?.records !== records) {
  throw new Error(`Of ${records} records, the plan ended as ${JSON.stringify(frozen)}.`);
}
console.log(largest);
