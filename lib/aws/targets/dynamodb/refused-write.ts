import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { RecordResult, TargetCall, WorkItem } from '../../../core/ports/target.ts';
import { classify, refusal } from '../../errors.ts';
import { isHeld, satisfies } from './guard.ts';
import { keyNames, keyValues } from './keys.ts';
import { type Item, tagged } from './values.ts';

/** Throws a permanent PortError for what these targets do not do. */
export function refuseOtherKinds(call: TargetCall): void {
  if (call.kind !== 'expire') throw refusal(`apply ${call.kind}`, 'NotSupported');
}

/**
 * What a failed condition means. A store that did not return the record is asked for it, strongly consistent: it may
 * be one that never returns it, and only a read can tell that from a record that is gone.
 */
export async function explainRefusal(
  client: DynamoDBClient,
  call: TargetCall,
  item: WorkItem,
  returned: Item | undefined,
): Promise<RecordResult> {
  try {
    return explanation(call, item, returned ?? (await readRecord(client, call, item)));
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
 * Our own operation key in the record is proof that our write happened, whatever the record has become since
 * (pitfall P55); so it is looked for before anything else.
 */
function explanation({ settings }: TargetCall, item: WorkItem, record: Item | undefined): RecordResult {
  const { key, operationKey } = item;
  if (record === undefined) return { kind: 'outcome', key, outcome: 'absent', applied: 'not' };
  if (satisfies(record, { kind: 'is', attribute: settings.operationKeyAttribute, value: { S: operationKey } })) {
    return { kind: 'outcome', key, outcome: 'expired', applied: 'earlier' };
  }
  if (isHeld(record, settings)) return { kind: 'outcome', key, outcome: 'held', applied: 'not' };
  const eligible = { kind: 'is', attribute: settings.stateAttribute, value: { S: settings.eligibleState } } as const;
  const asPlanned = satisfies(record, eligible) && tagged(record[settings.timestampAttribute]) === item.witness;
  if (!asPlanned) return { kind: 'outcome', key, outcome: 'state_changed', applied: 'not' };
  // Read after the refusal and changed between the two, or a store that reads the condition otherwise than we do.
  return { kind: 'failed', key, failure: { class: 'transient', error: 'ConditionUnexplained' } };
}
