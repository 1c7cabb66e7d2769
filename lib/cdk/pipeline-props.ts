import type { Duration } from 'aws-cdk-lib';
import type { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { Settings } from '../core/policy/settings.ts';

/**
 * One retention policy, as typed props. What is left out takes the default of the settings table. Texts may be tokens,
 * such as the name of a table in the same app; they are then checked at deployment or by the first run. Numbers and
 * durations must be known at synthesis.
 */
export interface LedgersweepPipelineProps {
  /** Name of the retention policy: letters, digits, `_` and `-`, at most 48. */
  readonly policyId: string;
  /** Change it whenever the meaning of the policy changes. */
  readonly policyVersion: string;
  /** Name of the DynamoDB table of the records, in the account and Region of the stack. */
  readonly recordTableName: string;
  /** Global secondary index for discovery. Left out: the table is scanned. */
  readonly recordIndexName?: string;
  /** Partition-key values of that index to query, none of them with a comma. Left out: the index is scanned. */
  readonly indexPartitionValues?: readonly string[];
  /** Default `id`. */
  readonly partitionKeyAttribute?: string;
  /** Left out: the table has no sort key. */
  readonly sortKeyAttribute?: string;
  /** Left out: one tenant for all records. */
  readonly tenantAttribute?: string;
  /** Attribute whose age decides whether a record is due. */
  readonly timestampAttribute: string;
  readonly timestampFormat: Settings['timestampFormat'];
  /** Default `status`. */
  readonly stateAttribute?: string;
  /** Default `ACTIVE`. */
  readonly eligibleState?: string;
  /** Default `EXPIRED`. */
  readonly expiredState?: string;
  /** Default `expiredAt`. */
  readonly expiredAtAttribute?: string;
  /** Default `sweepOperationKey`. */
  readonly operationKeyAttribute?: string;
  /** At most eight attributes of which any holds a record back. */
  readonly holdAttributes?: readonly string[];
  /** Default every day at 02:00 UTC. A cron expression must name its minute. */
  readonly schedule?: ScheduleExpression;
  /** Default `ENABLED`. */
  readonly scheduleState?: Settings['scheduleState'];
  /** Whole days from 1 to 36,500: a record is due when its timestamp is older than this at the scheduled time. */
  readonly retention: Duration;
  /** Default `report-only`: the roles hold no permission to write records. */
  readonly mode?: Settings['mode'];
  /** Records in one batch, 1 to 1,000. Default 100. */
  readonly batchSize?: number;
  /** Consumers at work at once, 2 to 1,000. Default 5. */
  readonly consumerConcurrency?: number;
  /** Longest time of one batch: 1, 15, 30, 60, 120 or 175 seconds. Default 30. */
  readonly batchTimeBudget?: Duration;
  /** Attempts at one batch before it is quarantined, 3 to 10. Default 5. */
  readonly maxAttempts?: number;
  /** Segments in which a table or index is scanned side by side, 1 to 64. Default 4. */
  readonly discoverySegments?: number;
}
