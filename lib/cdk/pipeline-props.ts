import type { Duration } from 'aws-cdk-lib';
import type { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { Settings } from '../core/policy/settings.ts';

/**
 * One retention policy, as typed props. What is left out takes the default of the settings table. Texts may be tokens,
 * such as the name of a table in the same app; they are then checked at deployment or by the first run. Numbers,
 * durations and dates must be known at synthesis. A limit is left out by the word `none`, never by 0.
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
  /** Default `cron(0 2 * * ? *)` in `UTC`. A cron expression must name its minute; a rate needs `scheduleStart`. */
  readonly schedule?: ScheduleExpression;
  /** First time of a rate, in whole seconds and not in the past: without one it would fire at deployment. */
  readonly scheduleStart?: Date;
  /** Default `ENABLED`. */
  readonly scheduleState?: Settings['scheduleState'];
  /** Whole days from 1 to 36,500: a record is due when its timestamp is older than this at the scheduled time. */
  readonly retention: Duration;
  /** Only records that became due so many whole days before the scheduled time. Default `none`: all due records. */
  readonly window?: Duration | 'none';
  /** Whole hours after which a run that is not closed is overdue, at most 30 days. Default 24. */
  readonly runDeadline?: Duration;
  /** Default `report-only`: the roles hold no permission to write records. */
  readonly mode?: Settings['mode'];
  /** Default `expire`. `delete` removes what an earlier run expired at least `grace` ago, and needs `allowDelete`. */
  readonly action?: Settings['action'];
  /** Default `no`: no role holds the permission to delete records. */
  readonly allowDelete?: Settings['allowDelete'];
  /** Whole days between the expiry of a record and its deletion, 1 to 3,650. Default 30. */
  readonly grace?: Duration;
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
  /** A run plans at most so many records; the next run finds the rest. Default `none`. */
  readonly recordsPerRun?: number | 'none';
  /** A plan of more records than this is refused. Default 100000. */
  readonly capRecords?: number | 'none';
  /** A plan for a larger share of the records in the eligible state, in percent, is refused. Default 50. */
  readonly capSharePercent?: number | 'none';
  /** A plan of more than this many times the median of earlier complete runs is refused. Default 10. */
  readonly capDeviationFactor?: number | 'none';
  /** Rate of all consumers together. Default `none`. */
  readonly recordsPerSecond?: number | 'none';
  /** Whole hours after which a batch that could not be completed is quarantined, 1 to 336. Default 72. */
  readonly unitAge?: Duration;
  /** Generations that a unit may have, the first publish included, 1 to 100. Default 3. */
  readonly redriveGenerations?: number;
  /** Share of the successful records, in percent, that get a log line of their own, 1 to 100. Default `none`. */
  readonly successSamplePercent?: number | 'none';
  /** Whole days that plans, batches and reports of a run are kept, 90 to 3,650. Default 400. */
  readonly ledgerRetention?: Duration;
  /** How long CloudWatch keeps the logs: 7, 14, 30, 60, 90, 180, 365 or 731 days. Default 90. */
  readonly logRetention?: Duration;
  /** How long terminal events are kept: 90, 180, 365, 731, 1096, 1827 or 3653 days. Default 731. */
  readonly terminalLogRetention?: Duration;
}
