import { MESSAGES_PER_EVENT } from '../policy/budget.ts';
import { SEND_BATCH_LIMIT } from '../ports/queue.ts';
import { addCost, type Cost } from './cost.ts';
import { PRICES, type PriceList } from './prices.ts';

/** What a run will cost or did cost: metered work, and its price in US dollars. */
export interface Quote extends Cost {
  /** Request units, queue requests and invocations; not the time of functions, logs and storage. */
  readonly dollars: number;
  /** Version of the price list. */
  readonly prices: string;
}

/** What carrying out a frozen plan depends on. */
export interface PlanSize {
  readonly batches: number;
  /** Calls of the target: one for every `RECORDS_PER_TARGET_CALL` records of a batch, or part of them. */
  readonly targetCalls: number;
  /** Write units that the records themselves should take, their indexes included. */
  readonly recordWriteUnits: number;
  readonly rate: 'paced' | 'unlimited';
}

/** Records in one call of the DynamoDB target, which is what BatchExecuteStatement takes. */
export const RECORDS_PER_TARGET_CALL = 25;

/** Batches that one page of publishing sends, and that one page of closing reads at least. */
const BATCHES_PER_PAGE = 200;

/** Write units of the run's own item, which carries the whole policy, and of its place in the index. */
const RUN_ITEM_WRITE_UNITS = 5;

/** Of each unit: claimed and remembered by the idempotency table, started and committed in the ledger. */
const PER_UNIT: Cost = { calls: 4, writeUnits: 4, readUnits: 2 };

/** Of each event: its units are loaded at once. */
const PER_EVENT: Cost = { calls: 1, writeUnits: 0, readUnits: 1 };

/** Of each unit of a policy with a rate: its share of the records per second. */
const PER_PERMIT: Cost = { calls: 1, writeUnits: 1, readUnits: 0 };

/** Of each page of publishing: read, looked whether somebody paused, and the cursor moved. */
const PER_PAGE: Cost = { calls: 3, writeUnits: RUN_ITEM_WRITE_UNITS, readUnits: 3 };

/** Of each run: the freeze, the version, the end of publishing; and the pass of the reconciler that closes it. */
const PER_RUN: Cost = { calls: 3 + 32, writeUnits: 3 * RUN_ITEM_WRITE_UNITS + 1, readUnits: 20 };

function times(count: number, { calls, writeUnits, readUnits }: Cost): Cost {
  return { calls: count * calls, writeUnits: count * writeUnits, readUnits: count * readUnits };
}

/** Queue requests and invocations that SQS and Lambda make of so many messages; they are on no meter of ours. */
function deliveryDollars(batches: number, prices: PriceList): number {
  const sends = Math.ceil(batches / SEND_BATCH_LIMIT);
  const events = Math.ceil(batches / MESSAGES_PER_EVENT);
  // One request receives an event's messages, another deletes them.
  return ((sends + 2 * events) * prices.perMillionQueueRequests + events * prices.perMillionInvocations) / 1e6;
}

/** Prices metered work, and the deliveries of `batches` messages. */
export function priced(cost: Cost, batches: number, prices: PriceList = PRICES): Quote {
  const units = cost.writeUnits * prices.perMillionWriteUnits + cost.readUnits * prices.perMillionReadUnits;
  return { ...cost, dollars: units / 1e6 + deliveryDollars(batches, prices), prices: prices.version };
}

/**
 * What a run whose plan has been written will have cost in the end, where each unit succeeds at its first delivery and
 * events come full. `spent` is what planning took.
 */
export function quoteOf(plan: PlanSize, spent: Cost): Quote {
  const { batches, targetCalls, recordWriteUnits } = plan;
  const parts: readonly Cost[] = [
    PER_RUN,
    times(Math.ceil(batches / BATCHES_PER_PAGE), PER_PAGE),
    { calls: Math.ceil(batches / SEND_BATCH_LIMIT), writeUnits: 0, readUnits: 0 },
    times(Math.ceil(batches / MESSAGES_PER_EVENT), PER_EVENT),
    times(batches, PER_UNIT),
    times(plan.rate === 'paced' ? batches : 0, PER_PERMIT),
    { calls: targetCalls, writeUnits: recordWriteUnits, readUnits: 0 },
  ];
  return priced(parts.reduce(addCost, spent), batches);
}

/** An invoice further from its quote than this, in percent of the quote, is worth a look. */
export const QUOTE_TOLERANCE_PERCENT = 20;

/** Below so many write units the fixed costs of a run say more than its records. */
const WORTH_A_LOOK_WRITE_UNITS = 200;

/** How far an invoice is from its quote, in percent of the quote; undefined where that is not worth a warning. */
export function largeDifference(quote: Quote, invoice: Quote): number | undefined {
  const off = invoice.writeUnits - quote.writeUnits;
  if (Math.abs(off) < WORTH_A_LOOK_WRITE_UNITS) return undefined;
  const percent = (off / quote.writeUnits) * 100;
  return Math.abs(percent) > QUOTE_TOLERANCE_PERCENT ? percent : undefined;
}
