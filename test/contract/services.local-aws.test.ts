import { CloudWatchLogsClient, CreateLogGroupCommand, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MappingIntake } from '../../lib/aws/intake.ts';
import { SlimLambdaClient } from '../../lib/aws/lambda.ts';
import { createLog } from '../../lib/aws/log.ts';
import { LambdaGrantProbe } from '../../lib/aws/probe.ts';
import { LambdaResumer } from '../../lib/aws/resumer.ts';
import { systemClock } from '../../lib/aws/system.ts';
import { TerminalLog } from '../../lib/aws/terminal-log.ts';
import { startAwsUnderTest, uniqueName } from '../helpers/aws-under-test.ts';
import { type Functions, makeFunctions } from './functions-under-test.ts';
import { grantProbeContract } from './grant-probe.contract.ts';
import { intakeContract } from './intake.contract.ts';
import { type KeptLine, logContract } from './log.contract.ts';
import { meterOnDynamo } from './meter-dynamo.ts';
import { resumerContract } from './resumer.contract.ts';
import { untilInTime } from './until.ts';

const aws = await startAwsUnderTest();
afterAll(() => aws.stop());

// The client that the functions use.
const lambda = new SlimLambdaClient(aws.config) as unknown as LambdaClient;
const dynamo = new DynamoDBClient(aws.config);
const logs = new CloudWatchLogsClient(aws.config);
const PLENTY = { remainingMillis: () => 60_000 };

async function makeLogGroup(): Promise<string> {
  const logGroupName = uniqueName('terminal');
  await logs.send(new CreateLogGroupCommand({ logGroupName }));
  return logGroupName;
}

const terminalOf = (groupName: string) =>
  new TerminalLog({ client: logs, clock: systemClock, groupName, functionName: 'Consumer' });

describe('functions', () => {
  let functions: Functions;
  beforeAll(async () => {
    functions = await makeFunctions(aws.config);
  });

  intakeContract(aws.name, async () => ({
    ...(await functions.feed(new SQSClient(aws.config))),
    intake: new MappingIntake(lambda, functions.mappingId),
    until: untilInTime,
  }));

  resumerContract(aws.name, async () => ({
    resumer: new LambdaResumer(lambda, functions.dispatcher),
    started: () => functions.dispatcherStarts(logs),
    until: untilInTime,
  }));

  grantProbeContract(aws.name, async () => ({
    recordTableName: functions.recordTable,
    probe: async (granted) =>
      new LambdaGrantProbe({ dynamo, lambda, consumerFunction: functions.consumerThatMay(granted) }),
  }));
});

describe('what is not there', () => {
  const PERMANENT = { failure: { class: 'permanent' } };

  it('will not be there next time either', async () => {
    const intake = new MappingIntake(lambda, '00000000-0000-0000-0000-000000000000');
    await expect(intake.set('off')).rejects.toMatchObject(PERMANENT);
    const resumer = new LambdaResumer(lambda, uniqueName('no-function'));
    await expect(resumer.resume({ runId: 'accounts.v1', scheduledTime: 0 })).rejects.toMatchObject(PERMANENT);
  });

  it('is said of a group of terminal logs, and the line is kept', async () => {
    const terminal = terminalOf(uniqueName('nowhere'));
    terminal.add('{}');
    const error = 'ResourceNotFoundException';
    expect(await terminal.flush(PLENTY)).toEqual({ kind: 'failed', error, kept: 1, lost: 0 });
  });
});

describe('log', () => {
  beforeEach(() => void vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT'));
  afterEach(() => void vi.unstubAllEnvs());

  const lines = async (logGroupName: string) =>
    (await logs.send(new FilterLogEventsCommand({ logGroupName }))).events ?? [];

  logContract(aws.name, async () => {
    const group = await makeLogGroup();
    const terminal = terminalOf(group);
    return {
      log: createLog({ policyId: 'p' }, terminal),
      flush: async () => expect(await terminal.flush(PLENTY)).toEqual({ kind: 'flushed' }),
      kept: async () => (await lines(group)).map(({ message = '' }) => JSON.parse(message) as KeptLine),
      until: untilInTime,
    };
  });

  it('gives each process a stream of its own', async () => {
    const group = await makeLogGroup();
    for (const runId of ['one', 'two']) {
      const terminal = terminalOf(group);
      createLog({ policyId: 'p' }, terminal).event('info', 'run_closed', { runId });
      await terminal.flush(PLENTY);
    }
    const events = await untilInTime('both lines', async () => {
      const found = await lines(group);
      return found.length < 2 ? undefined : found;
    });
    expect(new Set(events.map(({ logStreamName }) => logStreamName)).size).toBe(2);
  });
});

describe('meter', () => meterOnDynamo(aws.name, () => new DynamoDBClient(aws.config)));
