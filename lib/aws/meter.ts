import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Client, HandlerExecutionContext, InitializeMiddleware } from '@smithy/types';
import { addCost, type Cost, NO_COST } from '../core/cost/cost.ts';
import type { Meter } from '../core/ports/services.ts';
import { type PricedCall, priceCall, type Store, totalUnits } from './meter/prices.ts';
import { withMeteredFields } from './meter/request-fields.ts';

/** A client of any service, as far as middleware is concerned. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's own clients only fit their own input and output types
export type AnyClient = Pick<Client<any, any, any>, 'middlewareStack'>;

export interface UnitMeter extends Meter {
  /** Counts the client's logical calls: an SDK retry of the same call is not another one. */
  count(client: AnyClient): void;
  /** Counts calls and prices request units. BatchExecuteStatement is counted only: its caller prices it. */
  price(client: DynamoDBClient): void;
  /** Adds write units that a caller knows better; what the service reported wins where the endpoint is AWS. */
  addWriteUnits(estimated: number, reported?: readonly ConsumedCapacity[]): void;
}

/** A meter at zero. */
export function createMeter(): UnitMeter {
  let total = NO_COST;
  let store: Store = 'elsewhere';
  const add = (cost: Partial<Cost>) => {
    total = addCost(total, { ...NO_COST, ...cost });
  };
  const settle = (call: PricedCall, context: HandlerExecutionContext) => {
    store = storeOf(context);
    add(priceCall(call, store));
  };
  return {
    take() {
      const taken = total;
      total = NO_COST;
      return taken;
    },
    count: (client) => client.middlewareStack.add(counting(add), { step: 'initialize', name: 'meterCalls' }),
    price(client) {
      const { middlewareStack }: AnyClient = client;
      middlewareStack.add(counting(add), { step: 'initialize', name: 'meterCalls' });
      middlewareStack.add(pricing(settle), { step: 'initialize', name: 'meterUnits' });
    },
    addWriteUnits(estimated, reported = []) {
      add({ writeUnits: store === 'aws' && reported.length > 0 ? totalUnits(reported) : estimated });
    },
  };
}

function storeOf(context: HandlerExecutionContext): Store {
  const host = context.endpointV2?.url.hostname ?? '';
  return /\.amazonaws\.com(\.cn)?$/.test(host) ? 'aws' : 'elsewhere';
}

function counting(add: (cost: Partial<Cost>) => void): InitializeMiddleware<object, object> {
  return (next) => (args) => {
    add({ calls: 1 });
    return next(args);
  };
}

function pricing(
  settle: (call: PricedCall, context: HandlerExecutionContext) => void,
): InitializeMiddleware<object, object> {
  return (next, context) => async (args) => {
    const command = context.commandName ?? '';
    const input = withMeteredFields(command, args.input);
    try {
      const result = await next({ ...args, input });
      settle({ command, input, output: result.output }, context);
      return result;
    } catch (error) {
      settle({ command, input, error }, context);
      throw error;
    }
  };
}
