import { PRICES } from '../../../lib/core/cost/prices.ts';
import { CONTENDER_NAMES, type ContenderName, type Ran, run } from '../contenders.ts';
import type { Figure, Part, Scale } from '../figures.ts';
import { accounts, INDEXED, NARROW, type RecordShape, WIDE } from '../shapes.ts';

const MILLION = 1_000_000;
const TENANTS = 10;
const BATCH_SIZE = 100;
const RECORDS: Readonly<Record<Scale, number>> = { full: 10_000, quick: 4_000, tiny: 60 };

// Assumed and not measured: nothing here runs on Lambda. They decide a small part of the sum.
const MILLIS_PER_CALL = 5;
const MILLIS_PER_BATCHED_CALL = 30;
const GIGABYTES = 0.5;
/** What Lambda itself logs of an invocation. */
const PLATFORM_LOG_BYTES = 350;
/** Calls that wait side by side. */
const AT_ONCE: Partial<Record<ContenderName, number>> = { 'message per record': 10 };

const BYTES_PER_GIGABYTE = 1024 ** 3;

interface Bill {
  readonly writes: number;
  readonly reads: number;
  readonly queue: number;
  readonly functions: number;
  readonly logs: number;
}

function secondsOf(name: ContenderName, { calls }: Ran): number {
  const millis = [...calls].reduce((sum, [call, count]) => {
    const each = /^(BatchExecuteStatement|TransactWriteItems)/.test(call) ? MILLIS_PER_BATCHED_CALL : MILLIS_PER_CALL;
    return sum + each * count;
  }, 0);
  return millis / 1_000 / (AT_ONCE[name] ?? 1);
}

/** Dollars for a million records like those that were measured. */
function billOf(name: ContenderName, ran: Ran): Bill {
  const { cost, queueRequests, invocations, logBytes, world } = ran;
  const million = MILLION / world.records;
  const each = (count: number, dollarsPerMillion: number) => (count * million * dollarsPerMillion) / MILLION;
  const bytes = (logBytes + invocations * PLATFORM_LOG_BYTES) * million;
  return {
    writes: each(cost.writeUnits, PRICES.perMillionWriteUnits),
    reads: each(cost.readUnits, PRICES.perMillionReadUnits),
    queue: each(queueRequests, PRICES.perMillionQueueRequests),
    functions:
      each(invocations, PRICES.perMillionInvocations) +
      secondsOf(name, ran) * million * GIGABYTES * PRICES.perGigabyteSecond,
    logs: (bytes / BYTES_PER_GIGABYTE) * PRICES.perGigabyteLogged,
  };
}

const sumOf = (bill: Bill) => Object.values(bill).reduce((sum: number, dollars: number) => sum + dollars, 0);

async function billsFor(records: number, shape: RecordShape): Promise<ReadonlyMap<ContenderName, Bill>> {
  const bills = new Map<ContenderName, Bill>();
  for (const name of CONTENDER_NAMES) {
    const items = accounts(records, TENANTS, shape);
    bills.set(name, billOf(name, await run(name, { batchSize: BATCH_SIZE, shape, items, metering: 'units' })));
  }
  return bills;
}

/** Modelled dollars: metered units and counted requests at list prices, function time as assumed above. */
export const dollars: Part = {
  name: 'dollars',
  about: 'modelled dollars per million records at the versioned list prices',
  async measure(scale) {
    const rows: (string | number)[][] = [];
    const figures: Figure[] = [];
    for (const shape of [NARROW, WIDE, INDEXED]) {
      const bills = await billsFor(RECORDS[scale] / (shape === NARROW ? 1 : 4), shape);
      for (const [name, bill] of bills) {
        rows.push([shape.name, name, ...[...Object.values(bill), sumOf(bill)].map((dollar) => dollar.toFixed(3))]);
      }
      const [ours, theirs] = [bills.get('ours'), bills.get('message per record')];
      if (ours === undefined || theirs === undefined) continue;
      figures.push({
        what: `dollars of ours over those of a message per record, ${shape.name}`,
        value: sumOf(ours) / sumOf(theirs),
        unit: 'times',
      });
    }
    const title = `Modelled dollars per million records, prices ${PRICES.version}`;
    const columns = ['record', 'pipeline', 'writes', 'reads', 'SQS', 'Lambda', 'logs', 'sum'];
    return { figures, tables: [{ title, columns, rows }] };
  },
};
