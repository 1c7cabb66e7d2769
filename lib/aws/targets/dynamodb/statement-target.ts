import {
  BatchExecuteStatementCommand,
  type BatchExecuteStatementCommandOutput,
  type BatchStatementResponse,
} from '@aws-sdk/client-dynamodb';
import type { RecordResult, Target, TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { classOfCode, portCall } from '../../errors.ts';
import { itemSize } from '../../item-size.ts';
import { expiryGuard } from './guard.ts';
import { explainRefusal, refuseOtherKinds } from './refused-write.ts';
import { expiryStatement } from './statement.ts';
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
    refuseOtherKinds(call);
    const answer = await this.#send(call);
    const responses = answer.Responses ?? [];
    // An answer of another length cannot be told apart by position; our key in the record makes asking again safe.
    if (responses.length !== call.items.length) return call.items.map(unanswered);
    const units = call.items.map((item, n) => unitsOf(item, responses[n]));
    this.#options.meter.addWriteUnits(sum(units), answer.ConsumedCapacity);
    return Promise.all(call.items.map((item, n) => this.#result(call, item, responses[n])));
  }

  #send(call: TargetCall): Promise<BatchExecuteStatementCommandOutput> {
    const { client, guard = expiryGuard } = this.#options;
    return portCall('BatchExecuteStatement', () =>
      client.send(
        new BatchExecuteStatementCommand({
          Statements: call.items.map((item) => expiryStatement(call, item, guard)),
          ReturnConsumedCapacity: 'TOTAL',
        }),
      ),
    );
  }

  async #result(call: TargetCall, item: WorkItem, response: BatchStatementResponse | undefined): Promise<RecordResult> {
    if (response === undefined) return unanswered(item);
    const { Error: error } = response;
    if (error === undefined) return { kind: 'outcome', key: item.key, outcome: 'expired', applied: 'now' };
    if (isRefusal(response)) return explainRefusal(this.#options.client, call, item, error.Item);
    const code = error.Code ?? 'UnknownError';
    return { kind: 'failed', key: item.key, failure: { class: classOfCode(code), error: code } };
  }
}

function isRefusal({ Error: error }: BatchStatementResponse): boolean {
  return error?.Code === 'ConditionalCheckFailed';
}

function unanswered({ key }: WorkItem): RecordResult {
  return { kind: 'failed', key, failure: { class: 'transient', error: 'NoAnswer' } };
}

/** A refused write is charged by the record that refused it; one that failed otherwise is not charged. */
function unitsOf(item: WorkItem, response: BatchStatementResponse | undefined): number {
  if (response?.Error === undefined) return item.writeUnits;
  return isRefusal(response) ? unitsOfBytes(itemSize(response.Error.Item ?? {})) : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
