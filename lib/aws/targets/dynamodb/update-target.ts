import { ConditionalCheckFailedException, DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { RecordResult, Target, TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { classify } from '../../errors.ts';
import { itemSize } from '../../item-size.ts';
import { explainSuccess, isThere, type Sent } from './applied.ts';
import { deletion, expiryUpdate } from './expression.ts';
import { recordGuard } from './guard.ts';
import { explainRefusal } from './refused-write.ts';
import { RECORDS_PER_CALL, type TargetOptions } from './target-options.ts';
import { transitionOf } from './transition.ts';
import type { Item } from './values.ts';
import { unitsOfBytes } from './write-units.ts';

/** What a write answered; a deletion returns the record that was there. */
interface Written extends Sent {
  readonly Attributes?: Item | undefined;
}

/**
 * The target by UpdateItem and DeleteItem: as many calls as records, all begun at once, because what was permitted before
 * them is permitted for no longer than a moment.
 */
export class DynamoUpdateTarget implements Target {
  readonly idempotency = 'idempotent';
  readonly recordsPerCall = RECORDS_PER_CALL;
  readonly #options: TargetOptions;

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  async apply(call: TargetCall): Promise<readonly RecordResult[]> {
    transitionOf(call.kind);
    return Promise.all(call.items.map((item) => this.#result(call, item)));
  }

  async #result(call: TargetCall, item: WorkItem): Promise<RecordResult> {
    const { client, meter } = this.#options;
    let written: Written;
    try {
      written = await this.#write(call, item);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return explainRefusal(client, call, item, error);
      return { kind: 'failed', key: item.key, failure: classify(error) };
    }
    meter.addWriteUnits(unitsUncounted(call, item, written), NOTHING_MORE);
    return explainSuccess(call, item, written.Attributes, written);
  }

  #write(call: TargetCall, item: WorkItem): Promise<Written> {
    const { client, guard = recordGuard } = this.#options;
    return transitionOf(call.kind) === 'delete'
      ? client.send(new DeleteItemCommand(deletion(call, item, guard)))
      : client.send(new UpdateItemCommand(expiryUpdate(call, item, guard)));
  }
}

/** The client's own meter has counted one unit, or the size of the record that was returned; on AWS all of it. */
function unitsUncounted({ kind }: TargetCall, item: WorkItem, { Attributes: old }: Written): number {
  if (kind !== 'delete') return item.writeUnits - 1;
  return isThere(old) ? Math.max(0, item.writeUnits - unitsOfBytes(itemSize(old))) : 0;
}

const NOTHING_MORE = [{ CapacityUnits: 0 }];
