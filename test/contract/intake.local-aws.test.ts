import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, CreateLogGroupCommand, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MappingIntake } from '../../lib/aws/intake.ts';
import { InvokeCommand, SlimLambdaClient } from '../../lib/aws/lambda.ts';
import { createLog } from '../../lib/aws/log.ts';
import { systemClock } from '../../lib/aws/system.ts';
import { TerminalLog } from '../../lib/aws/terminal-log.ts';
import { clientConfig, trust } from '../../lib/local/access.ts';
import { startLocalAws } from '../../lib/local/server.ts';

const aws = await startLocalAws();
trust(aws);
afterAll(() => aws.stop());

const config = clientConfig(aws);
const sqs = new SQSClient(config);
const lambda = new SlimLambdaClient(config) as unknown as LambdaClient;

async function waiting(url: string): Promise<number> {
  const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...AttributeNames] }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}

const document = (statement: object) => ({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] });

const RECEIVING = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ChangeMessageVisibility'];

/** A function that takes every message of its queue. */
const TEMPLATE = {
  Resources: {
    Work: { Type: 'AWS::SQS::Queue' },
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: document({
          Action: 'sts:AssumeRole',
          Principal: { Service: 'lambda.amazonaws.com' },
        }),
        Policies: [{ PolicyName: 'own', PolicyDocument: document({ Action: RECEIVING, Resource: '*' }) }],
      },
    },
    Function: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
        Code: { ZipFile: 'exports.handler = async () => ({ batchItemFailures: [] });' },
      },
    },
    Mapping: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        FunctionName: { Ref: 'Function' },
        EventSourceArn: { 'Fn::GetAtt': ['Work', 'Arn'] },
        BatchSize: 5,
      },
    },
  },
  Outputs: {
    FunctionName: { Value: { Ref: 'Function' } },
    QueueUrl: { Value: { Ref: 'Work' } },
    MappingId: { Value: { Ref: 'Mapping' } },
  },
};

async function deploy(): Promise<Readonly<Record<string, string>>> {
  const stacks = new CloudFormationClient(config);
  const StackName = 'takes-all';
  const TemplateBody = JSON.stringify(TEMPLATE);
  await stacks.send(new CreateStackCommand({ StackName, TemplateBody, Capabilities: ['CAPABILITY_IAM'] }));
  const limits = { client: stacks, maxWaitTime: 60, minDelay: 1, maxDelay: 1 };
  await waitUntilStackCreateComplete(limits, { StackName });
  const { Stacks = [] } = await stacks.send(new DescribeStacksCommand({ StackName }));
  const outputs = Stacks[0]?.Outputs ?? [];
  return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}

describe('intake on the local AWS', () => {
  let url: string;
  let intake: MappingIntake;
  let functionName: string;
  beforeAll(async () => {
    const { QueueUrl = '', MappingId = '', FunctionName = '' } = await deploy();
    url = QueueUrl;
    functionName = FunctionName;
    intake = new MappingIntake(lambda, MappingId);
  });
  const send = () => sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'body' }));
  const taken = () => vi.waitFor(async () => expect(await waiting(url)).toBe(0), { timeout: 10_000 });

  it('lets messages wait while it is off, without a receive, and delivers them once it is on', async () => {
    const { QueueUrl: empty = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'empty' }));
    await send();
    await taken();
    await intake.set('off');
    await intake.set('off');
    await send();
    // Receives of our own, seconds apart by long polling an empty queue: nobody else's are counted between them.
    const counts: (string | undefined)[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          VisibilityTimeout: 0,
          MessageSystemAttributeNames: ['ApproximateReceiveCount'],
        }),
      );
      counts.push(Messages[0]?.Attributes?.ApproximateReceiveCount);
      await sqs.send(new ReceiveMessageCommand({ QueueUrl: empty, WaitTimeSeconds: 1 }));
    }
    expect(counts).toEqual(['1', '2', '3']);
    await intake.set('on');
    await taken();
  });

  it('its client invokes a function, and reads what it answers', async () => {
    const command = {
      FunctionName: functionName,
      InvocationType: 'RequestResponse',
      Payload: Buffer.from('{}'),
    } as const;
    const { StatusCode, FunctionError, Payload } = await lambda.send(new InvokeCommand(command));
    expect([StatusCode, FunctionError]).toEqual([200, undefined]);
    expect(JSON.parse(Buffer.from(Payload ?? []).toString())).toEqual({ batchItemFailures: [] });
  });

  it('says of a mapping that is not there that it will not be there next time either', async () => {
    const nowhere = new MappingIntake(lambda, '00000000-0000-0000-0000-000000000000');
    await expect(nowhere.set('off')).rejects.toMatchObject({ failure: { class: 'permanent' } });
  });
});

describe('terminal log on the local AWS', () => {
  const logs = new CloudWatchLogsClient(config);
  const groupName = '/ledgersweep/terminal';
  const PLENTY = { remainingMillis: () => 60_000 };
  const terminalOf = (group: string) =>
    new TerminalLog({ client: logs, clock: systemClock, groupName: group, functionName: 'Consumer' });

  it('arrives in its group, each process in a stream of its own, and only what is terminal', async () => {
    await logs.send(new CreateLogGroupCommand({ logGroupName: groupName }));
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
    for (const runId of ['one', 'two']) {
      const terminal = terminalOf(groupName);
      const log = createLog({ policyId: 'p' }, terminal);
      log.event('info', 'delivery', { runId });
      log.event('warn', 'unit_quarantined', { runId, unit: '3' });
      expect(await terminal.flush(PLENTY)).toEqual({ kind: 'flushed' });
      log.event('info', 'run_closed', { runId });
      expect(await terminal.flush(PLENTY)).toEqual({ kind: 'flushed' });
    }
    vi.unstubAllEnvs();
    const { events = [] } = await logs.send(new FilterLogEventsCommand({ logGroupName: groupName }));
    const lines = events
      .map(({ message = '' }) => JSON.parse(message))
      .map(({ message, runId }) => `${message} ${runId}`);
    expect(lines.toSorted()).toEqual([
      'run_closed one',
      'run_closed two',
      'unit_quarantined one',
      'unit_quarantined two',
    ]);
    expect(new Set(events.map(({ logStreamName }) => logStreamName)).size).toBe(2);
  });

  it('says what is wrong where there is no such group, and keeps the line', async () => {
    const terminal = terminalOf('/nowhere');
    terminal.add('{}');
    const error = 'ResourceNotFoundException';
    expect(await terminal.flush(PLENTY)).toEqual({ kind: 'failed', error, kept: 1, lost: 0 });
  });
});
