import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, CreateStackCommand, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { PurgeQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditView } from '../../lib/core/redrive/views.ts';
import { clientConfig, environmentOf } from '../../lib/local/access.ts';
import { LOCAL_HOME, REPOSITORY } from '../../lib/local/paths.ts';
import type { Item } from '../../lib/local/records.ts';
import type { OwnPipeline } from '../../lib/local/up/bring-up.ts';
import { close, startRun, waitForUnits } from '../../lib/local/up/follow.ts';
import { outputOf } from '../../lib/local/up/pipeline.ts';
import { readPolicy } from '../../lib/local/up/policy.ts';
import { waitFor } from '../../lib/local/wait.ts';
import { assumeRole } from '../helpers/assume-role.ts';
import { nameUnderTest } from '../helpers/aws-under-test.ts';
import { type Ended, runNode } from '../helpers/local-run.ts';
import { bringUpUnderTest } from '../helpers/pipeline-under-test.ts';

const RUN_ID = 'people.v1.20260101T000000Z';
const TABLE = nameUnderTest('people');
const Key = { id: { S: 'account-1' } };
const ITEMS: readonly Item[] = Array.from({ length: 10 }, (_, number) => ({
  id: { S: `account-${number}` },
  tenant: { S: 'tenant' },
  status: { S: 'ACTIVE' },
  lastActivity: { S: '2020-01-01T00:00:00.000Z' },
  name: { S: 'nobody needs to know' },
}));

const settings = (() => {
  const parsed = readPolicy({ policyId: 'people', recordTableName: TABLE, retentionDays: '1461', mode: 'enforce' });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join(' '));
  return parsed.settings;
})();

type Who = 'Reader' | 'Operator';

let home: string;
let pipeline: OwnPipeline;
let roles: ReadonlyMap<string, string>;

beforeAll(async () => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
  pipeline = await bringUpUnderTest({ home, settings, items: ITEMS, progress: () => {} });
  roles = await addRoles();
  const firing = { scheduleName: out('ScheduleName'), scheduledTime: new Date('2026-01-01T00:00:00Z') };
  const run = await startRun(pipeline, RUN_ID, firing, () => {});
  await waitForUnits(pipeline, run, () => {});
  await close(pipeline, RUN_ID);
});

afterAll(async () => {
  await pipeline?.aws.stop();
  rmSync(home, { recursive: true, force: true });
});

const out = (name: string) => outputOf(pipeline.outputs, name);

/** A role for each of the two policies, with that policy and nothing else; their ARNs. */
async function addRoles(): Promise<ReadonlyMap<string, string>> {
  const client = new CloudFormationClient(clientConfig(pipeline.aws));
  const trust = { Effect: 'Allow', Principal: { AWS: pipeline.aws.account }, Action: 'sts:AssumeRole' };
  const role = (who: Who) => ({
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [trust] },
      ManagedPolicyArns: [out(`${who}PolicyArn`)],
    },
  });
  const arn = (who: Who) => ({ Value: { 'Fn::GetAtt': [who, 'Arn'] } });
  const template = {
    Resources: { Reader: role('Reader'), Operator: role('Operator') },
    Outputs: { Reader: arn('Reader'), Operator: arn('Operator') },
  };
  const made = { StackName: nameUnderTest('People'), Capabilities: ['CAPABILITY_IAM' as const] };
  await client.send(new CreateStackCommand({ ...made, TemplateBody: JSON.stringify(template) }));
  return waitFor('the roles', 60_000, async () => {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: nameUnderTest('People') }));
    if (Stacks?.[0]?.StackStatus !== 'CREATE_COMPLETE') return undefined;
    return new Map(Stacks[0].Outputs?.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
  });
}

function configOf(who: Who) {
  return assumeRole(clientConfig(pipeline.aws), roles.get(who), who.toLowerCase());
}

async function sweepAs(who: Who, ...args: readonly string[]): Promise<Ended> {
  const { accessKeyId, secretAccessKey, sessionToken } = (await configOf(who)).credentials;
  return runNode([join(REPOSITORY, 'bin/sweep.ts'), ...args, '--stack', pipeline.stackName, '--json'], {
    ...environmentOf(pipeline.aws),
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    // It would win over them.
    AWS_PROFILE: undefined,
  });
}

const answer = (call: Promise<unknown>) =>
  call.then(
    () => 'allowed',
    (error: Error) => (error.name.startsWith('AccessDenied') ? 'denied' : error.name),
  );

/** What these credentials may do with calls of their own, past the two functions and the command line. */
async function pastTheDoor(who: Who): Promise<Record<string, string>> {
  const config = await configOf(who);
  const dynamo = new DynamoDBClient(config);
  const sqs = new SQSClient(config);
  const lambda = new LambdaClient(config);
  const record = (more: object) => answer(dynamo.send(new GetItemCommand({ TableName: TABLE, Key, ...more })));
  const invoke = (name: string) =>
    answer(lambda.send(new InvokeCommand({ FunctionName: out(`${name}FunctionName`), InvocationType: 'DryRun' })));
  const named = { ProjectionExpression: '#state', ExpressionAttributeNames: { '#state': 'status' } };
  const Item = { pk: { S: 'POLICY#people' }, sk: { S: 'CONTROL' } };
  const update = { TableName: TABLE, Key, UpdateExpression: 'REMOVE never' };
  return {
    'attributes of the policy': await record(named),
    'a whole record': await record({}),
    'another attribute': await record({ ProjectionExpression: 'id, #n', ExpressionAttributeNames: { '#n': 'name' } }),
    'a write of a record': await answer(dynamo.send(new UpdateItemCommand(update))),
    'a write of the ledger': await answer(dynamo.send(new PutItemCommand({ TableName: out('LedgerTableName'), Item }))),
    'a message': await answer(
      sqs.send(new SendMessageCommand({ QueueUrl: out('WorkQueueUrl'), MessageBody: 'forged' })),
    ),
    'a purge': await answer(sqs.send(new PurgeQueueCommand({ QueueUrl: out('DeadLetterQueueUrl') }))),
    redrive: await invoke('Redrive'),
    dispatcher: await invoke('Dispatcher'),
    consumer: await invoke('Consumer'),
    reconciler: await invoke('Reconciler'),
  };
}

const READER_MAY = {
  ...{ 'attributes of the policy': 'allowed', 'a whole record': 'denied', 'another attribute': 'denied' },
  ...{ 'a write of a record': 'denied', 'a write of the ledger': 'denied', 'a message': 'denied', 'a purge': 'denied' },
  ...{ redrive: 'denied', dispatcher: 'denied', consumer: 'denied', reconciler: 'denied' },
};

describe('whoever has the reader policy and no other', () => {
  it.each([
    [['runs']],
    [['show', RUN_ID]],
    [['report', RUN_ID]],
    [['quarantine']],
    [['audit', RUN_ID]],
    [['audit', '--policy']],
  ])('reads %j', async (args) => {
    expect(await sweepAs('Reader', ...args)).toMatchObject({ code: 0, err: '' });
  });

  it('is told of a record how it stands now', async () => {
    const { code, out } = await sweepAs('Reader', 'explain', RUN_ID, 'account-1');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ recordNow: { kind: 'present', state: 'EXPIRED', carriesOurKey: true } });
  });

  it('cannot act, not even by the command line', async () => {
    const paused = await sweepAs('Reader', 'pause', '--reason', 'to see');
    expect(paused.code).toBe(1);
    expect(paused.err).toContain('lambda:InvokeFunction');
    expect(await pastTheDoor('Reader')).toEqual(READER_MAY);
  });
});

describe('whoever has the operator policy and no other', () => {
  it('acts under the name that AWS knows', async () => {
    expect(await sweepAs('Operator', 'pause', '--reason', 'to see')).toMatchObject({ code: 0 });
    expect(await sweepAs('Operator', 'resume', '--reason', 'seen', '--yes')).toMatchObject({ code: 0 });
    const { entries, verified } = JSON.parse((await sweepAs('Operator', 'audit', '--policy')).out) as AuditView;
    expect(verified).toBe(true);
    expect(entries.map(({ act, reason }) => [act, reason])).toEqual([
      ['pause', 'to see'],
      ['resume', 'seen'],
    ]);
    for (const { actor } of entries) expect(actor).toMatch(/:assumed-role\/.*\/operator$/);
  });

  it('writes nothing past the two functions', async () => {
    expect(await pastTheDoor('Operator')).toEqual({ ...READER_MAY, redrive: 'allowed', dispatcher: 'allowed' });
  });
});
