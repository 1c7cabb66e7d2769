import { Duration } from 'aws-cdk-lib';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { SETTING_KEYS } from '../../lib/core/policy/settings.ts';
import { pipelineTemplate, plainName, rendered, resource, resources, stackTemplate } from './synthesis.ts';

const template = stackTemplate();
const functions = resources(template, 'AWS::Lambda::Function');
const NAMES = ['Consumer', 'Dispatcher', 'Redrive', 'Reconciler'];

function variables(name: string): Record<string, unknown> {
  const { Environment } = resource(template, 'AWS::Lambda::Function', `${name}Function`).Properties;
  return (Environment as { Variables: Record<string, unknown> }).Variables;
}

describe('functions', () => {
  it('are four, and none that the CDK adds for itself', () => {
    expect(Object.keys(functions).map(plainName)).toEqual(NAMES.map((name) => `${name}Function`));
    const types = Object.values(template.toJSON().Resources as Record<string, { Type: string }>).map(
      ({ Type }) => Type,
    );
    expect(types.filter((type) => type.startsWith('Custom::') || type === 'AWS::CDK::Metadata')).toEqual([]);
  });

  it('P35: have the runtime, architecture and memory said outright', () => {
    const sizes = Object.fromEntries(
      Object.entries(functions).map(([id, { Properties }]) => [plainName(id), Properties.MemorySize]),
    );
    expect(sizes).toEqual({
      DispatcherFunction: 1024,
      ConsumerFunction: 512,
      RedriveFunction: 512,
      ReconcilerFunction: 512,
    });
    template.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      Timeout: Match.anyValue(),
      TracingConfig: Match.absent(),
    });
  });

  it('have their time said outright', () => {
    const timeout = (name: string) => resource(template, 'AWS::Lambda::Function', name).Properties.Timeout;
    expect(timeout('DispatcherFunction')).toBe(900);
    expect(timeout('RedriveFunction')).toBe(900);
    expect(timeout('ReconcilerFunction')).toBe(300);
  });

  it('have a log group each, with an end to it', () => {
    template.resourceCountIs('AWS::Logs::LogGroup', NAMES.length + 1);
    const short = pipelineTemplate({ logRetention: Duration.days(14) });
    for (const name of NAMES) {
      const retention = (of: typeof template) => resource(of, 'AWS::Logs::LogGroup', `${name}LogGroup`).Properties;
      expect(retention(template).RetentionInDays).toEqual({ Ref: 'LogRetentionDays' });
      expect(retention(short).RetentionInDays).toBe(14);
      const { LoggingConfig } = resource(template, 'AWS::Lambda::Function', `${name}Function`).Properties;
      expect(rendered((LoggingConfig as { LogGroup: unknown }).LogGroup)).toBe(`<${name}LogGroup>`);
    }
  });

  it('tell what ended to one log that is kept for its own time', () => {
    const { Properties, DeletionPolicy } = resource(template, 'AWS::Logs::LogGroup', 'TerminalLog');
    expect([Properties.RetentionInDays, DeletionPolicy]).toEqual([{ Ref: 'TerminalLogRetentionDays' }, 'Retain']);
    const long = pipelineTemplate({ terminalLogRetention: Duration.days(3653) });
    expect(resource(long, 'AWS::Logs::LogGroup', 'TerminalLog').Properties.RetentionInDays).toBe(3653);
  });

  const EVERY = ['LEDGER_TABLE', 'SIGNING_SECRET_ARN', 'TERMINAL_LOG_GROUP', 'WORK_QUEUE_URL'];

  it.each([
    ['Dispatcher', ['CONSUMER_FUNCTION']],
    ['Consumer', ['DEAD_LETTER_QUEUE_URL', 'IDEMPOTENCY_TABLE']],
    ['Redrive', ['CONSUMER_MAPPING_ID', 'DEAD_LETTER_QUEUE_URL']],
    ['Reconciler', ['CONSUMER_MAPPING_ID', 'DEAD_LETTER_QUEUE_URL', 'DISPATCHER_FUNCTION']],
  ])('tell %s where its own things are, besides the settings', (name, own) => {
    const expected = [...EVERY, ...own].sort();
    const names = Object.keys(variables(name)).filter((variable) => !variable.startsWith('SWEEP_'));
    expect(names.sort()).toEqual(expected);
    expect(Object.keys(variables(name))).toHaveLength(SETTING_KEYS.length + expected.length);
  });

  it('point each variable at what it says', () => {
    expect(
      Object.fromEntries(
        Object.entries({ ...variables('Dispatcher'), ...variables('Consumer'), ...variables('Reconciler') })
          .filter(([variable]) => !variable.startsWith('SWEEP_'))
          .map(([variable, value]) => [variable, rendered(value)]),
      ),
    ).toEqual({
      LEDGER_TABLE: '<LedgerTable>',
      IDEMPOTENCY_TABLE: '<IdempotencyTable>',
      WORK_QUEUE_URL: '<WorkQueue>',
      DEAD_LETTER_QUEUE_URL: '<DeadLetterQueue>',
      SIGNING_SECRET_ARN: '<SigningSecret>',
      CONSUMER_FUNCTION: '<ConsumerFunction>',
      CONSUMER_MAPPING_ID: '<ConsumerMapping>',
      TERMINAL_LOG_GROUP: '<TerminalLog>',
      DISPATCHER_FUNCTION: '<DispatcherFunction>',
    });
  });

  it.each([
    ['the stack', stackTemplate()],
    ['the construct', pipelineTemplate()],
  ])('P64: get no value from %s that was made of something not yet known', (_, synthesised) => {
    for (const { Properties } of Object.values(resources(synthesised, 'AWS::Lambda::Function'))) {
      const text = JSON.stringify(Properties);
      for (const trace of [/e\+\d+/, /undefined/, /NaN/, /\[object Object\]/, /\$\{Token/, /TOKEN\[/]) {
        expect(text).not.toMatch(trace);
      }
    }
  });
});

describe('asynchronous invocation', () => {
  it('P6: has its retries and its greatest age said for every function that is invoked that way', () => {
    const configs = Object.values(resources(template, 'AWS::Lambda::EventInvokeConfig')).map(({ Properties }) => [
      rendered(Properties.FunctionName),
      Properties.MaximumRetryAttempts,
      Properties.MaximumEventAgeInSeconds,
    ]);
    expect(configs).toEqual([
      ['<DispatcherFunction>', 2, 7200],
      ['<RedriveFunction>', 0, 60],
      ['<ReconcilerFunction>', 0, 300],
    ]);
  });

  it('leaves time for every try of the dispatcher', () => {
    const config = resource(
      template,
      'AWS::Lambda::EventInvokeConfig',
      'DispatcherFunctionEventInvokeConfig',
    ).Properties;
    const { Timeout } = resource(template, 'AWS::Lambda::Function', 'DispatcherFunction').Properties;
    const tries = Number(config.MaximumRetryAttempts) + 1;
    expect(Number(config.MaximumEventAgeInSeconds)).toBeGreaterThan(tries * Number(Timeout));
  });

  it('keeps a start that failed for good where a person finds it', () => {
    const config = resource(
      template,
      'AWS::Lambda::EventInvokeConfig',
      'DispatcherFunctionEventInvokeConfig',
    ).Properties;
    const { OnFailure } = config.DestinationConfig as { OnFailure: { Destination: unknown } };
    expect(rendered(OnFailure.Destination)).toBe('<MissedStartsQueue>');
  });
});

describe('outputs', () => {
  const outputs = template.toJSON().Outputs as Record<string, { Value: unknown; Export?: unknown }>;

  it('tell the command line everything it needs, under fixed names', () => {
    expect(Object.fromEntries(Object.entries(outputs).map(([name, { Value }]) => [name, rendered(Value)]))).toEqual({
      PolicyId: '<PolicyId>',
      PolicyVersion: '<PolicyVersion>',
      Mode: '<Mode>',
      Action: '<Action>',
      RecordTableName: '<RecordTableName>',
      LedgerTableName: '<LedgerTable>',
      IdempotencyTableName: '<IdempotencyTable>',
      WorkQueueUrl: '<WorkQueue>',
      DeadLetterQueueUrl: '<DeadLetterQueue>',
      MissedStartsQueueUrl: '<MissedStartsQueue>',
      SigningSecretArn: '<SigningSecret>',
      ScheduleName: '<Schedule>',
      ConsumerMappingId: '<ConsumerMapping>',
      DispatcherFunctionName: '<DispatcherFunction>',
      ConsumerFunctionName: '<ConsumerFunction>',
      RedriveFunctionName: '<RedriveFunction>',
      ReconcilerFunctionName: '<ReconcilerFunction>',
      TerminalLogGroupName: '<TerminalLog>',
      ReaderPolicyArn: '<ReaderPolicy>',
      OperatorPolicyArn: '<OperatorPolicy>',
      DispatcherRoleName: '<DispatcherRole>',
      ConsumerRoleName: '<ConsumerRole>',
      RedriveRoleName: '<RedriveRole>',
      ReconcilerRoleName: '<ReconcilerRole>',
    });
  });

  it('hold nothing secret and are no exports that would tie stacks together', () => {
    expect(JSON.stringify(outputs)).not.toContain('resolve:secretsmanager');
    for (const { Export } of Object.values(outputs)) expect(Export).toBeUndefined();
  });
});
