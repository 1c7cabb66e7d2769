import {
  type CancellationReason,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type UpdateItemInput,
} from '@aws-sdk/client-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import { Alternative } from './base.ts';
import { type DueRecord, dueRecords } from './due-records.ts';
import { sendAll } from './send.ts';
import { updateOf } from './write.ts';

/** DynamoDB's limit. */
const ACTIONS_PER_TRANSACTION = 100;
const MESSAGES_PER_EVENT = 5;

/**
 * (c) A message per hundred records, and a transaction per message. Where the transaction is cancelled because some
 * records are no longer as planned, it is made again without them; where for another reason, the message comes again. The condition makes it idempotent.
 */
export class TransactionPerBatch extends Alternative {
  async plan(): Promise<void> {
    let open: readonly DueRecord[] = [];
    for await (const page of dueRecords(this.dynamo, this.settings)) {
      const batches = chunksOf([...open, ...page]);
      open = batches.at(-1)?.length === ACTIONS_PER_TRANSACTION ? [] : (batches.pop() ?? []);
      await this.#send(batches);
    }
    await this.#send(open.length > 0 ? [open] : []);
  }

  async work(): Promise<void> {
    const { queue, consumers } = this.world;
    const events = await queue.drain({ most: MESSAGES_PER_EVENT, consumers }, (event) => this.#handle(event));
    this.seen.invocations += events;
  }

  #send(batches: readonly (readonly DueRecord[])[]): Promise<void> {
    return sendAll(
      this.sqs,
      batches.map((batch) => JSON.stringify(batch)),
    );
  }

  async #handle(event: SQSEvent): Promise<ReadonlySet<string>> {
    const failed = new Set<string>();
    for (const { messageId, body } of event.Records) {
      try {
        await this.#expire(JSON.parse(body));
      } catch {
        this.seen.retries += 1;
        failed.add(messageId);
      }
    }
    return failed;
  }

  async #expire(batch: readonly DueRecord[]): Promise<void> {
    let left = batch;
    while (left.length > 0) {
      const stale = await this.#transact(left);
      if (stale.size === 0) {
        this.seen.changed += left.length;
        return;
      }
      this.seen.retries += 1;
      this.seen.skipped += stale.size;
      left = left.filter((_, place) => !stale.has(place));
    }
  }

  /** The places of the records that cancelled it; none where all were changed. */
  async #transact(batch: readonly DueRecord[]): Promise<ReadonlySet<number>> {
    const TransactItems = batch.map((record) => ({ Update: actionOf(updateOf(this.settings, record)) }));
    try {
      await this.dynamo.send(new TransactWriteItemsCommand({ TransactItems }));
      return new Set();
    } catch (error) {
      const stale = error instanceof TransactionCanceledException ? placesOf(error.CancellationReasons ?? []) : [];
      if (stale.length === 0) throw error;
      return new Set(stale);
    }
  }
}

function actionOf(update: UpdateItemInput): NonNullable<TransactWriteItem['Update']> {
  const { TableName, Key, UpdateExpression, ConditionExpression } = update;
  const { ExpressionAttributeNames, ExpressionAttributeValues } = update;
  return { TableName, Key, UpdateExpression, ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues };
}

/** Empty where anything but a condition cancelled it. */
function placesOf(reasons: readonly CancellationReason[]): readonly number[] {
  const codes = reasons.map(({ Code = 'None' }) => Code);
  if (codes.some((code) => code !== 'None' && code !== 'ConditionalCheckFailed')) return [];
  return codes.flatMap((code, place) => (code === 'ConditionalCheckFailed' ? [place] : []));
}

function chunksOf(records: readonly DueRecord[]): DueRecord[][] {
  return Array.from({ length: Math.ceil(records.length / ACTIONS_PER_TRANSACTION) }, (_, n) =>
    records.slice(n * ACTIONS_PER_TRANSACTION, (n + 1) * ACTIONS_PER_TRANSACTION),
  );
}
