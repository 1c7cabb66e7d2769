import {
  BatchExecuteStatementCommand,
  type BatchExecuteStatementCommandOutput,
  type BatchStatementResponse,
} from '@aws-sdk/client-dynamodb';
import type { RecordResult, Target, TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { classOfCode, portCall } from '../../errors.ts';
import { itemSize } from '../../item-size.ts';
import { explainSuccess, isThere } from './applied.ts';
import { recordGuard } from './guard.ts';
import { explainRefusal } from './refused-write.ts';
import { recordStatement } from './statement.ts';
import { RECORDS_PER_CALL, type TargetOptions } from './target-options.ts';
import { unitsOfBytes } from './write-units.ts';

/** The target by BatchExecuteStatement. Errors come per statement inside HTTP 200, and the SDK retries none of them. */
export class DynamoStatementTarget implements Target {
  readonly idempotency = 'idempotent';
  readonly recordsPerCall = RECORDS_PER_CALL;
  readonly #options: TargetOptions;

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  async apply(call: TargetCall): Promise<readonly RecordResult[]> {
    const answer = await this.#send(call);
    const responses = answer.Responses ?? [];
    // An answer of another length cannot be told apart by position. Asking again is safe: our key is in the record, or
    // a deletion finds nothing.
    if (responses.length !== call.items.length) return call.items.map(unanswered);
    const units = call.items.map((item, n) => unitsOf(call, item, responses[n]));
    this.#options.meter.addWriteUnits(sum(units), answer.ConsumedCapacity);
    return Promise.all(call.items.map((item, n) => this.#result(call, item, responses[n], answer)));
  }

  async #send(call: TargetCall): Promise<BatchExecuteStatementCommandOutput> {
    const { client, guard = recordGuard } = this.#options;
    const Statements = call.items.map((item) => recordStatement(call, item, guard));
    return portCall('BatchExecuteStatement', () =>
      client.send(new BatchExecuteStatementCommand({ Statements, ReturnConsumedCapacity: 'TOTAL' })),
    );
  }

  async #result(
    call: TargetCall,
    item: WorkItem,
    response: BatchStatementResponse | undefined,
    { $metadata = {} }: Partial<BatchExecuteStatementCommandOutput>,
  ): Promise<RecordResult> {
    if (response === undefined) return unanswered(item);
    const { Error: error, Item: old } = response;
    if (error === undefined) return explainSuccess(call, item, old, { $metadata });
    if (isRefusal(response)) return explainRefusal(this.#options.client, call, item, { Item: error.Item, $metadata });
    const code = error.Code ?? 'UnknownError';
    const { requestId } = $metadata;
    const failure = { class: classOfCode(code), error: code, ...(requestId === undefined ? {} : { requestId }) };
    return { kind: 'failed', key: item.key, failure };
  }
}

function isRefusal({ Error: error }: BatchStatementResponse): boolean {
  return error?.Code === 'ConditionalCheckFailed';
}

function unanswered({ key }: WorkItem): RecordResult {
  return { kind: 'failed', key, failure: { class: 'transient', error: 'NoAnswer' } };
}

/**
 * A refused write is charged by the record that refused it, and one that found no record as the smallest; one that
 * failed otherwise is not charged.
 */
function unitsOf({ kind }: TargetCall, item: WorkItem, response: BatchStatementResponse | undefined): number {
  if (response?.Error === undefined) {
    return kind === 'delete' && !isThere(response?.Item) ? unitsOfBytes(0) : item.writeUnits;
  }
  return isRefusal(response) ? unitsOfBytes(itemSize(response.Error.Item ?? {})) : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
