import { type AttributeValue, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { classify } from '../../aws/errors.ts';
import { tenantOf } from '../../aws/targets/dynamodb/discovered.ts';
import { Placeholders } from '../../aws/targets/dynamodb/expression.ts';
import { holdAttributes, satisfies } from '../../aws/targets/dynamodb/guard.ts';
import { keyNames, keyValues } from '../../aws/targets/dynamodb/keys.ts';
import { soughtBy } from '../../aws/targets/dynamodb/transition.ts';
import { type Item, storedValue } from '../../aws/targets/dynamodb/values.ts';
import { witnessOf } from '../../aws/targets/dynamodb/witness.ts';
import type { Settings } from '../../core/policy/settings.ts';
import { readTimestamp } from '../../core/policy/timestamp.ts';
import { failureOf } from '../../core/ports/failure.ts';
import type { RecordLookup, RecordNow, RecordState } from '../../core/read/record-now.ts';

/** Reads records of a DynamoDB table with the credentials of whoever asks: no function of ours may. */
export class DynamoRecordLookup implements RecordLookup {
  readonly #client: DynamoDBClient;

  constructor(client: DynamoDBClient) {
    this.#client = client;
  }

  async lookUp(settings: Settings, key: string): Promise<RecordNow> {
    const values = keyOf(settings, key);
    if (values === undefined) return { kind: 'not-a-key' };
    try {
      const item = await this.#read(settings, values);
      return item === undefined ? { kind: 'absent' } : { kind: 'present', record: stateOf(settings, item) };
    } catch (error) {
      const { error: code } = classify(error);
      // A string where the table has a number, or the other way round.
      return code === 'ValidationException' ? { kind: 'not-a-key' } : { kind: 'unreachable', error: code };
    }
  }

  /** Asks for what the policy names only, so that nothing else of the record leaves the table. */
  async #read(settings: Settings, key: Record<string, AttributeValue>): Promise<Item | undefined> {
    const { stateAttribute, tenantAttribute, operationKeyAttribute } = settings;
    const { timestampAttribute } = soughtBy(settings.action, settings);
    const wanted = [stateAttribute, timestampAttribute, tenantAttribute, operationKeyAttribute];
    const placeholders = new Placeholders();
    const names = [...Object.keys(key), ...wanted, ...holdAttributes(settings)].filter((name) => name !== '');
    const { Item } = await this.#client.send(
      new GetItemCommand({
        TableName: settings.recordTableName,
        Key: key,
        ConsistentRead: true,
        ProjectionExpression: [...new Set(names)].map((name) => placeholders.name(name)).join(', '),
        ExpressionAttributeNames: placeholders.names,
      }),
    );
    return Item;
  }
}

function keyOf(settings: Settings, key: string): Record<string, AttributeValue> | undefined {
  try {
    return Object.fromEntries(keyValues(key, keyNames(settings)));
  } catch (error) {
    if (failureOf(error).error === 'MalformedRecordKey') return undefined;
    throw error;
  }
}

function stateOf(settings: Settings, item: Item): RecordState {
  const { timestampAttribute } = soughtBy(settings.action, settings);
  return {
    state: item[settings.stateAttribute]?.S ?? null,
    timestamp: readTimestamp(storedValue(item[timestampAttribute]), settings.timestampFormat),
    witness: witnessOf(settings.action, settings, item),
    tenant: tenantOf(item, settings),
    heldBy: holdAttributes(settings).filter((attribute) => !satisfies(item, { kind: 'no-hold', attribute })),
    operationKey: item[settings.operationKeyAttribute]?.S ?? null,
  };
}
