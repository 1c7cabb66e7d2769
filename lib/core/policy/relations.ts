import { parseInstant } from '../identity/instant.ts';
import { listOf } from './digest.ts';
import type { Problem } from './parse.ts';
import { SETTINGS, type SettingKey, type Settings } from './settings.ts';

/**
 * What two settings must be to each other in presence or equality. CloudFormation rules can compare nothing else, so
 * these fail the deployment already; construct users and the dispatcher check the same table.
 */
export type Relation =
  | { readonly kind: 'differ'; readonly first: SettingKey; readonly second: SettingKey; readonly reason: string }
  /** `first`, where it is other than `unless`, needs `second` to be other than `not`. */
  | {
      readonly kind: 'requires';
      readonly first: SettingKey;
      readonly unless: string;
      readonly second: SettingKey;
      readonly not: string;
      readonly reason: string;
    };

// A transition writes these three; writing over a key, the witness or the tenant would change what the record is.
const WRITTEN: readonly SettingKey[] = ['stateAttribute', 'expiredAtAttribute', 'operationKeyAttribute'];
const KEPT: readonly SettingKey[] = [
  'partitionKeyAttribute',
  'sortKeyAttribute',
  'timestampAttribute',
  'tenantAttribute',
];

export const RELATIONS: readonly Relation[] = [
  {
    kind: 'requires',
    first: 'indexPartitionValues',
    unless: '',
    second: 'recordIndexName',
    not: '',
    reason: 'the values are partition keys of that index',
  },
  {
    kind: 'requires',
    first: 'action',
    unless: 'expire',
    second: 'allowDelete',
    not: 'no',
    reason: 'deletion has a switch of its own',
  },
  {
    kind: 'differ',
    first: 'eligibleState',
    second: 'expiredState',
    reason: 'an expired record would be due again',
  },
  ...WRITTEN.flatMap((first, at) =>
    [...KEPT, ...WRITTEN.slice(at + 1)].map(
      (second): Relation => ({ kind: 'differ', first, second, reason: 'an expiry would overwrite it' }),
    ),
  ),
];

/** The relation as a sentence that names both parameters. */
export function relationSentence(relation: Relation): string {
  const [first, second] = [SETTINGS[relation.first].parameter, SETTINGS[relation.second].parameter];
  return relation.kind === 'differ'
    ? `${first} must differ from ${second}: ${relation.reason}.`
    : `${first} needs ${second}: ${relation.reason}.`;
}

/** Whether the relation holds between two literal texts. */
export function relationHolds(relation: Relation, text: (key: SettingKey) => string): boolean {
  const [first, second] = [text(relation.first), text(relation.second)];
  if (relation.kind === 'differ') return first !== second;
  return first === relation.unless || second !== relation.not;
}

function problem(key: SettingKey, received: string | number | null, message: string): Problem {
  const text = String(received);
  return { parameter: SETTINGS[key].parameter, received: text, message: `${message} Received ${text}.` };
}

/** Seconds that the slowest batch takes where every consumer waits for its share of the rate. */
export function pacedBatchSeconds(
  settings: Pick<Settings, 'batchSize' | 'consumerConcurrency' | 'recordsPerSecond'>,
): number {
  const { batchSize, consumerConcurrency, recordsPerSecond } = settings;
  return recordsPerSecond === null ? 0 : (batchSize * consumerConcurrency) / recordsPerSecond;
}

/** Relations that CloudFormation cannot compare: checked at synthesis for construct users, and by preflight. */
export function numericProblems(settings: Settings): readonly Problem[] {
  const problems: Problem[] = [];
  const { recordsPerSecond, batchTimeBudgetSeconds, recordsPerRun, capRecords, windowDays } = settings;
  const seconds = pacedBatchSeconds(settings);
  if (seconds > Number(batchTimeBudgetSeconds)) {
    const needed = Math.ceil((settings.batchSize * settings.consumerConcurrency) / Number(batchTimeBudgetSeconds));
    problems.push(
      problem(
        'recordsPerSecond',
        recordsPerSecond,
        `RecordsPerSecond is too low: BatchSize ${settings.batchSize} x ConsumerConcurrency ${settings.consumerConcurrency} at that rate takes ${Math.ceil(seconds)} s, more than BatchTimeBudgetSeconds ${batchTimeBudgetSeconds}. Use a rate of at least ${needed}, smaller batches, fewer consumers or a larger budget.`,
      ),
    );
  }
  if (recordsPerRun !== null && capRecords !== null && recordsPerRun > capRecords) {
    problems.push(
      problem(
        'recordsPerRun',
        recordsPerRun,
        `RecordsPerRun must not be more than CapRecords ${capRecords}: a full run would be refused.`,
      ),
    );
  }
  if (settings.action === 'delete' && settings.graceDays >= settings.ledgerRetentionDays) {
    problems.push(
      problem(
        'graceDays',
        settings.graceDays,
        `GraceDays must be less than LedgerRetentionDays ${settings.ledgerRetentionDays}: the run that expired a record would be forgotten before its deletion is due.`,
      ),
    );
  }
  if (windowDays !== null && settings.action === 'delete') {
    problems.push(problem('windowDays', windowDays, 'WindowDays must be none where Action is delete.'));
  }
  return [...problems, ...holdProblems(settings), ...scheduleProblems(settings)];
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function scheduleProblems(settings: Settings): readonly Problem[] {
  const { scheduleExpression, scheduleStart, scheduleTimeZone } = settings;
  const problems: Problem[] = [];
  if (scheduleExpression.startsWith('rate') && scheduleStart === '') {
    problems.push(
      problem(
        'scheduleStart',
        '(nothing)',
        `ScheduleStart is needed with ${scheduleExpression}: a rate without a start fires at the moment of deployment.`,
      ),
    );
  }
  if (scheduleStart !== '' && parseInstant(scheduleStart) === undefined) {
    problems.push(problem('scheduleStart', scheduleStart, 'ScheduleStart is a time that no calendar has.'));
  }
  if (!isTimeZone(scheduleTimeZone)) {
    problems.push(problem('scheduleTimeZone', scheduleTimeZone, 'ScheduleTimeZone is not a time zone that exists.'));
  }
  return problems;
}

function holdProblems(settings: Settings): readonly Problem[] {
  const holds = listOf(settings.holdAttributes);
  return WRITTEN.filter((key) => holds.includes(String(settings[key]))).map((key) =>
    problem(
      'holdAttributes',
      settings.holdAttributes,
      `HoldAttributes must not name ${SETTINGS[key].parameter} ${settings[key]}: an expiry would set the hold.`,
    ),
  );
}

/** Everything wrong with settings that are each well formed. */
export function relationProblems(settings: Settings): readonly Problem[] {
  const text = (key: SettingKey) => String(settings[key]);
  const broken = RELATIONS.filter((relation) => !relationHolds(relation, text)).map((relation) =>
    problem(relation.first, settings[relation.first], relationSentence(relation)),
  );
  return [...broken, ...numericProblems(settings)];
}
