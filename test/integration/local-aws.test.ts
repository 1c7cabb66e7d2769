import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import { BatchExecuteStatementCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientConfig, clientConfig, trust } from '../../lib/local/access.ts';
import { LOCAL_HOME, REPOSITORY } from '../../lib/local/paths.ts';
import { createRecordTable, loadRecords, readRecords } from '../../lib/local/records.ts';
import { keptRuns } from '../../lib/local/runs.ts';
import { endKept, type OwnLocalAws, startLocalAws } from '../../lib/local/server.ts';
import { waitFor } from '../../lib/local/wait.ts';
import { assumeRole } from '../helpers/assume-role.ts';

const END_DEADLINE_MILLIS = 20_000;

let home: string;
let aws: OwnLocalAws;

beforeAll(async () => {
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
  aws = await startLocalAws({ home });
  trust(aws);
});

afterAll(async () => {
  await aws.stop();
  rmSync(home, { recursive: true, force: true });
});

/** A process that starts a local AWS, says where, does `then` and would otherwise wait for ever. */
async function starter(then: string): Promise<{ pid: number; folder: string; ended: Promise<unknown> }> {
  const script = `
    import { startLocalAws } from './lib/local/server.ts';
    const aws = await startLocalAws({ home: ${JSON.stringify(home)} });
    process.stdout.write(JSON.stringify(aws) + '\\n');
    setInterval(() => {}, 1000);
    ${then}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const line = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data))));
  return { ...JSON.parse(line), ended };
}

function isGone(pid: number): true | undefined {
  try {
    process.kill(pid, 0);
    return undefined;
  } catch {
    return true;
  }
}

describe('a local AWS', () => {
  it('does not meet another one on the same machine', async () => {
    const other = await startLocalAws({ home });
    try {
      trust(other);
      await createRecordTable(new DynamoDBClient(clientConfig(aws)), { name: 'only-here', partitionKey: 'id' });
      const tablesOf = async (one: OwnLocalAws) =>
        (await new DynamoDBClient(clientConfig(one)).send(new ListTablesCommand({}))).TableNames;
      expect(await tablesOf(aws)).toContain('only-here');
      expect(await tablesOf(other)).toEqual([]);
      expect(other.certificate).not.toBe(aws.certificate);
    } finally {
      await other.stop();
    }
    await waitFor('the other server to end', END_DEADLINE_MILLIS, () => isGone(other.pid));
    expect(existsSync(other.folder)).toBe(false);
  });

  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'])('ends with the process that started it, even by %s', async (signal) => {
    const { pid, ended } = await starter(`process.kill(process.pid, '${signal}');`);
    await ended;
    await waitFor('the server to end', END_DEADLINE_MILLIS, () => isGone(pid));
  });

  it('outlives its starter when kept, and is then the only one that is ended on request', async () => {
    const { pid, folder, ended } = await starter('aws.keep(); process.exit();');
    await ended;
    expect(keptRuns(home).map((record) => record.folder)).toEqual([folder]);
    expect(isGone(pid)).toBeUndefined();
    const endedOnRequest = await endKept(home);
    expect(endedOnRequest.map((record) => record.pid)).toEqual([pid]);
    await waitFor('the kept server to end', END_DEADLINE_MILLIS, () => isGone(pid));
    expect(isGone(aws.pid)).toBeUndefined();
    expect(await endKept(home)).toEqual([]);
  });

  it('takes thousands of records and gives every one back', async () => {
    const client = new DynamoDBClient(clientConfig(aws));
    await createRecordTable(client, { name: 'many', partitionKey: 'id' });
    const ids = Array.from({ length: 3_010 }, (_, n) => `record-${n}`);
    expect(
      await loadRecords(
        client,
        'many',
        ids.map((id) => ({ id: { S: id } })),
      ),
    ).toBe(ids.length);
    const found: string[] = [];
    for await (const item of readRecords(client, 'many')) found.push(item.id?.S ?? '');
    expect(found.sort()).toEqual([...ids].sort());
  });
});

/** One role that may do the two things a consumer does with its queue and table, and nothing else. */
const TEMPLATE = {
  Resources: {
    Queue: { Type: 'AWS::SQS::Queue' },
    Secret: {
      Type: 'AWS::SecretsManager::Secret',
      Properties: {
        GenerateSecretString: {
          SecretStringTemplate: '{"current":"k1"}',
          GenerateStringKey: 'k1',
          PasswordLength: 64,
          ExcludePunctuation: true,
        },
      },
    },
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Allow',
              Action: 'sts:AssumeRole',
              Principal: { AWS: { Ref: 'AWS::AccountId' } },
            },
          ],
        },
        Policies: [
          {
            PolicyName: 'own',
            PolicyDocument: {
              Version: '2012-10-17',
              Statement: [
                { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: { 'Fn::GetAtt': ['Queue', 'Arn'] } },
                { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: { Ref: 'Secret' } },
                {
                  Effect: 'Allow',
                  Action: 'dynamodb:PartiQLUpdate',
                  Resource: 'arn:aws:dynamodb:*:*:table/mine',
                },
              ],
            },
          },
        ],
      },
    },
  },
  Outputs: {
    QueueUrl: { Value: { Ref: 'Queue' } },
    SecretArn: { Value: { Ref: 'Secret' } },
    RoleArn: { Value: { 'Fn::GetAtt': ['Role', 'Arn'] } },
  },
};

describe('its IAM', () => {
  let outputs: Record<string, string>;
  let asRole: ClientConfig;

  beforeAll(async () => {
    const stacks = new CloudFormationClient(clientConfig(aws));
    await stacks.send(
      new CreateStackCommand({
        StackName: 'iam',
        TemplateBody: JSON.stringify(TEMPLATE),
        Capabilities: ['CAPABILITY_IAM'],
      }),
    );
    await waitUntilStackCreateComplete(
      { client: stacks, maxWaitTime: 60, minDelay: 1, maxDelay: 1 },
      { StackName: 'iam' },
    );
    const described = await stacks.send(new DescribeStacksCommand({ StackName: 'iam' }));
    const pairs = described.Stacks?.[0]?.Outputs?.map((one) => [one.OutputKey, one.OutputValue]) ?? [];
    outputs = Object.fromEntries(pairs);

    asRole = await assumeRole(clientConfig(aws), outputs.RoleArn, 'test');
    const client = new DynamoDBClient(clientConfig(aws));
    for (const name of ['mine', 'theirs']) {
      await createRecordTable(client, { name, partitionKey: 'id' });
      await loadRecords(client, name, [{ id: { S: 'a' } }]);
    }
  });

  const run = (Statement: string, ...values: string[]) =>
    new DynamoDBClient(asRole).send(
      new BatchExecuteStatementCommand({
        Statements: [{ Statement, Parameters: values.map((value) => ({ S: value })) }],
      }),
    );

  it('grants the batch form of a queue call with the call itself', async () => {
    const sqs = new SQSClient(asRole);
    const QueueUrl = outputs.QueueUrl;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
    const sent = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: '0', MessageBody: 'two' }] }));
    expect(sent.Successful).toHaveLength(1);
  });

  it('asks for the right of each statement on the table that it names', async () => {
    const update = await run('UPDATE "mine" SET "state" = ? WHERE "id" = ?', 'EXPIRED', 'a');
    expect(update.Responses?.[0]?.Error).toBeUndefined();
    await expect(run('UPDATE "theirs" SET "state" = ? WHERE "id" = ?', 'EXPIRED', 'a')).rejects.toThrow(
      /not authorized to perform: dynamodb:PartiQLUpdate/,
    );
    await expect(run('DELETE FROM "mine" WHERE "id" = ?', 'a')).rejects.toThrow(
      /not authorized to perform: dynamodb:PartiQLDelete/,
    );
  });

  it("lets a role read the secret that the template's Ref names, generated as it was asked to be", async () => {
    const secrets = new SecretsManagerClient(asRole);
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: outputs.SecretArn }));
    expect(outputs.SecretArn).toMatch(/^arn:aws:secretsmanager:/);
    expect(JSON.parse(SecretString ?? '')).toEqual({ current: 'k1', k1: expect.stringMatching(/^[A-Za-z0-9]{64}$/) });
  });
});
