import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { isHeld } from '../../../lib/aws/targets/dynamodb/guard.ts';
import { keyNames, recordKey } from '../../../lib/aws/targets/dynamodb/keys.ts';
import { witnessOf } from '../../../lib/aws/targets/dynamodb/witness.ts';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { operationKey } from '../../../lib/core/identity/keys.ts';
import type { Settings } from '../../../lib/core/policy/settings.ts';
import type { WorkItem } from '../../../lib/core/ports/index.ts';
import { SCHEDULED_TIME } from '../settings.ts';

/** What an alternative must know to make the same conditional write. */
export type DueRecord = Pick<WorkItem, 'key' | 'witness' | 'operationKey'>;

/** The due records of a policy, page by page: a filtered scan. */
export async function* dueRecords(client: DynamoDBClient, settings: Settings): AsyncGenerator<readonly DueRecord[]> {
  const cutoff = SCHEDULED_TIME - settings.retentionDays * DAY_MILLIS;
  const { policyId, policyVersion } = settings;
  const input = {
    TableName: settings.recordTableName,
    FilterExpression: '#state = :active AND #at < :cutoff',
    ExpressionAttributeNames: { '#state': settings.stateAttribute, '#at': settings.timestampAttribute },
    ExpressionAttributeValues: {
      ':active': { S: settings.eligibleState },
      ':cutoff': { S: new Date(cutoff).toISOString() },
    },
  };
  for await (const { Items = [] } of paginateScan({ client }, input)) {
    const due = Items.filter((item) => !isHeld(item, settings));
    yield due.map((item) => {
      const key = recordKey(item, keyNames(settings));
      return {
        key,
        witness: witnessOf('expire', settings, item),
        operationKey: operationKey({ policyId, policyVersion, recordKey: key, cutoff, kind: 'expire' }),
      };
    });
  }
}
