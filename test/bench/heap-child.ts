import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoAdmission } from '../../lib/aws/admission.ts';
import { PowertoolsIdempotency } from '../../lib/aws/idempotency.ts';
import { createMeter } from '../../lib/aws/meter.ts';
import { systemClock, systemRandom } from '../../lib/aws/system.ts';
import { consume } from '../../lib/core/consume/consume.ts';
import type { Delivery } from '../../lib/core/consume/delivery.ts';
import { prepareEvent } from '../../lib/core/consume/prepare.ts';
import { Gate } from '../../lib/core/control/gate.ts';
import { batchUnit } from '../../lib/core/identity/keys.ts';
import type { RunItem } from '../../lib/core/ledger/items.ts';
import { discover } from '../../lib/core/plan/discover.ts';
import { freeze } from '../../lib/core/plan/freeze.ts';
import { newRun } from '../../lib/core/plan/new-run.ts';
import { MESSAGES_PER_EVENT } from '../../lib/core/policy/budget.ts';
import type { Queue, RecordSource, Target } from '../../lib/core/ports/index.ts';
import { encodeReference, referenceTo } from '../../lib/core/publish/reference.ts';
import { createLedgerTable, ledgerOn } from '../contract/ledger-dynamo.ts';
import { MemorySigner } from '../model/signer.ts';
import { benchSettings, SCHEDULED_TIME } from './settings.ts';
import { createIdempotencyTable } from './store.ts';

// Run as a child with --expose-gc: `heap-child.ts RECORDS` plans so many records into a real ledger, then works all of
// their batches off, and prints the largest heap, in bytes, that was left after a garbage collection in either part.
// Records and messages are made as they are asked for: a list of them would be the bench's own memory.

export interface HeapFigures {
  readonly plan: number;
  readonly consume: number;
}

const RECORDS_PER_PAGE = 2_000;
const TENANTS = 20;
const SEGMENTS = 4;
const BATCH_SIZE = 100;
const EVENTS_PER_SAMPLE = 20;
const PLENTY = { remainingMillis: () => 800_000 };

const collect: (() => void) | undefined = globalThis.gc;
if (collect === undefined) throw new Error('Run with --expose-gc.');

let largest = 0;

function sample(): void {
  collect?.();
  largest = Math.max(largest, process.memoryUsage().heapUsed);
}

/** The largest heap since it was last asked. */
function taken(): number {
  sample();
  const was = largest;
  largest = 0;
  return was;
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

/** Every record is as planned; what a store would do with it is not this process's memory. */
const willing: Target = {
  idempotency: 'idempotent',
  recordsPerCall: 25,
  apply: async ({ items }) => items.map(({ key }) => ({ kind: 'outcome', key, outcome: 'expired', applied: 'now' })),
};

const client = new DynamoDBClient({});
const ledgerTable = await createLedgerTable(client);
const ledger = ledgerOn(client, ledgerTable);
const idempotencyTable = await createIdempotencyTable(client);
const meter = createMeter();
meter.price(client);
const signer = new MemorySigner();

async function plan(records: number): Promise<RunItem> {
  const request = { scheduledTime: SCHEDULED_TIME, startedBy: 'bench' };
  const run = newRun(benchSettings('records', { batchSize: BATCH_SIZE }), request, Date.now());
  const ports = { ledger, clock: systemClock, meter, source: synthetic(records), eligible: () => true };
  await ledger.createRun(run);
  const leased = await ledger.takeLease(run.runId, run.lease, 'bench', Date.now(), Date.now() + 120_000);
  if (leased.kind !== 'moved') throw new Error('The lease was not taken.');
  const discovered = await discover(ports, leased.run, PLENTY);
  if (discovered.kind !== 'discovered') throw new Error(`Discovery ended as ${discovered.kind}.`);
  sample();
  const frozen = await freeze(ports, discovered.run);
  if (frozen.kind !== 'frozen' || frozen.run.plan?.records !== records) {
    throw new Error(`Of ${records} records, the plan ended as ${JSON.stringify(frozen)}.`);
  }
  return frozen.run;
}

/** The deliveries of one event; the tenant of a batch is in its slice. */
async function deliveriesOf(run: RunItem, from: number): Promise<readonly Delivery[]> {
  const end = Math.min(run.plan?.batches ?? 0, from + MESSAGES_PER_EVENT);
  const slices = await ledger.slices(run.runId, from, end);
  return Promise.all(
    slices.slice(0, end - from).map(async ({ ordinal, tenant }): Promise<Delivery> => {
      const messageId = String(ordinal);
      const reference = referenceTo(run, { unit: batchUnit(ordinal), tenant, generation: 0 });
      const body = await encodeReference(reference, signer);
      return { messageId, handle: messageId, body, receiveCount: 1, labels: {} };
    }),
  );
}

async function work(run: RunItem): Promise<void> {
  const { policyId } = run;
  const consumer = {
    ledger,
    signer,
    meter,
    policyId,
    clock: systemClock,
    random: systemRandom,
    log: { event: () => undefined },
    owner: 'bench',
    // Nothing here is given up or put off.
    queue: {} as Queue,
    target: willing,
    admission: new DynamoAdmission({ client, tableName: ledgerTable, policyId }),
    gate: new Gate(ledger, systemClock),
    idempotency: new PowertoolsIdempotency({ client, tableName: idempotencyTable, deadline: PLENTY }),
  };
  let events = 0;
  for (let next = 0; next < (run.plan?.batches ?? 0); events += 1) {
    const deliveries = await deliveriesOf(run, next);
    const prepared = await prepareEvent(consumer, deliveries);
    for (const delivery of deliveries) {
      const found = prepared.get(delivery.messageId);
      if (found === undefined) throw new Error('A delivery was not prepared.');
      const { why } = await consume(consumer, delivery, found, PLENTY);
      if (why !== 'committed') throw new Error(`A batch ended as ${why}.`);
    }
    next += deliveries.length;
    if (events % EVENTS_PER_SAMPLE === 0) sample();
  }
}

const run = await plan(Number(process.argv[2]));
const planned = taken();
const moved = await ledger.moveRun(run.runId, 'drain', run.lease.epoch, { publishedAt: Date.now(), leaseUntil: 0 });
if (moved.kind !== 'moved') throw new Error('The run did not start.');
await work(moved.run);
const figures: HeapFigures = { plan: planned, consume: taken() };
console.log(JSON.stringify(figures));
