import {
  CloudFormationClient,
  DeleteStackCommand,
  paginateDescribeStacks,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import {
  CloudWatchLogsClient,
  DeleteLogGroupCommand,
  paginateDescribeLogGroups,
} from '@aws-sdk/client-cloudwatch-logs';
import { DeleteTableCommand, DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { DeleteSecretCommand, paginateListSecrets, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DeleteQueueCommand, GetQueueUrlCommand, paginateListQueues, SQSClient } from '@aws-sdk/client-sqs';
import type { ClientConfig } from '../../lib/local/access.ts';

/** Nothing of anybody else begins so: eight hexadecimal digits are drawn for every run. */
export const PREFIX = /^ledgersweep-verify-[0-9a-f]{8}$/;

/** One kind of thing that a run leaves behind. */
interface Kind {
  readonly kind: string;
  names(): Promise<readonly string[]>;
  remove(name: string): Promise<unknown>;
}

async function collect<P>(pages: AsyncIterable<P>, namesOf: (page: P) => readonly (string | undefined)[]) {
  const names: string[] = [];
  for await (const page of pages) names.push(...namesOf(page).flatMap((name) => name ?? []));
  return names;
}

function kindsOf(config: ClientConfig, prefix: string): readonly Kind[] {
  const stacks = new CloudFormationClient(config);
  const logs = new CloudWatchLogsClient(config);
  const dynamo = new DynamoDBClient(config);
  const secrets = new SecretsManagerClient(config);
  const sqs = new SQSClient(config);
  const logGroupsFrom = (logGroupNamePrefix: string) =>
    collect(paginateDescribeLogGroups({ client: logs }, { logGroupNamePrefix }), ({ logGroups = [] }) =>
      logGroups.map(({ logGroupName }) => logGroupName),
    );
  return [
    {
      // First: what is in a stack goes with it.
      kind: 'stack',
      names: () =>
        collect(paginateDescribeStacks({ client: stacks }, {}), ({ Stacks = [] }) =>
          Stacks.filter(({ StackStatus }) => StackStatus !== 'DELETE_COMPLETE').map(({ StackName }) => StackName),
        ),
      async remove(StackName) {
        await stacks.send(new DeleteStackCommand({ StackName }));
        await waitUntilStackDeleteComplete({ client: stacks, maxWaitTime: 900, minDelay: 1 }, { StackName });
      },
    },
    {
      kind: 'table',
      names: () => collect(paginateListTables({ client: dynamo }, {}), ({ TableNames = [] }) => TableNames),
      remove: (TableName) => dynamo.send(new DeleteTableCommand({ TableName })),
    },
    {
      kind: 'queue',
      names: () =>
        collect(
          paginateListQueues({ client: sqs, pageSize: 1000 }, { QueueNamePrefix: prefix }),
          ({ QueueUrls = [] }) => QueueUrls.map((url) => url.split('/').at(-1)),
        ),
      async remove(QueueName) {
        const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
        await sqs.send(new DeleteQueueCommand({ QueueUrl }));
      },
    },
    {
      kind: 'secret',
      names: () =>
        collect(paginateListSecrets({ client: secrets }, {}), ({ SecretList = [] }) =>
          SecretList.map(({ Name }) => Name),
        ),
      remove: (SecretId) => secrets.send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true })),
    },
    ...['', '/aws/lambda/'].map((folder) => ({
      kind: 'log group',
      names: async () => (await logGroupsFrom(`${folder}${prefix}`)).map((name) => name.slice(folder.length)),
      remove: (name: string) => logs.send(new DeleteLogGroupCommand({ logGroupName: `${folder}${name}` })),
    })),
  ];
}

/** What a clean-up came to: names of what it deleted, and what it could not, each with its kind. */
export interface CleanedUp {
  readonly deleted: readonly string[];
  readonly left: readonly string[];
}

/** Deletes everything whose name begins with the prefix of one run, and nothing else. */
export async function cleanUp(config: ClientConfig, prefix: string): Promise<CleanedUp> {
  if (!PREFIX.test(prefix)) throw new RangeError(`${prefix} is not the prefix of a run.`);
  const deleted: string[] = [];
  const left: string[] = [];
  for (const { kind, names, remove } of kindsOf(config, prefix)) {
    for (const name of (await names()).filter((one) => one.startsWith(`${prefix}-`))) {
      await remove(name).then(
        () => deleted.push(`${kind} ${name}`),
        (error: Error) => left.push(`${kind} ${name} (${error.name})`),
      );
    }
  }
  return { deleted, left };
}
