import { type CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetEventSourceMappingCommand,
  LambdaClient,
  UpdateFunctionCodeCommand,
  waitUntilFunctionUpdatedV2,
} from '@aws-sdk/client-lambda';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { build } from 'esbuild';
import { parseInstant } from '../../lib/core/identity/instant.ts';
import type { Resumption } from '../../lib/core/ports/index.ts';
import type { ClientConfig } from '../../lib/local/access.ts';
import { REPOSITORY } from '../../lib/local/paths.ts';
import { uniqueName } from '../helpers/aws-under-test.ts';
import { zipOf } from '../helpers/zip.ts';
import { testSettings } from '../model/settings.ts';
import type { Writes } from './grant-probe.contract.ts';
import type { IntakeHarness } from './intake.contract.ts';
import { createStack, functionResources } from './stack-under-test.ts';
import { createTable } from './target-harness.ts';

const RECEIVING = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ChangeMessageVisibility'];
const TAKES_ALL = 'exports.handler = async () => ({ batchItemFailures: [] });';
const TELLS_EVENT = "exports.handler = async (event) => console.log('EVENT ' + JSON.stringify(event));";
const ROLES: readonly Writes[] = [[], ['expire'], ['delete'], ['expire', 'delete']];

/** What the consumer answers to the dispatcher's question, and nothing else of it. */
const ANSWERS_PROBE = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  import { readProbeRequest } from './lib/aws/probe.ts';
  import { probeWrites } from './lib/aws/targets/dynamodb/probe.ts';
  const client = new DynamoDBClient();
  export async function handler(event) {
    const { settings, keys } = readProbeRequest(event);
    return { problems: await probeWrites(client, settings, keys) };
  }`;

/** Deployed functions that stand for ours where only the call to them matters. */
export interface Functions {
  readonly mappingId: string;
  readonly dispatcher: string;
  readonly recordTable: string;
  feed(sqs: SQSClient): Promise<Omit<IntakeHarness, 'intake' | 'until'>>;
  dispatcherStarts(logs: CloudWatchLogsClient): Promise<readonly Resumption[]>;
  consumerThatMay(writes: Writes): string;
}

export async function makeFunctions(config: ClientConfig): Promise<Functions> {
  const [taker, dispatcher, consumer] = ['taker', 'dispatcher', 'consumer'].map(uniqueName);
  if (taker === undefined || dispatcher === undefined || consumer === undefined) throw new Error('Three were named.');
  const consumerThatMay = (writes: Writes) => `${consumer}${ROLES.findIndex((role) => role.join() === writes.join())}`;
  const outputs = await createStack(config, {
    Resources: {
      Work: { Type: 'AWS::SQS::Queue', Properties: { QueueName: uniqueName('fed'), VisibilityTimeout: 60 } },
      ...functionResources('Taker', taker, TAKES_ALL, RECEIVING),
      Mapping: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          FunctionName: { Ref: 'Taker' },
          EventSourceArn: { 'Fn::GetAtt': ['Work', 'Arn'] },
          BatchSize: 5,
        },
      },
      ...functionResources('Dispatcher', dispatcher, TELLS_EVENT),
      ...Object.assign(
        {},
        ...ROLES.map((writes, n) =>
          functionResources(`Consumer${n}`, consumerThatMay(writes), TAKES_ALL, actionsOf(writes)),
        ),
      ),
    },
    Outputs: { QueueUrl: { Value: { Ref: 'Work' } }, MappingId: { Value: { Ref: 'Mapping' } } },
  });
  const { QueueUrl = '', MappingId = '' } = outputs;
  await putProbes(config, ROLES.map(consumerThatMay));
  const settings = testSettings({ recordTableName: uniqueName('probed') });
  await createTable(new DynamoDBClient(config), settings, {});
  return {
    mappingId: MappingId,
    dispatcher,
    recordTable: settings.recordTableName,
    consumerThatMay,
    feed: (sqs) => feedOf(sqs, new LambdaClient(config), QueueUrl, MappingId),
    async dispatcherStarts(logs) {
      const command = new FilterLogEventsCommand({ logGroupName: `/aws/lambda/${dispatcher}` });
      const { events = [] } = await logs.send(command);
      const texts = events.flatMap(({ message = '' }) => /EVENT (\{.*\})/.exec(message)?.[1] ?? []);
      return texts.map((text) => {
        const { runId, scheduledTime } = JSON.parse(text);
        return { runId, scheduledTime: parseInstant(scheduledTime) ?? Number.NaN };
      });
    },
  };
}

function actionsOf(writes: Writes): readonly string[] {
  const deleting = writes.includes('delete') ? ['dynamodb:PartiQLDelete'] : [];
  const expiring = writes.includes('expire') ? ['dynamodb:PartiQLUpdate', 'dynamodb:GetItem'] : [];
  return [...deleting, ...expiring];
}

async function putProbes(config: ClientConfig, names: readonly string[]): Promise<void> {
  const lambda = new LambdaClient(config);
  const { outputFiles } = await build({
    stdin: { contents: ANSWERS_PROBE, resolveDir: REPOSITORY },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
  });
  const ZipFile = zipOf('index.js', outputFiles[0]?.text ?? '');
  for (const FunctionName of names) {
    await lambda.send(new UpdateFunctionCodeCommand({ FunctionName, ZipFile }));
    await waitUntilFunctionUpdatedV2({ client: lambda, maxWaitTime: 60, minDelay: 1, maxDelay: 2 }, { FunctionName });
  }
}

/** The queue of a consumer that takes every message, and an empty one whose long poll is a second that passes. */
async function feedOf(
  sqs: SQSClient,
  lambda: LambdaClient,
  QueueUrl: string,
  UUID: string,
): Promise<Omit<IntakeHarness, 'intake' | 'until'>> {
  const { QueueUrl: empty } = await sqs.send(new CreateQueueCommand({ QueueName: uniqueName('empty') }));
  return {
    send: async () => void (await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'body' }))),
    async waiting() {
      const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
      const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] });
      const { Attributes = {} } = await sqs.send(command);
      return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
    },
    async look() {
      const MessageSystemAttributeNames = ['ApproximateReceiveCount'] as const;
      const command = new ReceiveMessageCommand({
        QueueUrl,
        WaitTimeSeconds: 5,
        MessageSystemAttributeNames: [...MessageSystemAttributeNames],
      });
      const [message] = (await sqs.send(command)).Messages ?? [];
      const ReceiptHandle = message?.ReceiptHandle;
      await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
      return Number(message?.Attributes?.ApproximateReceiveCount);
    },
    idle: async () => void (await sqs.send(new ReceiveMessageCommand({ QueueUrl: empty, WaitTimeSeconds: 1 }))),
    async hasSettled(state) {
      const { State } = await lambda.send(new GetEventSourceMappingCommand({ UUID }));
      return State === (state === 'on' ? 'Enabled' : 'Disabled');
    },
  };
}
