import { LambdaClient, UpdateFunctionCodeCommand, waitUntilFunctionUpdatedV2 } from '@aws-sdk/client-lambda';
import { build } from 'esbuild';
import { clientConfig } from '../../lib/local/access.ts';
import { REPOSITORY } from '../../lib/local/paths.ts';
import type { LocalAws } from '../../lib/local/server.ts';
import { invoke } from '../../lib/local/up/pipeline.ts';
import { zipOf } from './zip.ts';

/** Makes the call it is asked to make, with the credentials that the function has, and says how it went. */
const PROBE = `
  import * as dynamo from '@aws-sdk/client-dynamodb';
  const client = new dynamo.DynamoDBClient();
  export async function handler({ call, input }) {
    try {
      await client.send(new dynamo[call + 'Command'](input));
      return 'allowed';
    } catch (error) {
      return error.name + ': ' + error.message;
    }
  }`;

async function probeArchive(): Promise<Buffer> {
  const { outputFiles } = await build({
    stdin: { contents: PROBE, resolveDir: REPOSITORY },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
  });
  return zipOf('index.js', outputFiles[0]?.text ?? '');
}

/** Puts other code into deployed functions; they keep their roles, and with them what they may do. */
export async function putProbeInto(aws: LocalAws, functionNames: readonly string[]): Promise<void> {
  const lambda = new LambdaClient(clientConfig(aws));
  const ZipFile = await probeArchive();
  for (const FunctionName of functionNames) {
    await lambda.send(new UpdateFunctionCodeCommand({ FunctionName, ZipFile }));
    const times = { maxWaitTime: 30, minDelay: 1, maxDelay: 1 };
    await waitUntilFunctionUpdatedV2({ client: lambda, ...times }, { FunctionName });
  }
}

/** One call of DynamoDB by a function that is a probe, such as `UpdateItem`: `allowed`, or the error it met. */
export async function attempt(aws: LocalAws, functionName: string, call: string, input: object): Promise<string> {
  return String(await invoke(aws, functionName, { call, input }));
}
