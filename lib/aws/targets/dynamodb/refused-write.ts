import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { RecordResult, TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { classify } from '../../errors.ts';
import { absence, isThere, type Sent } from './applied.ts';
import { isHeld, recordGuard, satisfies } from './guard.ts';
import { keyNames, keyValues } from './keys.ts';
import type { Item } from './values.ts';

/** A failed condition with what the store returned of the record. */
export interface Refused extends Sent {
  readonly Item?: Item | undefined;
}

/**
 * What a failed condition means. A store that did not return the record is asked for it, strongly consistent: it may
 * be one that never returns it, and only a read can tell that from a record that is gone.
 */
export async function explainRefusal(
  client: DynamoDBClient,
  call: TargetCall,
  item: WorkItem,
  refused: Refused,
): Promise<RecordResult> {
  try {
    const record = isThere(refused.Item) ? refused.Item : await readRecord(client, call, item);
    return record === undefined ? absence(call, item, refused) : explanation(call, item, record);
  } catch (error) {
    return { kind: 'failed', key: item.key, failure: classify(error) };
  }
}

async function readRecord(client: DynamoDBClient, call: TargetCall, item: WorkItem): Promise<Item | undefined> {
  const { settings } = call;
  const Key = Object.fromEntries(keyValues(item.key, keyNames(settings)));
  const read = new GetItemCommand({ TableName: settings.recordTableName, Key, ConsistentRead: true });
  return (await client.send(read)).Item;
}

/**
 * Our own operation key in the record is proof that our expiry happened, whatever the record has become since
 * (pitfall P55); so it is looked for before anything else. A deletion leaves no such proof.
 */
function explanation(call: TargetCall, item: WorkItem, record: Item): RecordResult {
  const { key } = item;
  if (call.kind === 'expire' && carriesKeyOf(call, item, record)) {
    return { kind: 'outcome', key, outcome: 'expired', applied: 'earlier' };
  }
  if (isHeld(record, call.settings)) return { kind: 'outcome', key, outcome: 'held', applied: 'not' };
  const asPlanned = recordGuard(call, item).every(({ test }) => satisfies(record, test));
  if (!asPlanned) return { kind: 'outcome', key, outcome: 'state_changed', applied: 'not' };
  // Read after the refusal and changed between the two, or a store that reads the condition otherwise than we do.
  return { kind: 'failed', key, failure: { class: 'transient', error: 'ConditionUnexplained' } };
}

function carriesKeyOf({ settings }: TargetCall, { operationKey }: WorkItem, record: Item): boolean {
  return satisfies(record, { kind: 'is', attribute: settings.operationKeyAttribute, value: { S: operationKey } });
}
