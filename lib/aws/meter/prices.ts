import type {
  BatchGetItemCommandInput,
  BatchWriteItemCommandInput,
  ConsumedCapacity,
  TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import type { Cost } from '../../core/cost/cost.ts';
import { type Attributes, itemSize } from '../item-size.ts';
import { OPEN_INDEX } from '../ledger/schema.ts';

/** Only AWS itself reports consumed capacity that can be believed. */
export type Store = 'aws' | 'elsewhere';

export interface PricedCall {
  /** As the SDK names it: `PutItemCommand`. */
  readonly command: string;
  readonly input: object;
  /** Absent where the call failed. */
  readonly output?: object;
  readonly error?: unknown;
}

type Units = Partial<Pick<Cost, 'readUnits' | 'writeUnits'>>;

/** The parts of any input, output or error that prices are made from. */
interface Priced {
  readonly Item?: Attributes;
  readonly Attributes?: Attributes;
  readonly Key?: Attributes;
  readonly Items?: readonly Attributes[];
  readonly Count?: number;
  readonly ScannedCount?: number;
  readonly ConsistentRead?: boolean;
  readonly Responses?: Readonly<Record<string, readonly Attributes[]>>;
  readonly UnprocessedKeys?: BatchGetItemCommandInput['RequestItems'];
  readonly RequestItems?: BatchGetItemCommandInput['RequestItems'] & BatchWriteItemCommandInput['RequestItems'];
  readonly TransactItems?: readonly TransactWriteItem[];
  readonly ConsumedCapacity?: ConsumedCapacity | readonly ConsumedCapacity[];
  readonly name?: string;
}

type Price = (input: Priced, output: Priced) => Units;

const WRITES: Readonly<Record<string, Price>> = {
  PutItemCommand: (input) => ({ writeUnits: itemWriteUnits(input.Item ?? {}) }),
  UpdateItemCommand: (input, output) => ({ writeUnits: itemWriteUnits(output.Attributes ?? input.Key ?? {}) }),
  DeleteItemCommand: (input, output) => ({ writeUnits: itemWriteUnits(output.Attributes ?? input.Key ?? {}) }),
  TransactWriteItemsCommand: (input) => ({ writeUnits: transactionUnits(input.TransactItems ?? []) }),
};

const READS: Readonly<Record<string, Price>> = {
  GetItemCommand: (input, output) => ({ readUnits: readUnits(itemSize(output.Item ?? {}), input.ConsistentRead) }),
  BatchGetItemCommand: (input, output) => ({ readUnits: batchReadUnits(input, output) }),
  QueryCommand: (input, output) => ({ readUnits: pageUnits(input, output) }),
  ScanCommand: (input, output) => ({ readUnits: pageUnits(input, output) }),
};

/**
 * Request units of one call: as the service reported where that is AWS, else from item sizes. Bounds of the latter:
 * a filter's discarded items count at the mean size of those returned; attributes that a projection left out do not
 * count; the smaller old image of a replaced item does not; an item that leaves the index is not charged for it.
 */
export function priceCall(call: PricedCall, store: Store): Units {
  const input: Priced = call.input;
  if (call.error !== undefined) return failureUnits(call.command, input, call.error as Priced);
  const output: Priced = call.output ?? {};
  const write = WRITES[call.command];
  const read = READS[call.command];
  const reported = [output.ConsumedCapacity ?? []].flat();
  if (store === 'aws' && reported.length > 0) {
    if (write !== undefined) return { writeUnits: totalUnits(reported) };
    if (read !== undefined) return { readUnits: totalUnits(reported) };
  }
  return (write ?? read)?.(input, output) ?? {};
}

/** Sum over tables, indexes included. */
export function totalUnits(reported: readonly ConsumedCapacity[]): number {
  return reported.reduce((total, capacity) => total + (capacity.CapacityUnits ?? 0), 0);
}

/** 1 for every KB or part of one, and 1 for the sparse index where the item stands in it. */
export function itemWriteUnits(item: Attributes): number {
  return writeUnits(itemSize(item)) + (OPEN_INDEX.partitionKey in item ? 1 : 0);
}

/** A condition that failed is billed by the larger of the item there and the item that was to be. */
function failureUnits(command: string, input: Priced, error: Priced): Units {
  if (error.name === 'ConditionalCheckFailedException') {
    const sizes = [input.Item, error.Item].map((item) => itemSize(item ?? {}));
    return { writeUnits: writeUnits(Math.max(...sizes)) };
  }
  if (error.name !== 'TransactionCanceledException') return {};
  return WRITES[command]?.(input, {}) ?? {};
}

/** Twice each write. An update's new size is not returned, so its key and values stand in for it. */
function transactionUnits(items: readonly TransactWriteItem[]): number {
  return items.reduce((total, { Put, Update, Delete, ConditionCheck }) => {
    if (Put !== undefined) return total + 2 * itemWriteUnits(Put.Item ?? {});
    const size = itemSize((Update ?? Delete ?? ConditionCheck)?.Key ?? {});
    return total + 2 * writeUnits(size + itemSize(Update?.ExpressionAttributeValues ?? {}));
  }, 0);
}

/** Each item is rounded for itself; a key without an item costs as the smallest one. */
function batchReadUnits(input: Priced, output: Priced): number {
  let units = 0;
  for (const [table, { Keys = [], ConsistentRead }] of Object.entries(input.RequestItems ?? {})) {
    const found = output.Responses?.[table] ?? [];
    const unprocessed = output.UnprocessedKeys?.[table]?.Keys?.length ?? 0;
    for (const item of found) units += readUnits(itemSize(item), ConsistentRead);
    units += (Keys.length - unprocessed - found.length) * readUnits(0, ConsistentRead);
  }
  return units;
}

/** A page is rounded on its sum. */
function pageUnits(input: Priced, output: Priced): number {
  const items = output.Items ?? [];
  const returned = items.reduce((total, item) => total + itemSize(item), 0);
  const scanned = Math.max(output.ScannedCount ?? 0, items.length);
  return readUnits(items.length === 0 ? 0 : (returned * scanned) / items.length, input.ConsistentRead);
}

function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024));
}

/** 1 for every 4 KB or part of them, half of it where the read may be stale. */
function readUnits(bytes: number, consistent: boolean | undefined): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (consistent === true ? 1 : 0.5);
}
