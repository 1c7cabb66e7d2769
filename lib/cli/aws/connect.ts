import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { makeClient, makeDynamoDB, makeSqs } from '../../aws/clients.ts';
import { DynamoLedger } from '../../aws/ledger/ledger.ts';
import { createMeter } from '../../aws/meter.ts';
import { SqsQueue } from '../../aws/queue.ts';
import { systemClock, systemRandom } from '../../aws/system.ts';
import { CliError, EXIT } from '../exit.ts';
import { readOutputs } from '../outputs.ts';
import type { Pipeline } from '../world.ts';
import { LambdaFunctions } from './functions.ts';
import { DynamoRecordLookup } from './record-lookup.ts';

/** A person waits for the answers, from wherever they are: more patient than a function. */
const LIMITS = { connectMillis: 5_000, requestMillis: 20_000 };

/** Finds a pipeline by its stack. Endpoint, Region and credentials come by the SDK's own rules. */
export async function connect(stackName: string): Promise<Pipeline> {
  const outputs = readOutputs(stackName, await stackOutputs(stackName));
  const options = { meter: createMeter(), limits: LIMITS };
  const client = makeDynamoDB(options);
  return {
    outputs,
    ledger: new DynamoLedger({
      client,
      tableName: outputs.ledgerTableName,
      clock: systemClock,
      random: systemRandom,
    }),
    queue: new SqsQueue({
      client: makeSqs(options),
      workQueueUrl: outputs.workQueueUrl,
      deadLetterQueueUrl: outputs.deadLetterQueueUrl,
    }),
    records: new DynamoRecordLookup(client),
    functions: new LambdaFunctions(),
    caller: callerArn,
  };
}

async function stackOutputs(stackName: string): Promise<ReadonlyMap<string, string>> {
  const client = makeClient(CloudFormationClient, { limits: LIMITS });
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    const outputs = Stacks?.[0]?.Outputs ?? [];
    return new Map(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
  } catch (error) {
    if (!(error instanceof Error && /does not exist/.test(error.message))) throw error;
    const region = await client.config.region();
    throw new CliError(
      EXIT.nothing,
      `There is no stack ${stackName} in Region ${region} of this account. Name yours with --stack or SWEEP_STACK, ` +
        'or choose account and Region with AWS_PROFILE and AWS_REGION.',
      error,
    );
  }
}

async function callerArn(): Promise<string> {
  const { Arn } = await makeClient(STSClient, { limits: LIMITS }).send(new GetCallerIdentityCommand({}));
  if (Arn === undefined) throw new CliError(EXIT.failed, 'AWS does not say who you are: an act needs an actor.');
  return Arn;
}
