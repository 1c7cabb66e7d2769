import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from '@aws-sdk/client-lambda';
import { clientConfig } from './access.ts';
import type { LocalAws } from './server.ts';

const CHANGE_DEADLINE_SECONDS = 30;

/** Environment variables of a deployed function, beside CloudFormation: the next deployment may set them back. */
export type Variables = Readonly<Record<string, string>>;

/** Sets variables of a deployed function beside its own ones; the result gives it its own ones back. */
export async function addVariables(
  aws: LocalAws,
  functionName: string,
  added: Variables,
): Promise<() => Promise<void>> {
  const lambda = new LambdaClient(clientConfig(aws));
  const before = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName: functionName }));
  const own = before.Environment?.Variables ?? {};
  await setVariables(lambda, functionName, { ...own, ...added });
  return () => setVariables(lambda, functionName, own);
}

async function setVariables(lambda: LambdaClient, functionName: string, variables: Variables): Promise<void> {
  const Environment = { Variables: { ...variables } };
  await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName: functionName, Environment }));
  await waitUntilFunctionUpdatedV2(
    { client: lambda, maxWaitTime: CHANGE_DEADLINE_SECONDS, minDelay: 1, maxDelay: 1 },
    { FunctionName: functionName },
  );
}
