import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { Alternative } from './base.ts';
import { type DueRecord, dueRecords } from './due-records.ts';
import { updateOf } from './write.ts';

/**
 * (b) A scheduled function without a queue: it reads a page and changes its records one after the other. What it did not
 * come to is due again at its next start, because it looks for the state.
 */
export class SequentialLoop extends Alternative {
  async plan(): Promise<void> {}

  async work(): Promise<void> {
    for await (const page of dueRecords(this.dynamo, this.settings)) {
      for (const record of page) this.seen[await this.#expire(record)] += 1;
    }
  }

  async #expire(record: DueRecord): Promise<'changed' | 'skipped'> {
    try {
      await this.dynamo.send(new UpdateItemCommand(updateOf(this.settings, record)));
      return 'changed';
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return 'skipped';
      throw error;
    }
  }
}
