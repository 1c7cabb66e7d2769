import { type Duration, Fn, Token } from 'aws-cdk-lib';
import { NO_LIMIT, type SettingKey } from '../core/policy/settings.ts';
import type { LedgersweepPipelineProps } from './pipeline-props.ts';

type Props = LedgersweepPipelineProps;

/** Names of the props whose values are of this type. */
type PropOf<V> = { [K in keyof Props]-?: Props[K] extends V | undefined ? K : never }[keyof Props];

/** Where a setting comes from; `read` gives its text, undefined where the prop was left out. */
export interface SettingProp {
  readonly prop: keyof Props;
  readonly read: (props: Props) => string | undefined;
}

type Unit = 'days' | 'hours' | 'seconds';

const NOT_KNOWN = 'a value known only at deployment';

/** The one prop behind every setting. */
export const SETTING_PROPS: { readonly [K in SettingKey]: SettingProp } = {
  policyId: text('policyId'),
  policyVersion: text('policyVersion'),
  recordTableName: text('recordTableName'),
  recordIndexName: text('recordIndexName'),
  indexPartitionValues: list('indexPartitionValues'),
  partitionKeyAttribute: text('partitionKeyAttribute'),
  sortKeyAttribute: text('sortKeyAttribute'),
  tenantAttribute: text('tenantAttribute'),
  timestampAttribute: text('timestampAttribute'),
  timestampFormat: text('timestampFormat'),
  stateAttribute: text('stateAttribute'),
  eligibleState: text('eligibleState'),
  expiredState: text('expiredState'),
  expiredAtAttribute: text('expiredAtAttribute'),
  operationKeyAttribute: text('operationKeyAttribute'),
  holdAttributes: list('holdAttributes'),
  scheduleExpression: { prop: 'schedule', read: ({ schedule }) => schedule?.expressionString },
  scheduleTimeZone: { prop: 'schedule', read: ({ schedule }) => schedule?.timeZone?.timezoneName },
  scheduleStart: { prop: 'scheduleStart', read: ({ scheduleStart }) => instantText(scheduleStart) },
  scheduleState: text('scheduleState'),
  retentionDays: duration('retention', 'days'),
  windowDays: duration('window', 'days'),
  runDeadlineHours: duration('runDeadline', 'hours'),
  mode: text('mode'),
  action: text('action'),
  allowDelete: text('allowDelete'),
  graceDays: duration('grace', 'days'),
  batchSize: number('batchSize'),
  consumerConcurrency: number('consumerConcurrency'),
  batchTimeBudgetSeconds: duration('batchTimeBudget', 'seconds'),
  maxAttempts: number('maxAttempts'),
  discoverySegments: number('discoverySegments'),
  recordsPerRun: number('recordsPerRun'),
  capRecords: number('capRecords'),
  capSharePercent: number('capSharePercent'),
  capDeviationFactor: number('capDeviationFactor'),
  recordsPerSecond: number('recordsPerSecond'),
  unitAgeHours: duration('unitAge', 'hours'),
  redriveGenerations: number('redriveGenerations'),
  successSamplePercent: number('successSamplePercent'),
  ledgerRetentionDays: duration('ledgerRetention', 'days'),
  logRetentionDays: duration('logRetention', 'days'),
  terminalLogRetentionDays: duration('terminalLogRetention', 'days'),
};

function text(prop: PropOf<string>): SettingProp {
  return { prop, read: (props) => props[prop] };
}

/** A list travels as one text, joined at deployment where that is when it is known. */
function list(prop: PropOf<readonly string[]>): SettingProp {
  const join = (values: readonly string[]) =>
    Token.isUnresolved(values) ? Fn.join(',', [...values]) : values.join(',');
  return { prop, read: ({ [prop]: values }) => (values === undefined ? undefined : join(values)) };
}

function number(prop: PropOf<number | 'none'>): SettingProp {
  const write = (value: number | 'none') => (Token.isUnresolved(value) ? NOT_KNOWN : String(value));
  return { prop, read: ({ [prop]: value }) => (value === undefined ? undefined : write(value)) };
}

function duration(prop: PropOf<Duration | 'none'>, unit: Unit): SettingProp {
  return { prop, read: ({ [prop]: value }) => (value === undefined ? undefined : durationText(value, unit)) };
}

function durationText(value: Duration | 'none', unit: Unit): string {
  if (value === 'none') return NO_LIMIT;
  if (value.isUnresolved()) return NOT_KNOWN;
  const options = { integral: false };
  switch (unit) {
    case 'days':
      return String(value.toDays(options));
    case 'hours':
      return String(value.toHours(options));
    case 'seconds':
      return String(value.toSeconds(options));
  }
}

function instantText(date: Date | undefined): string | undefined {
  if (date === undefined) return undefined;
  return Number.isNaN(date.getTime()) ? String(date) : date.toISOString().replace('.000Z', 'Z');
}
