import { isDeepStrictEqual } from 'node:util';
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Page } from '../../core/ports/ledger.ts';
import { cancellationCodes, portCall, portError, refusal } from '../errors.ts';
import { type Attributes, itemSize } from '../item-size.ts';
import { type Clause, Placeholders, type Update, updateClause } from './expression.ts';
import { LEDGER_KEY } from './schema.ts';

/** `item`: the item as it stands after the write, or the one that the condition met. */
export type Written =
  | { readonly kind: 'written'; readonly item: Attributes }
  | { readonly kind: 'refused'; readonly item: Attributes | undefined };

export interface ConditionalPut {
  readonly item: Attributes;
  readonly condition?: Clause;
}

export interface ConditionalUpdate {
  readonly key: Attributes;
  readonly update: Update;
  readonly condition: Clause;
}

export type TransactionPart = { readonly put: ConditionalPut } | { readonly update: ConditionalUpdate };

export interface ItemQuery {
  readonly partition: string;
  /** Of the sort key. */
  readonly range: (sortKey: string) => Clause;
  readonly order?: 'ascending' | 'descending';
  readonly consistency?: 'strong' | 'eventual';
  readonly limit?: number;
  /** Absent: all. They make the answer smaller and not the price. */
  readonly attributes?: readonly string[];
  /** Sort key after which the page begins. */
  readonly cursor?: string | undefined;
}

const ITEM_LIMIT_BYTES = 400 * 1024;

/** The ledger table: one call per method, failed conditions as values, everything else as PortErrors. */
export class LedgerTable {
  readonly #client: DynamoDBClient;
  readonly #name: string;

  constructor(client: DynamoDBClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  async get(operation: string, key: Attributes): Promise<Attributes | undefined> {
    const command = new GetItemCommand({ TableName: this.#name, Key: key, ConsistentRead: true });
    return (await portCall(operation, () => this.#client.send(command))).Item;
  }

  put(operation: string, { item, condition }: ConditionalPut): Promise<Written> {
    return conditional(operation, async () => {
      assertFits(operation, item);
      await this.#client.send(new PutItemCommand(this.#putFields(item, condition)));
      return item;
    });
  }

  update(operation: string, update: ConditionalUpdate): Promise<Written> {
    return conditional(operation, async () => {
      const command = new UpdateItemCommand({ ...this.#updateFields(update), ReturnValues: 'ALL_NEW' });
      return (await this.#client.send(command)).Attributes ?? {};
    });
  }

  /** Undefined where all parts were written, else what the condition of each part met (pitfall P52). */
  async transact(
    operation: string,
    parts: readonly TransactionPart[],
  ): Promise<readonly (Attributes | 'refused' | 'passed')[] | undefined> {
    const items = parts.map((part) =>
      'put' in part
        ? { Put: this.#putFields(part.put.item, part.put.condition) }
        : { Update: this.#updateFields(part.update) },
    );
    try {
      await this.#client.send(new TransactWriteItemsCommand({ TransactItems: items }));
      return undefined;
    } catch (error) {
      const codes = cancellationCodes(error);
      const refused = codes.includes('ConditionalCheckFailed');
      if (!refused || codes.some((code) => code !== 'None' && code !== 'ConditionalCheckFailed')) {
        throw portError(operation, error);
      }
      const { CancellationReasons = [] } = error as TransactionCanceledException;
      return CancellationReasons.map(({ Code, Item }) =>
        Code === 'ConditionalCheckFailed' ? (Item ?? 'refused') : 'passed',
      );
    }
  }

  async query(operation: string, query: ItemQuery): Promise<Page<Attributes>> {
    const at = new Placeholders();
    const partition = `${at.name(LEDGER_KEY.partitionKey)} = ${at.value({ S: query.partition })}`;
    const KeyConditionExpression = `${partition} AND ${query.range(LEDGER_KEY.sortKey)(at)}`;
    const projected = query.attributes?.map((attribute) => at.name(attribute)).join(', ');
    const command = new QueryCommand({
      TableName: this.#name,
      KeyConditionExpression,
      ...(projected === undefined ? {} : { ProjectionExpression: projected }),
      ...at.fields(),
      ScanIndexForward: query.order !== 'descending',
      ConsistentRead: query.consistency !== 'eventual',
      ...(query.limit === undefined ? {} : { Limit: query.limit }),
      ...(query.cursor === undefined ? {} : { ExclusiveStartKey: startKey(query.partition, query.cursor) }),
    });
    const { Items = [], LastEvaluatedKey } = await portCall(operation, () => this.#client.send(command));
    return { items: Items, next: LastEvaluatedKey?.[LEDGER_KEY.sortKey]?.S };
  }

  #putFields(item: Attributes, condition: Clause | undefined) {
    return { TableName: this.#name, Item: item, ...conditionFields(new Placeholders(), condition) };
  }

  #updateFields({ key, update, condition }: ConditionalUpdate) {
    const at = new Placeholders();
    const UpdateExpression = updateClause(update)(at);
    return { TableName: this.#name, Key: key, UpdateExpression, ...conditionFields(at, condition) };
  }
}

/** True where the item already says all of it: our own write, whose answer we did not get (pitfall P55). */
export function says(item: Attributes | undefined, all: Attributes): boolean {
  return item !== undefined && Object.entries(all).every(([name, value]) => isDeepStrictEqual(item[name], value));
}

function startKey(partition: string, sort: string): Attributes {
  return { [LEDGER_KEY.partitionKey]: { S: partition }, [LEDGER_KEY.sortKey]: { S: sort } };
}

function conditionFields(at: Placeholders, condition: Clause | undefined) {
  const fields =
    condition === undefined
      ? {}
      : { ConditionExpression: condition(at), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };
  return { ...fields, ...at.fields() };
}

async function conditional(operation: string, write: () => Promise<Attributes>): Promise<Written> {
  try {
    return { kind: 'written', item: await write() };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { kind: 'refused', item: error.Item };
    throw portError(operation, error);
  }
}

function assertFits(operation: string, item: Attributes): void {
  if (itemSize(item) > ITEM_LIMIT_BYTES) throw refusal(operation, 'ItemTooLarge');
}
