import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Settings } from '../../core/policy/settings.ts';
import { clientConfig, pointProcessAt } from '../access.ts';
import { bootstrap, deploy, type Progress, synthesize } from '../cdk.ts';
import { createRecordTable, type Item, loadRecords } from '../records.ts';
import { type OwnLocalAws, startLocalAws } from '../server.ts';
import { connect, type Pipeline } from './pipeline.ts';
import { ATTRIBUTES, parametersOf } from './policy.ts';

/** The name that `sweep` looks for unless told otherwise. */
export const STACK = 'Ledgersweep';

const CONTEXT = { 'ledgersweep:throwAway': 'true' };

export interface BringUpOptions {
  readonly home: string;
  readonly settings: Settings;
  readonly items: Iterable<Item>;
  readonly progress: Progress;
}

export interface OwnPipeline extends Pipeline {
  readonly aws: OwnLocalAws;
}

/** Starts a local AWS of its own, loads the records and deploys the pipeline to it. It ends with this process. */
export async function bringUp({ home, settings, items, progress }: BringUpOptions): Promise<OwnPipeline> {
  progress('starting a local AWS: IAM enforced, over TLS');
  const aws = await startLocalAws({ home, progress });
  progress(`it answers at ${aws.endpoint}; bootstrapping, synthesising and loading the records`);
  pointProcessAt(aws);
  const [app, loaded] = await Promise.all([
    synthesize(aws, { context: CONTEXT }),
    load(aws, settings.recordTableName, items),
    bootstrap(aws),
  ]);
  progress(`${loaded} records are in table ${settings.recordTableName}; deploying the stack ${STACK} by cdk deploy`);
  const outputs = await deploy(aws, { stackName: STACK, app, parameters: parametersOf(settings) });
  return { ...connect(aws, STACK, outputs), aws };
}

/** Deploys the stack again, with other parameters. */
export async function redeploy(pipeline: Pipeline, settings: Settings): Promise<Pipeline> {
  const { aws } = pipeline;
  const outputs = await deploy(aws, { stackName: STACK, context: CONTEXT, parameters: parametersOf(settings) });
  return connect(aws, STACK, outputs);
}

async function load(aws: OwnLocalAws, name: string, items: Iterable<Item>): Promise<number> {
  const client = new DynamoDBClient(clientConfig(aws));
  await createRecordTable(client, { name, partitionKey: ATTRIBUTES.key });
  return loadRecords(client, name, items);
}
