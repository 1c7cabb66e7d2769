import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import type { RecordResult, Target, TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { classify } from '../../errors.ts';
import { expiryUpdate } from './expression.ts';
import { expiryGuard } from './guard.ts';
import { explainRefusal, refuseOtherKinds } from './refused-write.ts';
import { RECORDS_PER_CALL, type TargetOptions } from './target-options.ts';

const UPDATES_AT_ONCE = 8;

/** The target by UpdateItem: as many calls as records, some at a time, each with the SDK's own retries. */
export class DynamoUpdateTarget implements Target {
  readonly idempotency = 'idempotent';
  readonly recordsPerCall = RECORDS_PER_CALL;
  readonly #options: TargetOptions;

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  async apply(call: TargetCall): Promise<readonly RecordResult[]> {
    refuseOtherKinds(call);
    return pMap(call.items, (item) => this.#update(call, item), { concurrency: UPDATES_AT_ONCE });
  }

  async #update(call: TargetCall, item: WorkItem): Promise<RecordResult> {
    const { client, meter, guard = expiryGuard } = this.#options;
    try {
      // Without the new image: it would travel only to be priced, and the plan has a price for it.
      await client.send(new UpdateItemCommand({ ...expiryUpdate(call, item, guard), ReturnValues: 'NONE' }));
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return explainRefusal(client, call, item, error.Item);
      return { kind: 'failed', key: item.key, failure: classify(error) };
    }
    // The client's own meter has counted one unit, or on AWS all that was consumed.
    meter.addWriteUnits(item.writeUnits - 1, NOTHING_MORE);
    return { kind: 'outcome', key: item.key, outcome: 'expired', applied: 'now' };
  }
}

const NOTHING_MORE = [{ CapacityUnits: 0 }];
