import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { pipelineTemplate, type Resource, resource, resources, stackTemplate } from './synthesis.ts';

const template = stackTemplate();

function schema({ Properties }: Resource): unknown {
  const { KeySchema, AttributeDefinitions, TableName, GlobalSecondaryIndexes } = Properties;
  return { KeySchema, AttributeDefinitions, TableName, GlobalSecondaryIndexes };
}

describe('tables', () => {
  // A logical id or key schema that changes replaces the table by an empty one, and all old messages become new work.
  it('P65: keep their logical ids, names and key schemas', () => {
    const tables = resources(template, 'AWS::DynamoDB::Table');
    expect(Object.fromEntries(Object.entries(tables).map(([id, table]) => [id, schema(table)]))).toEqual({
      PipelineLedgerTable39667874: {
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
          { AttributeName: 'openShard', AttributeType: 'S' },
          { AttributeName: 'openSort', AttributeType: 'S' },
        ],
        TableName: undefined,
        GlobalSecondaryIndexes: [
          {
            IndexName: 'open',
            KeySchema: [
              { AttributeName: 'openShard', KeyType: 'HASH' },
              { AttributeName: 'openSort', KeyType: 'RANGE' },
            ],
            Projection: {
              ProjectionType: 'INCLUDE',
              NonKeyAttributes: [
                'state',
                'status',
                'reason',
                'errorClass',
                'tenant',
                'generation',
                'notBefore',
                'since',
                'runId',
                'unit',
                'records',
                'attempts',
                'failureClass',
                'copiedAt',
                'copiedGeneration',
              ],
            },
          },
        ],
      },
      PipelineIdempotencyTable91F2F674: {
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        TableName: undefined,
        GlobalSecondaryIndexes: undefined,
      },
    });
  });

  it('P65: survive their stack, with recovery and deletion protection on', () => {
    template.allResources('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    });
  });

  it('let expire only what was given an end: answers, and the runs that are past their retention', () => {
    const ttl = Object.entries(resources(template, 'AWS::DynamoDB::Table')).map(([id, { Properties }]) => [
      id,
      Properties.TimeToLiveSpecification,
    ]);
    expect(Object.fromEntries(ttl)).toEqual({
      PipelineLedgerTable39667874: { AttributeName: 'expiresAt', Enabled: true },
      PipelineIdempotencyTable91F2F674: { AttributeName: 'expiration', Enabled: true },
    });
  });

  it('P53: key the open index by a shard, not by a state', () => {
    const [index] = resource(template, 'AWS::DynamoDB::Table', 'LedgerTable').Properties.GlobalSecondaryIndexes as {
      KeySchema: { AttributeName: string; KeyType: string }[];
    }[];
    expect(index?.KeySchema[0]).toEqual({ AttributeName: 'openShard', KeyType: 'HASH' });
  });

  it('do not include the record table: it belongs to its owner', () => {
    template.resourceCountIs('AWS::DynamoDB::Table', 2);
  });
});

describe('resources that hold something', () => {
  // A queue or a secret of another logical id is a new, empty one: messages in flight would be lost or not verify.
  it('P65: keep their logical ids', () => {
    const HOLDING = ['AWS::DynamoDB::Table', 'AWS::SQS::Queue', 'AWS::SecretsManager::Secret', 'AWS::Logs::LogGroup'];
    expect(HOLDING.flatMap((type) => Object.keys(resources(template, type)))).toEqual([
      'PipelineLedgerTable39667874',
      'PipelineIdempotencyTable91F2F674',
      'PipelineDeadLetterQueueF08023D6',
      'PipelineWorkQueueF87FBD97',
      'PipelineMissedStartsQueue96EFE19F',
      'PipelineSigningSecret7E4F54F6',
      'PipelineTerminalLogFECA2921',
      'PipelineConsumerLogGroupE7AEE49B',
      'PipelineDispatcherLogGroup869487F8',
      'PipelineRedriveLogGroup429D2354',
      'PipelineReconcilerLogGroupE6853A19',
    ]);
  });

  it('P65: are reached by functions and schedules that keep theirs', () => {
    const REACHING = ['AWS::Lambda::Function', 'AWS::Lambda::EventSourceMapping', 'AWS::Scheduler::Schedule'];
    expect(REACHING.flatMap((type) => Object.keys(resources(template, type)))).toEqual([
      'PipelineConsumerFunctionB31FCB30',
      'PipelineDispatcherFunction9F58096A',
      'PipelineRedriveFunctionE7C0D045',
      'PipelineReconcilerFunction029B58C7',
      'PipelineConsumerMapping8A8A3AB9',
      'PipelineScheduleA958415D',
      'PipelineReconcileSchedule6DFA13CE',
    ]);
  });
});

describe('signing secret', () => {
  it('is generated as a ring of one key, so no template ever holds it', () => {
    template.hasResourceProperties('AWS::SecretsManager::Secret', {
      GenerateSecretString: {
        SecretStringTemplate: '{"current":"k1"}',
        GenerateStringKey: 'k1',
        PasswordLength: 64,
        ExcludePunctuation: true,
      },
      SecretString: Match.absent(),
    });
  });
});

describe('throw-away stacks', () => {
  const thrownAway = stackTemplate({ 'ledgersweep:throwAway': true });

  it('take their tables and logs with them', () => {
    thrownAway.allResources('AWS::DynamoDB::Table', { DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' });
    thrownAway.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
    thrownAway.allResources('AWS::Logs::LogGroup', { DeletionPolicy: 'Delete' });
  });

  it('differ from lasting ones in nothing else', () => {
    const LIFESPAN =
      /"(DeletionPolicy|UpdateReplacePolicy)":"(Retain|Delete)"|"DeletionProtectionEnabled":(true|false)/g;
    const rest = (json: unknown) => JSON.stringify(json).replaceAll(LIFESPAN, '"lifespan"');
    expect(rest(thrownAway.toJSON())).toBe(rest(template.toJSON()));
  });

  it('are made by the word on the command line too, and by no other word', () => {
    expect(stackTemplate({ 'ledgersweep:throwAway': 'true' }).toJSON()).toEqual(thrownAway.toJSON());
    expect(stackTemplate({ 'ledgersweep:throwAway': 'false' }).toJSON()).toEqual(template.toJSON());
    expect(() => stackTemplate({ 'ledgersweep:throwAway': 'yes' })).toThrow('must be true or false');
  });

  it('cannot be asked for by a parameter', () => {
    expect(Object.keys(template.toJSON().Parameters).filter((name) => /throw|protect|retain/i.test(name))).toEqual([]);
  });
});

describe('the construct', () => {
  it('P65: keeps the logical ids that the stack has, in a scope of the same name', () => {
    const ids = Object.keys(resources(pipelineTemplate(), 'AWS::DynamoDB::Table'));
    expect(ids).toEqual(Object.keys(resources(template, 'AWS::DynamoDB::Table')));
  });
});
