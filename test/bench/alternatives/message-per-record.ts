import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { Alternative } from './base.ts';
import { type DueRecord, dueRecords } from './due-records.ts';
import { sendAll } from './send.ts';
import { updateOf } from './write.ts';

/** Lambda's default for a queue without a batching window. */
const MESSAGES_PER_EVENT = 10;

const CONTEXT = { getRemainingTimeInMillis: () => 60_000, functionName: 'consumer' } as Context;

type Result = { readonly result: 'changed' | 'skipped' };

/**
 * (a) What Powertools' documentation leads to: a producer sends one message per record, ten to a call; a consumer works
 * on the records of an event side by side, each made idempotent for itself, and answers which of them failed.
 */
export class MessagePerRecord extends Alternative {
  readonly #once = makeIdempotent((record: DueRecord) => this.#expire(record), {
    persistenceStore: new DynamoDBPersistenceLayer({
      tableName: this.world.idempotencyTable,
      awsSdkV3Client: this.dynamo,
    }),
    keyPrefix: 'consumer',
    config: new IdempotencyConfig({ eventKeyJmesPath: 'operationKey', lambdaContext: CONTEXT }),
  });

  async plan(): Promise<void> {
    for await (const page of dueRecords(this.dynamo, this.settings)) {
      await sendAll(
        this.sqs,
        page.map((record) => JSON.stringify(record)),
      );
    }
  }

  async work(): Promise<void> {
    const { queue, consumers } = this.world;
    const events = await queue.drain({ most: MESSAGES_PER_EVENT, consumers }, (event) => this.#handle(event));
    this.seen.invocations += events;
  }

  async #handle(event: SQSEvent): Promise<ReadonlySet<string>> {
    const record = async ({ body }: SQSRecord) => {
      const { result } = await this.#once(JSON.parse(body));
      this.seen[result] += 1;
    };
    const answer = await processPartialResponse(event, record, new BatchProcessor(EventType.SQS), {
      context: CONTEXT,
      throwOnFullBatchFailure: false,
    });
    this.seen.retries += answer.batchItemFailures.length;
    return new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  }

  async #expire(record: DueRecord): Promise<Result> {
    try {
      await this.dynamo.send(new UpdateItemCommand(updateOf(this.settings, record)));
      return { result: 'changed' };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return { result: 'skipped' };
      throw error;
    }
  }
}
