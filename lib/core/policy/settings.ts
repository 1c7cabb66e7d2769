/**
 * The settings table. CloudFormation parameters, construct props and the validation at run time are all made from
 * it, so a setting means the same in each place. Values travel as text (parameters and environment variables are
 * text) and are read by one strict parser: see `parse.ts`.
 */

/** Where a setting stands in the console's parameter form. */
export type SettingGroup = 'What' | 'When' | 'How' | 'Limits' | 'Operations';

interface SettingBase {
  /** CloudFormation parameter name; the construct prop is the same word with a small first letter. */
  readonly parameter: string;
  readonly group: SettingGroup;
  readonly label: string;
  readonly description: string;
  /** Text of the default; a setting without one must be given. */
  readonly default?: string;
  /** Said when a value does not fit; completes "<parameter> must be ...". */
  readonly constraint: string;
  /** True where a change alters which records are due or what happens to them: part of the policy digest. */
  readonly inPolicyDigest: boolean;
}

export interface TextSetting extends SettingBase {
  readonly kind: 'text';
  /** Anchored by the parser and by CloudFormation alike. */
  readonly pattern: string;
  readonly maxLength: number;
}

export interface IntegerSetting extends SettingBase {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
}

/** A limit that may be left out, but only by saying so: blank, 0 and -1 are not the word `none` (pitfall P25). */
export interface LimitSetting extends SettingBase {
  readonly kind: 'limit';
  readonly min: number;
  readonly max: number;
}

/** The word by which a limit is left out. */
export const NO_LIMIT = 'none';

export interface ChoiceSetting extends SettingBase {
  readonly kind: 'choice';
  readonly choices: readonly string[];
}

export type SettingDefinition = TextSetting | IntegerSetting | LimitSetting | ChoiceSetting;

// PartiQL has no placeholder for a name, so a name may hold nothing that could end its quotes (pitfall P74).
const NAME = '[A-Za-z0-9_.-]{1,255}';

export const SETTINGS = {
  policyId: {
    kind: 'text',
    parameter: 'PolicyId',
    group: 'What',
    label: 'Policy id',
    description: 'Name of the retention policy this stack carries out. One stack is one policy.',
    pattern: '[A-Za-z0-9][A-Za-z0-9_-]{0,47}',
    maxLength: 48,
    constraint: '1 to 48 letters, digits, "_" or "-", starting with a letter or digit',
    inPolicyDigest: true,
  },
  policyVersion: {
    kind: 'text',
    parameter: 'PolicyVersion',
    group: 'What',
    label: 'Policy version',
    description: 'Change it whenever the meaning of the policy changes: a version that means something new is refused.',
    pattern: '[A-Za-z0-9][A-Za-z0-9_-]{0,23}',
    maxLength: 24,
    constraint: '1 to 24 letters, digits, "_" or "-", starting with a letter or digit',
    inPolicyDigest: true,
  },
  recordTableName: {
    kind: 'text',
    parameter: 'RecordTableName',
    group: 'What',
    label: 'Record table',
    description: 'Name of the DynamoDB table that holds the records, in this account and Region.',
    pattern: '[A-Za-z0-9_.-]{3,255}',
    maxLength: 255,
    constraint: 'a DynamoDB table name (3 to 255 letters, digits, "_", "-" or ".")',
    inPolicyDigest: true,
  },
  recordIndexName: {
    kind: 'text',
    parameter: 'RecordIndexName',
    group: 'What',
    label: 'Index for discovery',
    description:
      'Global secondary index through which due records are found. Blank: the table is scanned, and records whose timestamp cannot be read are counted.',
    default: '',
    pattern: '([A-Za-z0-9_.-]{3,255})?',
    maxLength: 255,
    constraint: 'blank or a DynamoDB index name (3 to 255 letters, digits, "_", "-" or ".")',
    inPolicyDigest: true,
  },
  indexPartitionValues: {
    kind: 'text',
    parameter: 'IndexPartitionValues',
    group: 'What',
    label: 'Partition values of the index',
    description:
      'Comma-separated partition-key values of the index to query, for an index sorted by the timestamp. Blank: the index is scanned.',
    default: '',
    pattern: '([^,]{1,256}(,[^,]{1,256})*)?',
    maxLength: 3000,
    constraint: 'blank or a comma-separated list of values of 1 to 256 characters',
    inPolicyDigest: true,
  },
  partitionKeyAttribute: {
    kind: 'text',
    parameter: 'PartitionKeyAttribute',
    group: 'What',
    label: 'Partition key attribute',
    description: 'Attribute that is the partition key of the record table.',
    default: 'id',
    pattern: NAME,
    maxLength: 255,
    constraint: 'an attribute name of letters, digits, "_", "-" or "."',
    inPolicyDigest: true,
  },
  sortKeyAttribute: {
    kind: 'text',
    parameter: 'SortKeyAttribute',
    group: 'What',
    label: 'Sort key attribute',
    description: 'Attribute that is the sort key of the record table; blank where it has none.',
    default: '',
    pattern: `(${NAME})?`,
    maxLength: 255,
    constraint: 'blank or an attribute name of letters, digits, "_", "-" or "."',
    inPolicyDigest: true,
  },
  tenantAttribute: {
    kind: 'text',
    parameter: 'TenantAttribute',
    group: 'What',
    label: 'Tenant attribute',
    description: 'Attribute that names the tenant of a record; batches never cross tenants. Blank: one tenant for all.',
    default: '',
    pattern: `(${NAME})?`,
    maxLength: 255,
    constraint: 'blank or an attribute name of letters, digits, "_", "-" or "."',
    inPolicyDigest: true,
  },
  timestampAttribute: {
    kind: 'text',
    parameter: 'TimestampAttribute',
    group: 'What',
    label: 'Timestamp attribute',
    description: 'Attribute whose age decides whether a record is due, such as the last activity.',
    pattern: NAME,
    maxLength: 255,
    constraint: 'an attribute name of letters, digits, "_", "-" or "."',
    inPolicyDigest: true,
  },
  timestampFormat: {
    kind: 'choice',
    parameter: 'TimestampFormat',
    group: 'What',
    label: 'Timestamp format',
    description: 'How the timestamp is stored. A value of another unit or spelling is unreadable and never touched.',
    choices: ['epoch-seconds', 'epoch-millis', 'iso-8601'],
    constraint: 'one of epoch-seconds, epoch-millis, iso-8601',
    inPolicyDigest: true,
  },
  stateAttribute: {
    kind: 'text',
    parameter: 'StateAttribute',
    group: 'What',
    label: 'State attribute',
    description: 'Attribute that holds the state of a record.',
    default: 'status',
    pattern: NAME,
    maxLength: 255,
    constraint: 'an attribute name of letters, digits, "_", "-" or "."',
    inPolicyDigest: true,
  },
  eligibleState: {
    kind: 'text',
    parameter: 'EligibleState',
    group: 'What',
    label: 'Eligible state',
    description: 'State in which a record may expire. Records in any other state are never touched.',
    default: 'ACTIVE',
    pattern: '[ -~]{1,100}',
    maxLength: 100,
    constraint: '1 to 100 printable ASCII characters',
    inPolicyDigest: true,
  },
  expiredState: {
    kind: 'text',
    parameter: 'ExpiredState',
    group: 'What',
    label: 'Expired state',
    description: 'State that an expired record is set to.',
    default: 'EXPIRED',
    pattern: '[ -~]{1,100}',
    maxLength: 100,
    constraint: '1 to 100 printable ASCII characters',
    inPolicyDigest: true,
  },
  expiredAtAttribute: {
    kind: 'text',
    parameter: 'ExpiredAtAttribute',
    group: 'What',
    label: 'Expiry time attribute',
    description: 'Attribute that receives the time of expiry, in the timestamp format of the policy.',
    default: 'expiredAt',
    pattern: NAME,
    maxLength: 255,
    constraint: 'an attribute name of letters, digits, "_", "-" or "."',
    inPolicyDigest: true,
  },
  operationKeyAttribute: {
    kind: 'text',
    parameter: 'OperationKeyAttribute',
    group: 'What',
    label: 'Operation key attribute',
    description: 'Attribute that receives the operation key: the proof, in the record, of which run changed it.',
    default: 'sweepOperationKey',
    pattern: NAME,
    maxLength: 255,
    constraint: 'an attribute name of letters, digits, "_", "-" or "."',
    inPolicyDigest: true,
  },
  holdAttributes: {
    kind: 'text',
    parameter: 'HoldAttributes',
    group: 'What',
    label: 'Hold attributes',
    description:
      'Comma-separated attributes that hold a record back (legal hold, dispute). Absent, NULL, false and empty mean no hold; anything else is one.',
    default: '',
    pattern: `(${NAME}(,${NAME}){0,7})?`,
    maxLength: 1000,
    constraint: 'blank or up to 8 comma-separated attribute names of letters, digits, "_", "-" or "."',
    inPolicyDigest: true,
  },
  scheduleExpression: {
    kind: 'text',
    parameter: 'ScheduleExpression',
    group: 'When',
    label: 'Schedule',
    description: 'EventBridge Scheduler expression: cron(minutes hours day-of-month month day-of-week year).',
    default: 'cron(0 2 * * ? *)',
    // Minutes of `*`, or of a list, range or step, fire again and again in the hour that somebody meant once (P3).
    pattern: '(cron\\([0-5]?[0-9] [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+\\)|rate\\([1-9][0-9]* (hours?|days?)\\))',
    maxLength: 256,
    constraint: 'cron(...) with six fields whose minutes are given as a number (0 to 59), or rate(N hours|days)',
    inPolicyDigest: false,
  },
  scheduleTimeZone: {
    kind: 'text',
    parameter: 'ScheduleTimeZone',
    group: 'When',
    label: 'Time zone',
    description: 'IANA time zone in which the schedule is read.',
    default: 'UTC',
    pattern: '[A-Za-z][A-Za-z0-9_+/-]{0,49}',
    maxLength: 50,
    constraint: 'an IANA time zone such as UTC or Europe/Berlin',
    inPolicyDigest: false,
  },
  scheduleStart: {
    kind: 'text',
    parameter: 'ScheduleStart',
    group: 'When',
    label: 'First time of a rate',
    description:
      'UTC instant from which a rate(...) counts, such as 2027-01-01T02:00:00Z. A rate without one would fire at deployment and is refused. Blank for cron.',
    default: '',
    pattern: '([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?',
    maxLength: 20,
    constraint: 'blank or a UTC instant like 2027-01-01T02:00:00Z',
    inPolicyDigest: false,
  },
  scheduleState: {
    kind: 'choice',
    parameter: 'ScheduleState',
    group: 'When',
    label: 'Schedule on or off',
    description: 'DISABLED stops new runs; runs in progress go on.',
    default: 'ENABLED',
    choices: ['ENABLED', 'DISABLED'],
    constraint: 'ENABLED or DISABLED',
    inPolicyDigest: false,
  },
  retentionDays: {
    kind: 'integer',
    parameter: 'RetentionDays',
    group: 'When',
    label: 'Retention (days)',
    description: 'A record is due when its timestamp is before the scheduled time minus this many days of 24 hours.',
    min: 1,
    max: 36_500,
    constraint: 'a whole number of days from 1 to 36500',
    inPolicyDigest: true,
  },
  windowDays: {
    kind: 'limit',
    parameter: 'WindowDays',
    group: 'When',
    label: 'Window (days)',
    description:
      'Only records that became due at most this many days before the scheduled time: the narrow first rollout. none: all due records.',
    default: 'none',
    min: 1,
    max: 36_500,
    constraint: 'none or a whole number of days from 1 to 36500',
    inPolicyDigest: false,
  },
  runDeadlineHours: {
    kind: 'integer',
    parameter: 'RunDeadlineHours',
    group: 'When',
    label: 'Run deadline (hours)',
    description: 'A run that is not closed so many hours after its scheduled time is reported as overdue.',
    default: '24',
    min: 1,
    max: 720,
    constraint: 'a whole number of hours from 1 to 720',
    inPolicyDigest: false,
  },
  mode: {
    kind: 'choice',
    parameter: 'Mode',
    group: 'How',
    label: 'Mode',
    description:
      'report-only plans and counts, changes nothing and grants no permission to write records. enforce expires them.',
    default: 'report-only',
    choices: ['report-only', 'enforce'],
    constraint: 'report-only or enforce',
    inPolicyDigest: false,
  },
  action: {
    kind: 'choice',
    parameter: 'Action',
    group: 'How',
    label: 'Action',
    description:
      'expire sets the expired state, the time and the operation key. delete removes records that an earlier run of this policy expired at least GraceDays ago, and needs AllowDelete.',
    default: 'expire',
    choices: ['expire', 'delete'],
    constraint: 'expire or delete',
    inPolicyDigest: true,
  },
  allowDelete: {
    kind: 'choice',
    parameter: 'AllowDelete',
    group: 'How',
    label: 'Allow deletion',
    description:
      'The switch of its own for deletion: only with yes does any role hold the permission to delete records.',
    default: 'no',
    choices: ['no', 'yes'],
    constraint: 'no or yes',
    inPolicyDigest: false,
  },
  graceDays: {
    kind: 'integer',
    parameter: 'GraceDays',
    group: 'How',
    label: 'Grace (days)',
    description: 'Days between the expiry of a record and the earliest scheduled time at which it may be deleted.',
    default: '30',
    min: 1,
    max: 3650,
    constraint: 'a whole number of days from 1 to 3650',
    inPolicyDigest: true,
  },
  batchSize: {
    kind: 'integer',
    parameter: 'BatchSize',
    group: 'Limits',
    label: 'Records per batch',
    description: 'Records in one batch: the unit of retry, quarantine and redrive.',
    default: '100',
    min: 1,
    max: 1000,
    constraint: 'a whole number from 1 to 1000',
    inPolicyDigest: false,
  },
  consumerConcurrency: {
    kind: 'integer',
    parameter: 'ConsumerConcurrency',
    group: 'Limits',
    label: 'Consumer concurrency',
    description: 'How many consumers work at once (MaximumConcurrency of the event source mapping).',
    default: '5',
    min: 2,
    max: 1000,
    constraint: 'a whole number from 2 to 1000 (SQS event sources cannot be limited to 1)',
    inPolicyDigest: false,
  },
  batchTimeBudgetSeconds: {
    kind: 'choice',
    parameter: 'BatchTimeBudgetSeconds',
    group: 'Limits',
    label: 'Time budget of one batch (seconds)',
    description:
      'Longest time one batch may take. Function timeout and visibility timeout of the work queue follow from it.',
    default: '30',
    choices: ['1', '15', '30', '60', '120', '175'],
    constraint: 'one of 1, 15, 30, 60, 120, 175',
    inPolicyDigest: false,
  },
  maxAttempts: {
    kind: 'integer',
    parameter: 'MaxAttempts',
    group: 'Limits',
    label: 'Attempts',
    description: 'Attempts at one batch before it is quarantined; counted in the ledger, not by the queue.',
    default: '5',
    min: 3,
    max: 10,
    constraint: 'a whole number from 3 to 10',
    inPolicyDigest: false,
  },
  discoverySegments: {
    kind: 'integer',
    parameter: 'DiscoverySegments',
    group: 'Limits',
    label: 'Parallel discovery segments',
    description: 'Segments in which a table or index is scanned side by side.',
    default: '4',
    min: 1,
    max: 64,
    constraint: 'a whole number from 1 to 64',
    inPolicyDigest: false,
  },
  recordsPerRun: {
    kind: 'limit',
    parameter: 'RecordsPerRun',
    group: 'Limits',
    label: 'Records per run',
    description: 'A run plans at most this many records; the rest is counted and found by the next run.',
    default: 'none',
    min: 1,
    max: 100_000_000,
    constraint: 'none or a whole number from 1 to 100000000',
    inPolicyDigest: false,
  },
  capRecords: {
    kind: 'limit',
    parameter: 'CapRecords',
    group: 'Limits',
    label: 'Cap: number of records',
    description: 'A plan of more records than this is refused before anything is published.',
    default: '100000',
    min: 1,
    max: 100_000_000,
    constraint: 'none or a whole number from 1 to 100000000',
    inPolicyDigest: false,
  },
  capSharePercent: {
    kind: 'limit',
    parameter: 'CapSharePercent',
    group: 'Limits',
    label: 'Cap: share of records (%)',
    description:
      'A plan for a larger share of the records in the eligible state than this is refused before anything is published. Not checked where discovery sees due records only.',
    default: '50',
    min: 1,
    max: 100,
    constraint: 'none or a whole number of percent from 1 to 100',
    inPolicyDigest: false,
  },
  capDeviationFactor: {
    kind: 'limit',
    parameter: 'CapDeviationFactor',
    group: 'Limits',
    label: 'Cap: deviation from earlier runs (factor)',
    description:
      'A plan of more than this many times the median of the earlier complete runs is refused before anything is published. Checked from three complete runs on and above 100 records.',
    default: '10',
    min: 2,
    max: 1000,
    constraint: 'none or a whole number from 2 to 1000',
    inPolicyDigest: false,
  },
  recordsPerSecond: {
    kind: 'limit',
    parameter: 'RecordsPerSecond',
    group: 'Limits',
    label: 'Records per second',
    description: 'Rate of all consumers together. BatchSize x ConsumerConcurrency / rate must fit the time budget.',
    default: 'none',
    min: 1,
    max: 100_000,
    constraint: 'none or a whole number from 1 to 100000',
    inPolicyDigest: false,
  },
  unitAgeHours: {
    kind: 'integer',
    parameter: 'UnitAgeHours',
    group: 'Limits',
    label: 'Age cap of a batch (hours)',
    description: 'A batch that could not be completed so many hours after it was planned or redriven is quarantined.',
    default: '72',
    min: 1,
    max: 336,
    constraint: 'a whole number of hours from 1 to 336',
    inPolicyDigest: false,
  },
  redriveGenerations: {
    kind: 'integer',
    parameter: 'RedriveGenerations',
    group: 'Limits',
    label: 'Generations of a unit',
    description:
      'How often a unit may be sent by a person or the first publish together. A redrive beyond it must be asked for by name.',
    default: '3',
    min: 1,
    max: 100,
    constraint: 'a whole number from 1 to 100',
    inPolicyDigest: false,
  },
  successSamplePercent: {
    kind: 'limit',
    parameter: 'SuccessSamplePercent',
    group: 'Operations',
    label: 'Logged successes (%)',
    description:
      'Share of the successful records that get a log line of their own, without their keys. Deliveries are logged anyway.',
    default: 'none',
    min: 1,
    max: 100,
    constraint: 'none or a whole number of percent from 1 to 100',
    inPolicyDigest: false,
  },
  ledgerRetentionDays: {
    kind: 'integer',
    parameter: 'LedgerRetentionDays',
    group: 'Operations',
    label: 'Ledger retention (days)',
    description:
      'How long plans, batches, reports and the audit trail of a run are kept, counted from their last change.',
    default: '400',
    min: 90,
    max: 3650,
    constraint: 'a whole number of days from 90 to 3650',
    inPolicyDigest: false,
  },
  logRetentionDays: {
    kind: 'choice',
    parameter: 'LogRetentionDays',
    group: 'Operations',
    label: 'Log retention (days)',
    description: 'How long CloudWatch keeps the logs of the functions: one line per delivery and decision.',
    default: '90',
    choices: ['7', '14', '30', '60', '90', '180', '365', '731'],
    constraint: 'one of 7, 14, 30, 60, 90, 180, 365, 731',
    inPolicyDigest: false,
  },
  terminalLogRetentionDays: {
    kind: 'choice',
    parameter: 'TerminalLogRetentionDays',
    group: 'Operations',
    label: 'Log retention of terminal events (days)',
    description:
      "How long CloudWatch keeps what ended: quarantines, closed and cancelled runs, people's acts, proofs that do not hold.",
    default: '731',
    choices: ['90', '180', '365', '731', '1096', '1827', '3653'],
    constraint: 'one of 90, 180, 365, 731, 1096, 1827, 3653',
    inPolicyDigest: false,
  },
} as const satisfies Record<string, SettingDefinition>;

export type SettingKey = keyof typeof SETTINGS;
export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

type ValueOf<D> = D extends { kind: 'integer' }
  ? number
  : D extends { kind: 'limit' }
    ? number | null
    : D extends { kind: 'choice'; choices: readonly (infer C)[] }
      ? C
      : string;

/** Every setting of a policy, parsed. Integers in the unit their name says; a limit that is `none` is null. */
export type Settings = { readonly [K in SettingKey]: ValueOf<(typeof SETTINGS)[K]> };

/** Environment variable by which a setting reaches a function: `retentionDays` is `SWEEP_RETENTION_DAYS`. */
export function environmentName(key: SettingKey): string {
  return `SWEEP_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
