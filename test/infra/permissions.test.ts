import { CfnParameter, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { LedgersweepPipeline } from '../../lib/cdk/index.ts';
import { Deployment } from './cloudformation.ts';
import { app, PROPS, pipelineTemplate, plainName, rendered, resource, resources, stackTemplate } from './synthesis.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Effect: string;
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

interface Grant {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  /** The condition of the template under which the role has it. */
  readonly condition: string | undefined;
}

const template = stackTemplate();
const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

/** Every action on every resource of one of the policies for people; `if` where a condition is on it. */
function peopleMay(synthesised: Template, name: string): Record<string, string[]> {
  const rows: Record<string, string[]> = {};
  for (const { Action, Resource, Condition } of peopleStatements(synthesised, name)) {
    for (const on of list(Resource)) {
      const row = Condition === undefined ? rendered(on) : `${rendered(on)} if`;
      rows[row] = [...(rows[row] ?? []), ...list(Action)].sort();
    }
  }
  return rows;
}

function peopleStatements(synthesised: Template, name: string): readonly Statement[] {
  const { PolicyDocument } = resource(synthesised, 'AWS::IAM::ManagedPolicy', name).Properties;
  return (PolicyDocument as { readonly Statement: readonly Statement[] }).Statement;
}

/** Every single right that a template gives to a role. */
function grantsOf(synthesised: Template): readonly Grant[] {
  return Object.values(resources(synthesised, 'AWS::IAM::Policy')).flatMap(({ Properties, Condition }) => {
    const { Statement } = Properties.PolicyDocument as { Statement: readonly Statement[] };
    const condition = Condition === undefined ? undefined : plainName(Condition);
    return (Properties.Roles as readonly unknown[]).flatMap((role) =>
      Statement.flatMap((statement) =>
        list(statement.Action).flatMap((action) =>
          list(statement.Resource).map((on) => ({
            role: rendered(role).slice(1, -1),
            action,
            resource: rendered(on),
            condition,
          })),
        ),
      ),
    );
  });
}

const grants = grantsOf(template);
const RECORDS = 'arn:<AWS::Partition>:dynamodb:<AWS::Region>:<AWS::AccountId>:table/<RecordTableName>';
const RECORD_INDEX = `${RECORDS}/index/<RecordIndexName>`;

const MAPPING = 'arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:event-source-mapping:<ConsumerMapping>';

/** What a role may always do, and under a condition, as actions by resource. */
function table(role: string, condition?: string): Record<string, string[]> {
  const rows: Record<string, string[]> = {};
  for (const grant of grants.filter((each) => each.role === role && each.condition === condition)) {
    rows[grant.resource] = [...(rows[grant.resource] ?? []), grant.action.replace(/^(dynamodb|sqs):/, '')].sort();
  }
  return rows;
}

const LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const READ_SECRET = ['secretsmanager:GetSecretValue'];
const RECEIVE = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'];

describe('least privilege', () => {
  it('gives the dispatcher the ledger, the work queue, the records to read, and the consumer to ask', () => {
    expect(table('DispatcherRole')).toEqual({
      '<DispatcherLogGroup>': LOGS,
      '<TerminalLog>': LOGS,
      '<LedgerTable>': ['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
      '<LedgerTable>/index/open': ['Query'],
      [RECORDS]: ['DescribeTable', 'Query', 'Scan'],
      '<WorkQueue>': ['SendMessage'],
      '<MissedStartsQueue>': ['SendMessage'],
      '<SigningSecret>': READ_SECRET,
      '<ConsumerFunction>': ['lambda:InvokeFunction'],
    });
  });

  it('gives the dispatcher the named index, and only where one is named', () => {
    expect(table('DispatcherRole', 'IndexGiven')).toEqual({ [RECORD_INDEX]: ['Query', 'Scan'] });
    expect(Object.entries(template.toJSON().Conditions).find(([id]) => plainName(id) === 'IndexGiven')?.[1]).toEqual({
      'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'RecordIndexName' }, ''] }],
    });
  });

  it('gives the consumer its queue to read, and the dead-letter queue to write', () => {
    expect(table('ConsumerRole')).toEqual({
      '<ConsumerLogGroup>': LOGS,
      '<TerminalLog>': LOGS,
      '<LedgerTable>': ['BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem'],
      '<IdempotencyTable>': ['DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'],
      '<WorkQueue>': RECEIVE,
      '<DeadLetterQueue>': ['SendMessage'],
      '<SigningSecret>': READ_SECRET,
    });
  });

  it('lets the consumer update records only where the mode is another one than report-only', () => {
    expect(table('ConsumerRole', 'MayWriteRecords')).toEqual({ [RECORDS]: ['GetItem', 'PartiQLUpdate', 'UpdateItem'] });
    const conditions = Object.entries(template.toJSON().Conditions);
    expect(conditions.find(([id]) => plainName(id) === 'MayWriteRecords')?.[1]).toEqual({
      'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'Mode' }, 'report-only'] }],
    });
  });

  it('lets the consumer delete records only where its own switch allows it besides', () => {
    expect(table('ConsumerRole', 'MayDeleteRecords')).toEqual({ [RECORDS]: ['DeleteItem', 'PartiQLDelete'] });
    const conditions = Object.fromEntries(
      Object.entries(template.toJSON().Conditions).map(([id, condition]) => [plainName(id), condition]),
    );
    const both = conditions.MayDeleteRecords as { 'Fn::And': { Condition: string }[] };
    expect(both['Fn::And'].map(({ Condition }) => plainName(Condition))).toEqual([
      'MayWriteRecords',
      'DeletionAllowed',
    ]);
    expect(conditions.DeletionAllowed).toEqual({ 'Fn::Equals': [{ Ref: 'AllowDelete' }, 'yes'] });
  });

  it('gives redrive the ledger and both queues', () => {
    expect(table('RedriveRole')).toEqual({
      '<RedriveLogGroup>': LOGS,
      '<TerminalLog>': LOGS,
      '<LedgerTable>': ['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
      '<LedgerTable>/index/open': ['Query'],
      '<DeadLetterQueue>': [...RECEIVE, 'SendMessage'].sort(),
      '<WorkQueue>': ['GetQueueAttributes', 'SendMessage'],
      '<SigningSecret>': READ_SECRET,
      [MAPPING]: ['lambda:UpdateEventSourceMapping'],
    });
  });

  it('gives the reconciler the ledger, both queues, and the dispatcher to call', () => {
    expect(table('ReconcilerRole')).toEqual({
      '<ReconcilerLogGroup>': LOGS,
      '<TerminalLog>': LOGS,
      '<LedgerTable>': ['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
      '<LedgerTable>/index/open': ['Query'],
      '<DeadLetterQueue>': [...RECEIVE, 'SendMessage'].sort(),
      '<WorkQueue>': ['GetQueueAttributes', 'SendMessage'],
      '<SigningSecret>': READ_SECRET,
      '<DispatcherFunction>': ['lambda:InvokeFunction'],
      [MAPPING]: ['lambda:UpdateEventSourceMapping'],
    });
  });

  it('gives the scheduler one function each, and the inbox of missed starts', () => {
    expect(table('ScheduleRole')).toEqual({
      '<DispatcherFunction>': ['lambda:InvokeFunction'],
      '<MissedStartsQueue>': ['SendMessage'],
    });
    expect(table('ReconcileScheduleRole')).toEqual({ '<ReconcilerFunction>': ['lambda:InvokeFunction'] });
  });

  it('knows no other role than these', () => {
    const ROLES = [
      'DispatcherRole',
      'ConsumerRole',
      'RedriveRole',
      'ReconcilerRole',
      'ScheduleRole',
      'ReconcileScheduleRole',
    ];
    expect(Object.keys(resources(template, 'AWS::IAM::Role')).map(plainName).sort()).toEqual([...ROLES].sort());
    expect([...new Set(grants.map(({ role }) => role))].sort()).toEqual([...ROLES].sort());
  });
});

describe('the construct, whose mode is known at synthesis', () => {
  const grantsUnder = (props: Parameters<typeof pipelineTemplate>[0]) =>
    grantsOf(pipelineTemplate(props)).filter(({ resource }) => resource.includes(':table/accounts'));

  it('has no right to write records in its template for report-only', () => {
    expect(grantsUnder({}).map(({ role }) => role)).toEqual(['DispatcherRole', 'DispatcherRole', 'DispatcherRole']);
  });

  it('has it, with no condition, for enforce', () => {
    const consumer = grantsUnder({ mode: 'enforce' }).filter(({ role }) => role === 'ConsumerRole');
    expect(consumer.map(({ action, condition }) => [action, condition])).toEqual([
      ['dynamodb:GetItem', undefined],
      ['dynamodb:PartiQLUpdate', undefined],
      ['dynamodb:UpdateItem', undefined],
    ]);
  });

  it('has the right to delete them only with both, and with no condition then', () => {
    const deletes = (props: Parameters<typeof pipelineTemplate>[0]) =>
      grantsUnder(props).filter(({ action }) => /Delete/.test(action));
    expect(deletes({ mode: 'enforce' })).toEqual([]);
    expect(deletes({ allowDelete: 'yes' })).toEqual([]);
    expect(deletes({ mode: 'enforce', allowDelete: 'no' })).toEqual([]);
    const granted = deletes({ mode: 'enforce', allowDelete: 'yes' });
    expect(granted.map(({ role, action, condition }) => [role, action, condition])).toEqual([
      ['ConsumerRole', 'dynamodb:DeleteItem', undefined],
      ['ConsumerRole', 'dynamodb:PartiQLDelete', undefined],
    ]);
  });

  it('leaves to the deployment what only the deployment knows', () => {
    const stack = new Stack(app(), 'Own');
    const allow = new CfnParameter(stack, 'Allow', { type: 'String' }).valueAsString as 'no' | 'yes';
    new LedgersweepPipeline(stack, 'Pipeline', { ...PROPS, mode: 'enforce', allowDelete: allow });
    const deletes = grantsOf(Template.fromStack(stack)).filter(({ action }) => action === 'dynamodb:PartiQLDelete');
    expect(deletes.map(({ role, condition }) => [role, condition])).toEqual([['ConsumerRole', 'DeletionAllowed']]);
  });

  it('reads the index that is named', () => {
    const index = grantsUnder({ recordIndexName: 'byActivity' }).filter(({ resource }) => resource.includes('/index/'));
    expect(index.map(({ action }) => action)).toEqual(['dynamodb:Query', 'dynamodb:Scan']);
  });
});

describe('policies for people', () => {
  const POLICIES = ['ReaderPolicy', 'OperatorPolicy'];
  const LOOK = ['logs:FilterLogEvents', 'logs:GetLogEvents', 'logs:GetQueryResults', 'logs:StartQuery'];
  const THIS_STACK = `arn:<AWS::Partition>:cloudformation:<AWS::Region>:<AWS::AccountId>:stack/<AWS::StackName>/*`;
  const READER = {
    [THIS_STACK]: ['cloudformation:DescribeStacks'],
    '<LedgerTable>': ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'],
    '<LedgerTable>/index/open': ['dynamodb:Query'],
    [`${RECORDS} if`]: ['dynamodb:GetItem'],
    '<WorkQueue>': ['sqs:GetQueueAttributes'],
    '<DeadLetterQueue>': ['sqs:GetQueueAttributes'],
    '<MissedStartsQueue>': ['sqs:GetQueueAttributes'],
    '<DispatcherLogGroup>': LOOK,
    '<ConsumerLogGroup>': LOOK,
    '<RedriveLogGroup>': LOOK,
    '<ReconcilerLogGroup>': LOOK,
    '<TerminalLog>': LOOK,
  };

  it('let a reader read what `sweep` shows', () => {
    expect(peopleMay(template, 'ReaderPolicy')).toEqual(READER);
  });

  it('let an operator act through the two functions, and write nothing himself', () => {
    expect(peopleMay(template, 'OperatorPolicy')).toEqual({
      ...READER,
      '<RedriveFunction>': ['lambda:InvokeFunction'],
      '<DispatcherFunction>': ['lambda:InvokeFunction'],
    });
  });

  it.each(POLICIES)('let nobody with the %s read another attribute of a record than the policy names', (name) => {
    const held = new Deployment({ HoldAttributes: 'legalHold,dispute', TenantAttribute: 'team' });
    const { PolicyDocument } = held.resources('AWS::IAM::ManagedPolicy')[name] ?? {};
    const { Statement } = PolicyDocument as { readonly Statement: readonly Statement[] };
    expect(Statement.flatMap(({ Condition }) => Condition ?? [])).toEqual([
      {
        'ForAllValues:StringEquals': {
          'dynamodb:Attributes': [
            ...['id', '', 'team', 'lastActivity', 'status', 'expiredAt', 'sweepOperationKey'],
            ...['legalHold', 'dispute'],
          ],
        },
        StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
      },
    ]);
  });

  it.each(POLICIES)(
    'let whoever has the %s write nothing, and hold no wildcard but for the id of the stack',
    (name) => {
      const rows = Object.entries(peopleMay(template, name));
      const actions = rows.flatMap(([, row]) => row).filter((action) => action !== 'lambda:InvokeFunction');
      expect(
        actions.filter((action) => !/^[a-z]+:(Describe|BatchGet|Get|Query|Filter|StartQuery)/.test(action)),
      ).toEqual([]);
      expect(rows.flat(2).filter((text) => text.includes('*'))).toEqual([THIS_STACK]);
    },
  );

  it('fit into what IAM takes of a policy, where the names are as long as an environment has room for', () => {
    const parameters = Object.keys(template.toJSON().Parameters as object);
    const lengthOf = (ref: string) => (parameters.includes(ref) ? 236 : ref.startsWith('AWS::') ? 20 : 110);
    const document = JSON.stringify(peopleStatements(template, 'OperatorPolicy'), (_, value: object | string) => {
      if (typeof value !== 'object') return value;
      if ('Fn::GetAtt' in value) return 'x'.repeat(170);
      if ('Ref' in value) return 'x'.repeat(lengthOf(String(value.Ref)));
      return 'Fn::Join' in value ? (value['Fn::Join'] as readonly [string, object])[1] : value;
    });
    expect(document.length).toBeLessThan(6_144);
  });

  it('are attached to nobody: that is for the account to decide', () => {
    for (const { Properties } of Object.values(resources(template, 'AWS::IAM::ManagedPolicy'))) {
      for (const who of ['Roles', 'Users', 'Groups']) expect(Properties).not.toHaveProperty(who);
    }
  });
});

describe('what no role may do', () => {
  it.each([
    ['the stack', grants],
    [
      'the construct',
      grantsOf(pipelineTemplate({ mode: 'enforce', allowDelete: 'yes', recordIndexName: 'byActivity' })),
    ],
  ])('hold a wildcard in %s', (_, all) => {
    expect(all.length).toBeGreaterThan(50);
    expect(all.filter(({ action, resource }) => action.includes('*') || resource.includes('*'))).toEqual([]);
  });

  it('have managed policies, which are wildcards by another name', () => {
    for (const { Properties } of Object.values(resources(template, 'AWS::IAM::Role'))) {
      expect(Properties).not.toHaveProperty('ManagedPolicyArns');
      expect(Properties).not.toHaveProperty('Policies');
    }
  });

  it('write a record, but for the consumer', () => {
    const WRITES = /:(Put|Update|Delete|BatchWrite|PartiQL(Insert|Update|Delete))/;
    const writers = grants.filter(({ action, resource }) => resource.startsWith(RECORDS) && WRITES.test(action));
    expect(new Set(writers.map(({ role, condition }) => `${role} if ${condition}`))).toEqual(
      new Set(['ConsumerRole if MayWriteRecords', 'ConsumerRole if MayDeleteRecords']),
    );
  });

  it('remove an item of the ledger, or a record without its switch', () => {
    const removals = grants.filter(({ action }) => /Delete(Item|Table)|PartiQLDelete|BatchWrite/.test(action));
    expect(new Set(removals.map(({ resource, condition }) => `${resource} if ${condition}`))).toEqual(
      new Set(['<IdempotencyTable> if undefined', `${RECORDS} if MayDeleteRecords`]),
    );
  });

  it('touch the record table, for redrive and the reconciler', () => {
    const touching = grants.filter(({ resource }) => resource.includes('<RecordTableName>'));
    expect(new Set(touching.map(({ role }) => role))).toEqual(new Set(['DispatcherRole', 'ConsumerRole']));
  });

  it('P63: send to the queue that it consumes from', () => {
    const send = grants.filter(({ role, action }) => role === 'ConsumerRole' && action === 'sqs:SendMessage');
    expect(send.map(({ resource }) => resource)).toEqual(['<DeadLetterQueue>']);
  });

  it('P67: use a key, while there is no customer key', () => {
    expect(grants.filter(({ action }) => action.startsWith('kms:'))).toEqual([]);
  });
});

describe('who may take a role', () => {
  it('is one service each, the scheduler only on behalf of this account', () => {
    const trust = Object.entries(resources(template, 'AWS::IAM::Role')).map(([id, { Properties }]) => {
      const { Statement } = Properties.AssumeRolePolicyDocument as {
        Statement: { Principal: { Service: string }; Condition?: unknown }[];
      };
      expect(Statement).toHaveLength(1);
      return [plainName(id), Statement[0]?.Principal.Service, Statement[0]?.Condition];
    });
    const ours = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
    expect(trust).toEqual([
      ['ConsumerRole', 'lambda.amazonaws.com', undefined],
      ['DispatcherRole', 'lambda.amazonaws.com', undefined],
      ['RedriveRole', 'lambda.amazonaws.com', undefined],
      ['ReconcilerRole', 'lambda.amazonaws.com', undefined],
      ['ScheduleRole', 'scheduler.amazonaws.com', ours],
      ['ReconcileScheduleRole', 'scheduler.amazonaws.com', ours],
    ]);
  });

  it('is not asked for by any function url or permission for other accounts', () => {
    expect(resources(template, 'AWS::Lambda::Permission')).toEqual({});
    expect(resources(template, 'AWS::Lambda::Url')).toEqual({});
  });
});
