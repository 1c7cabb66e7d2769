import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { clientConfig } from './access.ts';
import type { LocalAws } from './server.ts';
import { waitFor } from './wait.ts';

const CHANGE_DEADLINE_MILLIS = 30_000;

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

async function setVariables(lambda: LambdaClient, FunctionName: string, variables: Variables): Promise<void> {
  const Environment = { Variables: { ...variables } };
  await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment }));
  await waitFor(`${FunctionName} to have its variables`, CHANGE_DEADLINE_MILLIS, async () => {
    const now = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
    return now.LastUpdateStatus === 'Successful' ? true : undefined;
  });
}
