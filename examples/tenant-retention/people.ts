import { DeleteItemCommand, type DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { Records } from './shipment-path.ts';

/** What people do to records beside the shipment path; each act is noted in `records` when it is acknowledged. */
export class People {
  readonly #dynamo: DynamoDBClient;
  readonly #tableName: string;
  readonly #records: Records;

  constructor(dynamo: DynamoDBClient, tableName: string, records: Records) {
    this.#dynamo = dynamo;
    this.#tableName = tableName;
    this.#records = records;
  }

  /** The legal department does not ask in which state a record is. */
  async holdBack(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const item = { ...this.#records.get(id), legalHold: { S: 'litigation 2026-17' } };
      await this.#dynamo.send(
        new UpdateItemCommand({
          TableName: this.#tableName,
          Key: { id: { S: id } },
          UpdateExpression: 'SET legalHold = :hold',
          ConditionExpression: 'attribute_exists(id)',
          ExpressionAttributeValues: { ':hold': item.legalHold },
        }),
      );
      this.#records.set(id, item);
    }
  }

  /** A shipment is made anew under the key of an expired one. */
  async shipAgain(ids: readonly string[], now: EpochMillis): Promise<void> {
    for (const id of ids) {
      const item = {
        id: { S: id },
        tenant: this.#records.get(id)?.tenant ?? { S: '' },
        status: { S: 'ACTIVE' },
        checkpoint: { S: 'label printed' },
        lastUpdate: { N: String(Math.floor(now / 1_000)) },
      };
      await this.#dynamo.send(new PutItemCommand({ TableName: this.#tableName, Item: item }));
      this.#records.set(id, item);
    }
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await this.#dynamo.send(new DeleteItemCommand({ TableName: this.#tableName, Key: { id: { S: id } } }));
      this.#records.delete(id);
    }
  }
}
