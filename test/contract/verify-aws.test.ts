import { join } from 'node:path';
import { CloudFormationClient, CreateStackCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, CreateLogGroupCommand, DescribeLogGroupsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { CreateSecretCommand, ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CreateQueueCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, describe, expect, it } from 'vitest';
import { clientConfig, environmentOf, trust } from '../../lib/local/access.ts';
import { REPOSITORY } from '../../lib/local/paths.ts';
import { createRecordTable } from '../../lib/local/records.ts';
import { startLocalAws } from '../../lib/local/server.ts';
import { type Ended, runNode } from '../helpers/local-run.ts';
import { readBehaviours } from '../verify-aws/behaviours.ts';
import { ON_AWS } from '../verify-aws/plan.ts';

// The endpoint of a local AWS takes the place of an account.
const aws = await startLocalAws();
trust(aws);
afterAll(() => aws.stop());

const config = clientConfig(aws);
const dynamo = new DynamoDBClient(config);
const sqs = new SQSClient(config);
const secrets = new SecretsManagerClient(config);
const logs = new CloudWatchLogsClient(config);

const verify = (...args: readonly string[]): Promise<Ended> =>
  runNode([join(REPOSITORY, 'test/verify-aws/main.ts'), ...args], environmentOf(aws));

/** Makes one thing of each kind. */
async function makeThings(prefix: string): Promise<void> {
  await createRecordTable(dynamo, { name: `${prefix}-table`, partitionKey: 'id' });
  await sqs.send(new CreateQueueCommand({ QueueName: `${prefix}-queue` }));
  await secrets.send(new CreateSecretCommand({ Name: `${prefix}-secret`, SecretString: '{}' }));
  for (const folder of ['', '/aws/lambda/']) {
    await logs.send(new CreateLogGroupCommand({ logGroupName: `${folder}${prefix}-log` }));
  }
  const Resources = { Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: `${prefix}-of-a-stack` } } };
  const TemplateBody = JSON.stringify({ Resources });
  await new CloudFormationClient(config).send(new CreateStackCommand({ StackName: `${prefix}-stack`, TemplateBody }));
}

async function everything(): Promise<readonly string[]> {
  const { TableNames = [] } = await dynamo.send(new ListTablesCommand({}));
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
  const { SecretList = [] } = await secrets.send(new ListSecretsCommand({}));
  const { logGroups = [] } = await logs.send(new DescribeLogGroupsCommand({}));
  return [
    ...TableNames,
    ...QueueUrls.map((url) => url.split('/').at(-1) ?? ''),
    ...SecretList.map(({ Name = '' }) => Name),
    ...logGroups.map(({ logGroupName = '' }) => logGroupName),
  ].toSorted();
}

describe('npm run verify:aws, with a local AWS in place of an account', () => {
  it('says by --dry-run where, what and for how much, and makes nothing', async () => {
    const { code, out } = await verify('--dry-run');
    expect(code).toBe(0);
    expect(out).toContain(`Account ${aws.account}, Region us-east-1`);
    expect(out).toContain('test/contract/queue.local-aws.test.ts');
    for (const name of Object.keys(ON_AWS)) expect(out).toContain(`test/integration/${name}`);
    expect(out).toContain('test/integration/killed.test.ts: kills functions');
    expect(out).toMatch(/It costs at most about \d\.\d\d \$/);
    expect(await everything()).toEqual([]);
  });

  it('makes nothing where nobody can be asked, or the account is not bootstrapped', async () => {
    const unasked = await verify('--suites', 'contract');
    expect([unasked.code, unasked.err]).toEqual([2, 'There is no terminal to ask at: say --yes, or --dry-run.\n']);
    const unprepared = await verify('--yes');
    expect([unprepared.code, unprepared.err]).toEqual([2, expect.stringContaining('npx cdk bootstrap aws://')]);
    expect(await everything()).toEqual([]);
  });

  it('runs the contract there, lists what it verified, and leaves nothing', async () => {
    await makeThings('ledgersweep-verify-somebody');
    const before = await everything();
    const { code, out } = await verify('--yes', '--suites', 'contract', '--only', 'signer');
    expect(code).toBe(0);
    const [verified = '', not = ''] = out.slice(out.indexOf('\nVerified: ')).split('NOT as documented');
    expect(verified).toContain('`GetSecretValue` gives the current version');
    expect(verified).toContain(`Verified: 1 of ${readBehaviours().length}`);
    expect(not).toMatch(/^: 0 of /);
    expect(await everything()).toEqual(before);
  });

  it('deletes what an interrupted run left, and nothing that begins otherwise', async () => {
    const before = await everything();
    await makeThings('ledgersweep-verify-0123abcd');
    const { code, out } = await verify('--clean-up', 'ledgersweep-verify-0123abcd', '--yes');
    expect([code, out]).toEqual([0, expect.stringContaining('Deleted 6 things')]);
    expect(await everything()).toEqual(before);
    const broad = await verify('--clean-up', 'ledgersweep-verify-', '--yes');
    expect([broad.code, await everything()]).toEqual([2, before]);
  });
});
