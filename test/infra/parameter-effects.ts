import type { SettingKey } from '../../lib/core/policy/settings.ts';

/** Where a parameter is read, and the tests that would fail if it had no effect. */
export interface Effect {
  /** A source file that reads the setting, besides those that only hand all settings on. */
  readonly readBy: string;
  /** File of a test and its title. */
  readonly shownBy: readonly (readonly [file: string, title: string])[];
}

const TEMPLATE = 'test/infra/effects.test.ts';
const CORE = 'test/unit/core/setting-effects.test.ts';
const WRITE = 'test/unit/targets/setting-effects.test.ts';
const GUARD = 'lib/aws/targets/dynamodb/guard.ts';
const KEYS = 'lib/aws/targets/dynamodb/keys.ts';
const SCHEDULES = 'lib/cdk/schedules.ts';
const RESOURCES = 'lib/cdk/pipeline-resources.ts';
const CAPS = 'lib/core/plan/caps.ts';
const CAP_TESTS = 'test/unit/core/caps.test.ts';
const LIMIT_TESTS = 'test/unit/core/limits.test.ts';
const DELETION_TESTS = 'test/unit/core/deletion.test.ts';

const NAMED = 'PolicyId and PolicyVersion: the name of the run, and the key that every record carries';
const STATES = 'EligibleState and ExpiredState: which records may expire, and what they become';
const WRITTEN = 'StateAttribute, ExpiredAtAttribute and OperationKeyAttribute: where an expiry is written';
const KEYED = 'PartitionKeyAttribute and SortKeyAttribute: by which key the record is found';
const RIGHTS = 'Mode %s and AllowDelete %s: what the consumer may do to records';
const PACED = 'RecordsPerSecond: a batch takes the time that its records are worth, and one that has none left waits';

export const EFFECTS: { readonly [K in SettingKey]: Effect } = {
  policyId: { readBy: 'lib/core/plan/new-run.ts', shownBy: [[CORE, NAMED]] },
  policyVersion: {
    readBy: 'lib/core/plan/new-run.ts',
    shownBy: [
      [CORE, NAMED],
      ['test/unit/core/preflight.test.ts', 'a new version may mean it, and the old one back as it was goes on'],
    ],
  },
  recordTableName: {
    readBy: 'lib/aws/targets/dynamodb/source.ts',
    shownBy: [
      [TEMPLATE, 'RecordTableName: the one table that may be read and written'],
      [WRITE, 'RecordTableName: the table'],
      [
        'test/contract/source-dynamo-cases.ts',
        'P65: refuses a table that is not there, and an index that it does not have, by name',
      ],
    ],
  },
  recordIndexName: {
    readBy: 'lib/aws/targets/dynamodb/source.ts',
    shownBy: [
      [TEMPLATE, 'RecordIndexName: the index that the dispatcher may read'],
      ['test/contract/source-dynamo-cases.ts', 'an index is scanned, and does not see what it leaves out'],
    ],
  },
  indexPartitionValues: {
    readBy: 'lib/aws/targets/dynamodb/partition-values.ts',
    shownBy: [
      [
        'test/contract/source-dynamo-cases.ts',
        'listed partitions are queried once each, and other states in them are left out',
      ],
    ],
  },
  partitionKeyAttribute: { readBy: KEYS, shownBy: [[WRITE, KEYED]] },
  sortKeyAttribute: { readBy: KEYS, shownBy: [[WRITE, KEYED]] },
  tenantAttribute: {
    readBy: 'lib/aws/targets/dynamodb/discovered.ts',
    shownBy: [
      [CORE, 'TenantAttribute: batches never cross its values; without one all records are of one tenant'],
      [
        'test/contract/source-cases.ts',
        'the tenant is the attribute as text; a record without a readable one has none',
      ],
    ],
  },
  timestampAttribute: { readBy: GUARD, shownBy: [[CORE, 'TimestampAttribute: whose age decides']] },
  timestampFormat: {
    readBy: GUARD,
    shownBy: [
      ['test/contract/source-cases.ts', 'P14: seconds are not read as milliseconds, nor the reverse'],
      [WRITE, 'EligibleState, ExpiredState and TimestampFormat: the values written and asked for'],
    ],
  },
  stateAttribute: { readBy: GUARD, shownBy: [[CORE, WRITTEN]] },
  eligibleState: { readBy: GUARD, shownBy: [[CORE, STATES]] },
  expiredState: { readBy: GUARD, shownBy: [[CORE, STATES]] },
  expiredAtAttribute: { readBy: GUARD, shownBy: [[CORE, WRITTEN]] },
  operationKeyAttribute: { readBy: GUARD, shownBy: [[CORE, WRITTEN]] },
  holdAttributes: {
    readBy: GUARD,
    shownBy: [
      [CORE, 'HoldAttributes: what holds a record back'],
      ['test/contract/target-cases.ts', 'P57: any one of several hold attributes holds a record'],
    ],
  },
  scheduleExpression: {
    readBy: SCHEDULES,
    shownBy: [[TEMPLATE, 'ScheduleExpression: when the scheduler starts a run']],
  },
  scheduleTimeZone: {
    readBy: SCHEDULES,
    shownBy: [[TEMPLATE, 'ScheduleTimeZone: the zone in which the expression is read']],
  },
  scheduleStart: {
    readBy: SCHEDULES,
    shownBy: [[TEMPLATE, 'ScheduleStart: the first time of a rate, which so does not fire at deployment']],
  },
  scheduleState: {
    readBy: SCHEDULES,
    shownBy: [[TEMPLATE, 'ScheduleState: whether new runs start; the reconciler goes on']],
  },
  retentionDays: {
    readBy: 'lib/core/plan/new-run.ts',
    shownBy: [[CORE, 'RetentionDays: the cutoff, and with it which records are due']],
  },
  windowDays: {
    readBy: 'lib/core/plan/discover.ts',
    shownBy: [
      [
        LIMIT_TESTS,
        'takes records that became due at most so many days before the scheduled time, the last instant included',
      ],
    ],
  },
  runDeadlineHours: {
    readBy: 'lib/core/reconcile/overdue.ts',
    shownBy: [
      ['test/unit/cli/runs.test.ts', 'lists a refused run with its reasons, and says of a run that it is overdue'],
    ],
  },
  mode: {
    readBy: RESOURCES,
    shownBy: [
      [TEMPLATE, RIGHTS],
      [
        'test/unit/core/dispatch.test.ts',
        'P57: report-only counts what enforcing would, writes no record and publishes no message',
      ],
    ],
  },
  action: {
    readBy: 'lib/core/plan/new-run.ts',
    shownBy: [
      [TEMPLATE, 'Action: no right by itself'],
      [DELETION_TESTS, 'removes what an earlier run expired once the grace is over, and the proof holds'],
    ],
  },
  allowDelete: { readBy: RESOURCES, shownBy: [[TEMPLATE, RIGHTS]] },
  graceDays: {
    readBy: 'lib/core/plan/new-run.ts',
    shownBy: [[DELETION_TESTS, 'P26: an expiry exactly at the cutoff is kept, one a millisecond older goes']],
  },
  batchSize: {
    readBy: 'lib/core/plan/discover.ts',
    shownBy: [[CORE, 'BatchSize %i: how many records one message is for']],
  },
  consumerConcurrency: {
    readBy: RESOURCES,
    shownBy: [[TEMPLATE, 'ConsumerConcurrency: how many consumers the queue starts']],
  },
  batchTimeBudgetSeconds: {
    readBy: RESOURCES,
    shownBy: [[TEMPLATE, 'BatchTimeBudgetSeconds %s: the timeouts of consumer and queue']],
  },
  maxAttempts: {
    readBy: 'lib/core/consume/judge.ts',
    shownBy: [[CORE, 'MaxAttempts %i: how often a batch is tried before a person is asked']],
  },
  discoverySegments: {
    readBy: 'lib/core/plan/discover.ts',
    shownBy: [[CORE, 'DiscoverySegments %i: how many parts of the table are read side by side']],
  },
  recordsPerRun: {
    readBy: 'lib/core/plan/discover.ts',
    shownBy: [
      [LIMIT_TESTS, 'a backlog of three times the limit drains over three runs, each complete, the rest counted'],
    ],
  },
  capRecords: {
    readBy: CAPS,
    shownBy: [[CAP_TESTS, 'takes a plan of just so many and refuses one more, with the numbers and the parameter']],
  },
  capSharePercent: {
    readBy: CAPS,
    shownBy: [[CAP_TESTS, 'takes a plan of just that share and refuses one record more']],
  },
  capDeviationFactor: {
    readBy: CAPS,
    shownBy: [[CAP_TESTS, 'takes just so many times the median and refuses one record more']],
  },
  recordsPerSecond: { readBy: 'lib/core/consume/admit.ts', shownBy: [[CORE, PACED]] },
  unitAgeHours: {
    readBy: 'lib/core/control/age.ts',
    shownBy: [[CORE, 'UnitAgeHours %i: a batch that is older is not worked on, one of just that age is']],
  },
  ledgerRetentionDays: {
    readBy: 'lib/aws/environment.ts',
    shownBy: [
      [
        'test/contract/ledger-dynamo-cases.ts',
        'lets what is written go after the retention, in whole seconds from the write',
      ],
    ],
  },
  redriveGenerations: {
    readBy: 'lib/core/redrive/selection.ts',
    shownBy: [[CORE, 'RedriveGenerations: how often a unit may come back before it must be asked for by name']],
  },
  successSamplePercent: {
    readBy: 'lib/core/consume/attempt.ts',
    shownBy: [[CORE, 'SuccessSamplePercent: how many of the changed records get a line of their own']],
  },
  terminalLogRetentionDays: {
    readBy: RESOURCES,
    shownBy: [[TEMPLATE, 'TerminalLogRetentionDays %s: how long terminal events are kept']],
  },
  logRetentionDays: {
    readBy: RESOURCES,
    shownBy: [[TEMPLATE, 'LogRetentionDays %s: how long every log is kept']],
  },
};
