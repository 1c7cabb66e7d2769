import type { UpdateItemInput } from '@aws-sdk/client-dynamodb';
import { expiryUpdate } from '../../../lib/aws/targets/dynamodb/expression.ts';
import { recordGuard } from '../../../lib/aws/targets/dynamodb/guard.ts';
import type { Settings } from '../../../lib/core/policy/settings.ts';
import type { DueRecord } from './due-records.ts';

/** The conditional write of one record: the condition is ours, to the letter. */
export function updateOf(settings: Settings, record: DueRecord): UpdateItemInput {
  const item = { ...record, writeUnits: 1 };
  return expiryUpdate({ kind: 'expire', settings, now: Date.now(), items: [item] }, item, recordGuard);
}
