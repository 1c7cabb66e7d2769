import type { RecordResult, TargetCall, WorkItem } from '../../../core/ports/target.ts';
import type { Item } from './values.ts';

/** Says how often the SDK sent a request: it sends again by itself where an answer was lost on the way. */
export interface Sent {
  readonly $metadata?: { readonly attempts?: number | undefined };
}

/** What a write that the store took means; `old` is the record that a deletion returned, if it found one. */
export function explainSuccess(call: TargetCall, item: WorkItem, old: Item | undefined, sent: Sent): RecordResult {
  if (call.kind !== 'delete') return { kind: 'outcome', key: item.key, outcome: 'expired', applied: 'now' };
  if (!isThere(old)) return absence(call, item, sent);
  return { kind: 'outcome', key: item.key, outcome: 'deleted', applied: 'now' };
}

/** No record of that key: of a deletion that was sent more than once, an earlier sending may have been the reason. */
export function absence(call: TargetCall, { key }: WorkItem, { $metadata }: Sent): RecordResult {
  const perhapsOurs = call.kind === 'delete' && ($metadata?.attempts ?? 1) > 1;
  return { kind: 'outcome', key, outcome: perhapsOurs ? 'gone' : 'absent', applied: 'not' };
}

/** Stores return no item, or one without attributes, where none was. */
export function isThere(item: Item | undefined): item is Item {
  return item !== undefined && Object.keys(item).length > 0;
}
