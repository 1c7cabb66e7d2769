import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { HandlerExecutionContext, InitializeMiddleware } from '@smithy/types';
import { type AnyClient, createMeter, type UnitMeter } from '../../lib/aws/meter.ts';
import { addCost, type Cost, NO_COST } from '../../lib/core/cost/cost.ts';
import type { Meter } from '../../lib/core/ports/index.ts';

/** The name of what a call's table is to the pipeline, such as `records`; undefined where it is of no interest. */
export type TableRole = (tableName: string) => string | undefined;

interface Called {
  readonly TableName?: string;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly { readonly Update?: { readonly TableName?: string } }[];
  readonly Statements?: readonly { readonly Statement?: string }[];
}

/** Counts logical calls by operation and table, as in `UpdateItem ledger`. */
export class Tally {
  readonly #roleOf: TableRole;
  #calls = new Map<string, number>();

  constructor(roleOf: TableRole = () => undefined) {
    this.#roleOf = roleOf;
  }

  /** What was counted since it was last taken, the most frequent first. */
  take(): ReadonlyMap<string, number> {
    const sorted = [...this.#calls].sort(([, a], [, b]) => b - a);
    this.#calls = new Map();
    return new Map(sorted);
  }

  watch(client: AnyClient): void {
    client.middlewareStack.add(this.#middleware(), { step: 'initialize', name: 'tally' });
  }

  #middleware(): InitializeMiddleware<object, object> {
    return (next, context) => (args) => {
      this.#count(context, args.input);
      return next(args);
    };
  }

  #count({ commandName = '' }: HandlerExecutionContext, input: Called): void {
    const table =
      input.TableName ??
      Object.keys(input.RequestItems ?? {})[0] ??
      input.TransactItems?.[0]?.Update?.TableName ??
      /"([^"]+)"/.exec(input.Statements?.[0]?.Statement ?? '')?.[1] ??
      '';
    const name = [commandName.replace(/Command$/, ''), this.#roleOf(table) ?? ''].join(' ').trim();
    this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1);
  }
}

/** A meter that keeps what the core took from it, so that nothing a unit accounted for is lost to the sum. */
export function summing(meter: Meter): Meter & { total(): Cost } {
  let sum = NO_COST;
  const take = () => {
    const taken = meter.take();
    sum = addCost(sum, taken);
    return taken;
  };
  return {
    take,
    total: () => {
      take();
      return sum;
    },
  };
}

/**
 * The meter of a contender that is not ours. Its calls do not tell the units of a record's own write, so they are given:
 * an update takes so many, and a transaction twice as many for each.
 */
export function meteredFor(client: DynamoDBClient, recordTable: string, unitsPerRecord: number): UnitMeter {
  const meter = createMeter();
  meter.price(client);
  const { middlewareStack }: AnyClient = client;
  const uncounted: InitializeMiddleware<object, object> = (next, context) => async (args) => {
    const output = await next(args);
    const { TableName, TransactItems = [] } = args.input as Called;
    const more = unitsPerRecord - 1;
    if (context.commandName === 'UpdateItemCommand' && TableName === recordTable) meter.addWriteUnits(more);
    if (context.commandName === 'TransactWriteItemsCommand') meter.addWriteUnits(2 * more * TransactItems.length);
    return output;
  };
  middlewareStack.add(uncounted, { step: 'initialize', name: 'uncounted' });
  return meter;
}
