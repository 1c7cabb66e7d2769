import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Settings } from '../../core/policy/settings.ts';
import { clientConfig, pointProcessAt } from '../access.ts';
import { appFolder, bootstrap, deploy, type Progress, synthesize } from '../cdk.ts';
import { createRecordTable, type Item, loadRecords } from '../records.ts';
import { type LocalAws, type OwnLocalAws, startLocalAws } from '../server.ts';
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
  /** Where to, and under which name; to a local AWS of its own unless given. */
  readonly on?: { readonly aws: OwnLocalAws; readonly stackName: string };
}

export interface OwnPipeline extends Pipeline {
  readonly aws: OwnLocalAws;
}

/** Starts a local AWS of its own, loads the records and deploys the pipeline to it. It ends with this process. */
export async function bringUp({ home, settings, items, progress, on }: BringUpOptions): Promise<OwnPipeline> {
  const { aws, stackName } = on ?? { aws: await startOwn(home, progress), stackName: STACK };
  pointProcessAt(aws);
  const [loaded] = await Promise.all([
    load(aws, settings.recordTableName, items),
    synthesize(aws, { context: { ...CONTEXT, 'ledgersweep:stack': stackName } }),
    // An account of somebody's is bootstrapped by them.
    on === undefined ? bootstrap(aws) : undefined,
  ]);
  progress(
    `${loaded} records are in table ${settings.recordTableName}; deploying the stack ${stackName} by cdk deploy`,
  );
  return { ...(await deployStack(aws, stackName, settings)), aws };
}

async function startOwn(home: string, progress: Progress): Promise<OwnLocalAws> {
  progress('starting a local AWS: IAM enforced, over TLS');
  const aws = await startLocalAws({ home, progress });
  progress(`it answers at ${aws.endpoint}; bootstrapping, synthesising and loading the records`);
  return aws;
}

/** Deploys the same code again, with other parameters. */
export function redeploy({ aws, stackName }: Pipeline, settings: Settings): Promise<Pipeline> {
  return deployStack(aws, stackName, settings);
}

async function deployStack(aws: LocalAws, stackName: string, settings: Settings): Promise<Pipeline> {
  const options = { stackName, app: appFolder(aws), parameters: parametersOf(settings) };
  return connect(aws, stackName, await deploy(aws, options));
}

async function load(aws: LocalAws, name: string, items: Iterable<Item>): Promise<number> {
  const client = new DynamoDBClient(clientConfig(aws));
  await createRecordTable(client, { name, partitionKey: ATTRIBUTES.key });
  return loadRecords(client, name, items);
}
