import { describe, expect, it } from 'vitest';
import { TIME_BUDGETS } from '../../lib/core/policy/budget.ts';
import { SETTINGS } from '../../lib/core/policy/settings.ts';
import { Deployment, type Given } from './cloudformation.ts';

const RECORDS = 'arn:<AWS::Partition>:dynamodb:<AWS::Region>:<AWS::AccountId>:table/';

function schedule(given: Given): Readonly<Record<string, unknown>> {
  return new Deployment(given).resources('AWS::Scheduler::Schedule').Schedule ?? {};
}

/** Actions that the policies of a role give it on what lies under an ARN, where the stack is deployed so. */
function rights(role: string, under: string, given: Given): readonly string[] {
  const policies = Object.values(new Deployment(given).resources('AWS::IAM::Policy'));
  const statements = policies
    .filter(({ Roles }) => (Roles as string[]).includes(`<${role}>`))
    .flatMap(
      ({ PolicyDocument }) =>
        (PolicyDocument as { Statement: { Action: string | string[]; Resource: string | string[] }[] }).Statement,
    );
  return statements
    .filter(({ Resource }) => [Resource].flat().some((resource) => resource.startsWith(under)))
    .flatMap(({ Action }) => Action)
    .map((action) => action.replace('dynamodb:', ''))
    .sort();
}

/** Of the terminal log first, then of the functions. */
function retentions(parameters: Record<string, string>): unknown[] {
  const groups = Object.values(new Deployment(parameters).resources('AWS::Logs::LogGroup'));
  return groups.map(({ RetentionInDays }) => RetentionInDays);
}

describe('what the parameters of a deployment change', () => {
  it('ScheduleExpression: when the scheduler starts a run', () => {
    expect(schedule({}).ScheduleExpression).toBe('cron(0 2 * * ? *)');
    expect(schedule({ ScheduleExpression: 'cron(30 4 ? * SUN *)' }).ScheduleExpression).toBe('cron(30 4 ? * SUN *)');
  });

  it('ScheduleTimeZone: the zone in which the expression is read', () => {
    expect(schedule({}).ScheduleExpressionTimezone).toBe('UTC');
    expect(schedule({ ScheduleTimeZone: 'Europe/Berlin' }).ScheduleExpressionTimezone).toBe('Europe/Berlin');
  });

  it('ScheduleState: whether new runs start; the reconciler goes on', () => {
    const off = new Deployment({ ScheduleState: 'DISABLED' }).resources('AWS::Scheduler::Schedule');
    expect([off.Schedule?.State, off.ReconcileSchedule?.State]).toEqual(['DISABLED', 'ENABLED']);
    expect(schedule({}).State).toBe('ENABLED');
  });

  it('ScheduleStart: the first time of a rate, which so does not fire at deployment', () => {
    const rate = { ScheduleExpression: 'rate(7 days)', ScheduleStart: '2027-01-01T02:00:00Z' };
    expect(schedule(rate).StartDate).toBe('2027-01-01T02:00:00Z');
    expect(schedule({})).not.toHaveProperty('StartDate');
  });

  it('ScheduleStart: nothing while the schedule is off, so that it can be turned off after its first time', () => {
    const off = {
      ScheduleExpression: 'rate(7 days)',
      ScheduleStart: '2027-01-01T02:00:00Z',
      ScheduleState: 'DISABLED',
    };
    expect(schedule(off)).not.toHaveProperty('StartDate');
  });

  it('RecordTableName: the one table that may be read and written', () => {
    expect(rights('ConsumerRole', `${RECORDS}orders`, { RecordTableName: 'orders', Mode: 'enforce' })).toEqual([
      'GetItem',
      'PartiQLUpdate',
      'UpdateItem',
    ]);
    expect(rights('ConsumerRole', `${RECORDS}accounts`, { RecordTableName: 'orders', Mode: 'enforce' })).toEqual([]);
    expect(rights('DispatcherRole', `${RECORDS}orders`, { RecordTableName: 'orders' })).toEqual([
      'DescribeTable',
      'Query',
      'Scan',
    ]);
  });

  it('RecordIndexName: the index that the dispatcher may read', () => {
    const index = (given: Given) => rights('DispatcherRole', `${RECORDS}accounts/index/`, given);
    expect(index({})).toEqual([]);
    expect(index({ RecordIndexName: 'byActivity' })).toEqual(['Query', 'Scan']);
  });

  it.each([
    ['report-only', 'no', []],
    ['report-only', 'yes', []],
    ['enforce', 'no', ['GetItem', 'PartiQLUpdate', 'UpdateItem']],
    ['enforce', 'yes', ['DeleteItem', 'GetItem', 'PartiQLDelete', 'PartiQLUpdate', 'UpdateItem']],
  ])('Mode %s and AllowDelete %s: what the consumer may do to records', (Mode, AllowDelete, expected) => {
    expect(rights('ConsumerRole', RECORDS, { Mode, AllowDelete })).toEqual(expected);
  });

  it('Action: no right by itself', () => {
    const given = { Mode: 'enforce', AllowDelete: 'no', Action: 'delete' };
    expect(rights('ConsumerRole', RECORDS, given)).toEqual(['GetItem', 'PartiQLUpdate', 'UpdateItem']);
    expect(new Deployment(given).refusals()).toEqual(['Action needs AllowDelete: deletion has a switch of its own.']);
  });

  it('ConsumerConcurrency: how many consumers the queue starts', () => {
    const [mapping] = Object.values(
      new Deployment({ ConsumerConcurrency: '17' }).resources('AWS::Lambda::EventSourceMapping'),
    );
    expect(mapping?.ScalingConfig).toEqual({ MaximumConcurrency: '17' });
  });

  it.each(Object.entries(TIME_BUDGETS))(
    'BatchTimeBudgetSeconds %s: the timeouts of consumer and queue',
    (BatchTimeBudgetSeconds, { functionTimeoutSeconds, visibilityTimeoutSeconds }) => {
      const deployment = new Deployment({ BatchTimeBudgetSeconds });
      const consumer = deployment.resources('AWS::Lambda::Function').ConsumerFunction;
      expect(consumer?.Timeout).toBe(String(functionTimeoutSeconds));
      expect(deployment.resources('AWS::SQS::Queue').WorkQueue?.VisibilityTimeout).toBe(
        String(visibilityTimeoutSeconds),
      );
    },
  );

  it.each(SETTINGS.logRetentionDays.choices)('LogRetentionDays %s: how long every log is kept', (LogRetentionDays) => {
    const kept = retentions({ LogRetentionDays, TerminalLogRetentionDays: '1827' });
    expect(kept).toEqual(['1827', ...Array(4).fill(LogRetentionDays)]);
  });

  it.each(SETTINGS.terminalLogRetentionDays.choices)(
    'TerminalLogRetentionDays %s: how long terminal events are kept',
    (TerminalLogRetentionDays) => {
      const kept = retentions({ LogRetentionDays: '7', TerminalLogRetentionDays });
      expect(kept).toEqual([TerminalLogRetentionDays, '7', '7', '7', '7']);
    },
  );
});
