import { CfnParameter, Duration, Stack, Token } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { describe, expect, it } from 'vitest';
import { LedgersweepPipeline, type LedgersweepPipelineProps, PipelineOutputs } from '../../lib/cdk/index.ts';
import { environmentName, SETTING_KEYS, SETTINGS, type SettingDefinition } from '../../lib/core/policy/settings.ts';
import { app, PROPS, pipelineTemplate, rendered, resource } from './synthesis.ts';

/** The message of the one error that synthesis ends in. */
function refusal(props: Partial<LedgersweepPipelineProps>): string {
  try {
    new LedgersweepPipeline(new Stack(app(), 'Own'), 'Pipeline', { ...PROPS, ...props });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('Synthesis did not fail');
}

function environment(template: Template): Record<string, unknown> {
  const { Environment } = resource(template, 'AWS::Lambda::Function', 'DispatcherFunction').Properties;
  return (Environment as { Variables: Record<string, unknown> }).Variables;
}

describe('LedgersweepPipeline', () => {
  it('takes the defaults of the settings table for what is left out', () => {
    const variables = environment(pipelineTemplate());
    for (const key of SETTING_KEYS) {
      const definition: SettingDefinition = SETTINGS[key];
      if (definition.default !== undefined) expect(variables[environmentName(key)], key).toBe(definition.default);
    }
  });

  it('P64: writes each prop as the text that the functions read', () => {
    const variables = environment(
      pipelineTemplate({
        recordIndexName: 'byActivity',
        indexPartitionValues: ['0', '1', '2'],
        sortKeyAttribute: 'sk',
        tenantAttribute: 'tenant',
        holdAttributes: ['legalHold', 'dispute'],
        retention: Duration.days(1461),
        mode: 'enforce',
        batchSize: 1000,
        consumerConcurrency: 2,
        batchTimeBudget: Duration.minutes(2),
        maxAttempts: 10,
        discoverySegments: 64,
        scheduleStart: new Date('2027-01-01T02:00:00Z'),
        scheduleState: 'DISABLED',
        window: Duration.days(14),
        runDeadline: Duration.days(2),
        allowDelete: 'yes',
        grace: Duration.days(90),
        recordsPerRun: 5000,
        capRecords: 6000,
        capSharePercent: 100,
        capDeviationFactor: 'none',
        recordsPerSecond: 100,
        unitAge: Duration.hours(336),
        ledgerRetention: Duration.days(3650),
        logRetention: Duration.days(731),
      }),
    );
    expect(variables).toMatchObject({
      SWEEP_POLICY_ID: 'inactive-accounts',
      SWEEP_RECORD_INDEX_NAME: 'byActivity',
      SWEEP_INDEX_PARTITION_VALUES: '0,1,2',
      SWEEP_SORT_KEY_ATTRIBUTE: 'sk',
      SWEEP_TENANT_ATTRIBUTE: 'tenant',
      SWEEP_HOLD_ATTRIBUTES: 'legalHold,dispute',
      SWEEP_RETENTION_DAYS: '1461',
      SWEEP_MODE: 'enforce',
      SWEEP_BATCH_SIZE: '1000',
      SWEEP_CONSUMER_CONCURRENCY: '2',
      SWEEP_BATCH_TIME_BUDGET_SECONDS: '120',
      SWEEP_MAX_ATTEMPTS: '10',
      SWEEP_DISCOVERY_SEGMENTS: '64',
      SWEEP_SCHEDULE_START: '2027-01-01T02:00:00Z',
      SWEEP_SCHEDULE_STATE: 'DISABLED',
      SWEEP_WINDOW_DAYS: '14',
      SWEEP_RUN_DEADLINE_HOURS: '48',
      SWEEP_ACTION: 'expire',
      SWEEP_ALLOW_DELETE: 'yes',
      SWEEP_GRACE_DAYS: '90',
      SWEEP_RECORDS_PER_RUN: '5000',
      SWEEP_CAP_RECORDS: '6000',
      SWEEP_CAP_SHARE_PERCENT: '100',
      SWEEP_CAP_DEVIATION_FACTOR: 'none',
      SWEEP_RECORDS_PER_SECOND: '100',
      SWEEP_UNIT_AGE_HOURS: '336',
      SWEEP_LEDGER_RETENTION_DAYS: '3650',
      SWEEP_LOG_RETENTION_DAYS: '731',
    });
  });

  it('P25: leaves a limit out by the word and not by a number', () => {
    const none = pipelineTemplate({ window: 'none', capRecords: 'none', capSharePercent: 'none' });
    expect(environment(none)).toMatchObject({
      SWEEP_WINDOW_DAYS: 'none',
      SWEEP_CAP_RECORDS: 'none',
      SWEEP_CAP_SHARE_PERCENT: 'none',
    });
    expect(refusal({ capRecords: 0 })).toContain('CapRecords is out of range');
    expect(refusal({ capSharePercent: -1 })).toContain('CapSharePercent is out of range');
    expect(refusal({ recordsPerRun: Number.POSITIVE_INFINITY })).toContain('RecordsPerRun is not a whole number');
    expect(refusal({ window: Duration.days(0) })).toContain('WindowDays is out of range');
  });

  it('refuses numbers that do not fit together, and names both', () => {
    expect(refusal({ recordsPerSecond: 16 })).toMatch(
      /RecordsPerSecond is too low: BatchSize 100 x ConsumerConcurrency 5 .* BatchTimeBudgetSeconds 30.*at least 17/,
    );
    expect(refusal({ recordsPerRun: 100_001 })).toContain('RecordsPerRun must not be more than CapRecords 100000');
    expect(refusal({ window: Duration.days(7), action: 'delete', allowDelete: 'yes' })).toContain(
      'WindowDays must be none where Action is delete',
    );
    expect(refusal({ holdAttributes: ['status'] })).toContain('HoldAttributes must not name StateAttribute status');
    expect(pipelineTemplate({ recordsPerSecond: 17, recordsPerRun: 100_000 })).toBeInstanceOf(Template);
  });

  it('refuses a deletion without the switch of its own', () => {
    expect(refusal({ action: 'delete' })).toContain('Action needs AllowDelete: deletion has a switch of its own.');
    expect(refusal({ action: 'delete', mode: 'enforce', allowDelete: 'no' })).toContain('Action needs AllowDelete');
  });

  it('relates numbers also where the name of the table is not known yet, and says nothing of what is not', () => {
    const stack = new Stack(app(), 'Own');
    const unknown = (id: string) => new CfnParameter(stack, id, { type: 'String' }).valueAsString;
    const props = { ...PROPS, recordTableName: unknown('Table'), stateAttribute: unknown('State') };
    const pipeline = (more: Partial<LedgersweepPipelineProps>) =>
      new LedgersweepPipeline(stack, `Pipeline${stack.node.children.length}`, { ...props, ...more });
    expect(() => pipeline({ recordsPerSecond: 16 })).toThrow(/^The retention.*\n- RecordsPerSecond is too low[^\n]*$/);
    expect(() => pipeline({ holdAttributes: ['status'] })).not.toThrow();
    expect(() => pipeline({ action: unknown('Action') as 'delete' })).not.toThrow();
  });

  it('takes a list that only the deployment knows', () => {
    const stack = new Stack(app(), 'Own');
    const holds = new CfnParameter(stack, 'Holds', { type: 'CommaDelimitedList' }).valueAsList;
    new LedgersweepPipeline(stack, 'Pipeline', { ...PROPS, holdAttributes: holds });
    expect(environment(Template.fromStack(stack)).SWEEP_HOLD_ATTRIBUTES).toEqual({
      'Fn::Join': [',', { Ref: 'Holds' }],
    });
  });

  it('says everything that is wrong in one error', () => {
    const message = refusal({
      policyId: 'not valid',
      retention: Duration.days(0),
      batchSize: 1001,
      expiredState: 'ACTIVE',
      indexPartitionValues: ['0'],
    });
    for (const part of [
      'PolicyId has the wrong form',
      'RetentionDays is out of range',
      'BatchSize is out of range',
      'EligibleState must differ from ExpiredState',
      'IndexPartitionValues needs RecordIndexName',
    ]) {
      expect(message).toContain(part);
    }
    expect(message.split('\n')).toHaveLength(6);
  });

  it.each([
    ['0 days', Duration.days(0)],
    ['36 hours', Duration.hours(36)],
    ['more days than a century has', Duration.days(36_501)],
    ['1e12 days', Duration.days(1e12)],
  ])('P25: refuses a retention of %s', (_, retention) => {
    expect(refusal({ retention })).toContain('RetentionDays');
  });

  it.each([
    ['policyId', { policyId: '' }],
    ['policyVersion', { policyVersion: '' }],
    ['recordTableName', { recordTableName: '' }],
    ['timestampAttribute', { timestampAttribute: '' }],
  ])('P25: refuses a blank %s', (key, props) => {
    expect(refusal(props)).toContain(SETTINGS[key as 'policyId'].parameter);
  });

  it('P31: refuses a concurrency of 1 and says why', () => {
    expect(refusal({ consumerConcurrency: 1 })).toMatch(/ConsumerConcurrency.*cannot be limited to 1/);
  });

  it('P31: refuses a single attempt', () => {
    expect(refusal({ maxAttempts: 1 })).toContain('MaxAttempts is out of range');
  });

  it('P35: refuses a time budget that has no row of times', () => {
    expect(refusal({ batchTimeBudget: Duration.seconds(45) })).toContain('BatchTimeBudgetSeconds');
  });

  it.each([Number.NaN, 1.5, -1, Number.POSITIVE_INFINITY])('P64: refuses %s as a number', (batchSize) => {
    expect(refusal({ batchSize })).toContain('BatchSize');
  });

  it('P64: refuses numbers and durations that only the deployment knows', () => {
    const stack = new Stack(app(), 'Own');
    const parameter = new CfnParameter(stack, 'Days', { type: 'Number' });
    expect(refusal({ batchSize: parameter.valueAsNumber })).toMatch(/BatchSize.*known only at deployment/);
    expect(refusal({ retention: Duration.seconds(Token.asNumber({ Ref: 'Days' })) })).toMatch(
      /RetentionDays.*known only at deployment/,
    );
  });

  it('refuses list entries that would be read as two, or as none', () => {
    expect(refusal({ holdAttributes: ['a,b'] })).toContain('HoldAttributes has an entry');
    expect(refusal({ recordIndexName: 'byActivity', indexPartitionValues: [''] })).toContain(
      'IndexPartitionValues has an entry',
    );
  });

  it('refuses an expiry that would overwrite a key, the timestamp or the tenant', () => {
    expect(refusal({ expiredAtAttribute: 'lastActivityAt' })).toContain('must differ from TimestampAttribute');
    expect(refusal({ operationKeyAttribute: 'id' })).toContain('must differ from PartitionKeyAttribute');
    expect(refusal({ tenantAttribute: 'status' })).toContain('must differ from TenantAttribute');
  });

  it('refuses settings that Lambda has no room for', () => {
    const many = Array.from({ length: 150 }, (_, n) => `partition-value-${n}`);
    expect(refusal({ recordIndexName: 'byActivity', indexPartitionValues: many })).toContain('bytes');
  });

  it('takes the name of a table of the same app', () => {
    const stack = new Stack(app(), 'Own');
    const table = new Table(stack, 'Accounts', { partitionKey: { name: 'id', type: AttributeType.STRING } });
    new LedgersweepPipeline(stack, 'Pipeline', { ...PROPS, recordTableName: table.tableName });
    expect(rendered(environment(Template.fromStack(stack)).SWEEP_RECORD_TABLE_NAME)).toBe('<Accounts>');
  });

  it('stands twice in one stack, each with a work queue of its own', () => {
    const stack = new Stack(app(), 'Own');
    new LedgersweepPipeline(stack, 'First', PROPS);
    new LedgersweepPipeline(stack, 'Second', { ...PROPS, policyId: 'other' });
    const queues = Template.fromStack(stack).findResources('AWS::SQS::Queue');
    const names = Object.values(queues).flatMap(({ Properties }) => Properties.QueueName ?? []);
    expect(new Set(names).size).toBe(2);
  });

  it('keeps the name of the work queue within what SQS takes', () => {
    const stack = new Stack(app(), 'Own', { stackName: 'a'.repeat(128) });
    new LedgersweepPipeline(stack, 'Pipeline', PROPS);
    const { QueueName } = resource(Template.fromStack(stack), 'AWS::SQS::Queue', 'WorkQueue').Properties;
    expect(QueueName).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
    expect(QueueName).toMatch(/-work-[0-9a-f]{8}$/);
  });

  it('is found by the command line when its outputs are added', () => {
    const stack = new Stack(app(), 'Own');
    const pipeline = new LedgersweepPipeline(stack, 'Pipeline', PROPS);
    new PipelineOutputs(stack, 'Outputs', pipeline);
    const { Outputs } = Template.fromStack(stack).toJSON();
    expect(Outputs).toMatchObject({ PolicyId: { Value: 'inactive-accounts' }, Mode: { Value: 'report-only' } });
  });
});
