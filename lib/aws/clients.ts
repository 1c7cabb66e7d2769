import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SlimLambdaClient } from './lambda.ts';
import type { AnyClient, UnitMeter } from './meter.ts';

/** Time limits of one call. The SDK's own defaults wait for ever (pitfall P37). */
export interface CallLimits {
  /** Until the connection stands, per attempt. */
  readonly connectMillis: number;
  /** Until the answer is read, all attempts and the waits between them together. */
  readonly requestMillis: number;
  /** Attempts of the SDK, the first included. */
  readonly maxAttempts: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = { connectMillis: 2_000, requestMillis: 5_000, maxAttempts: 3 };

export interface ClientOptions {
  readonly meter: UnitMeter;
  readonly limits?: Partial<CallLimits>;
}

interface LimitedConfig {
  readonly maxAttempts: number;
  readonly requestHandler: {
    readonly connectionTimeout: number;
    readonly requestTimeout: number;
    readonly socketTimeout: number;
    readonly throwOnRequestTimeout: boolean;
  };
}

function configOf({ connectMillis, requestMillis, maxAttempts }: CallLimits): LimitedConfig {
  return {
    maxAttempts,
    requestHandler: {
      connectionTimeout: connectMillis,
      requestTimeout: requestMillis,
      socketTimeout: requestMillis,
      // Without it the SDK only prints a warning when the time is over.
      throwOnRequestTimeout: true,
    },
  };
}

type Send = (command: unknown, options?: object) => Promise<unknown>;

/** Ends every call in time, whichever attempt it is in; the SDK's own limits are per attempt. */
function limitCalls(client: AnyClient, requestMillis: number): void {
  const limited = client as unknown as { send: Send };
  const send = limited.send.bind(client);
  limited.send = (command, options) => send(command, { abortSignal: AbortSignal.timeout(requestMillis), ...options });
}

/** Makes a client with time limits; region, endpoint and credentials come by the SDK's own rules. */
export function makeClient<C extends AnyClient>(
  Service: new (config: LimitedConfig) => C,
  options: Pick<ClientOptions, 'limits'>,
): C {
  const limits = { ...DEFAULT_CALL_LIMITS, ...options.limits };
  const client = new Service(configOf(limits));
  limitCalls(client, limits.requestMillis);
  return client;
}

function makeCounted<C extends AnyClient>(Service: new (config: LimitedConfig) => C, options: ClientOptions): C {
  const client = makeClient(Service, options);
  options.meter.count(client);
  return client;
}

/** The only clients whose request units are priced. */
export function makeDynamoDB(options: ClientOptions): DynamoDBClient {
  const client = makeClient(DynamoDBClient, options);
  options.meter.price(client);
  return client;
}

/**
 * The client of the table whose records are changed. It sends each call once: the consumer tries again by itself, after
 * it has looked whether it still may, and no call may begin long after that (a pause takes hold within ten seconds).
 */
export function makeRecordStore({ meter }: Pick<ClientOptions, 'meter'>): DynamoDBClient {
  return makeDynamoDB({ meter, limits: { maxAttempts: 1 } });
}

export function makeSqs(options: ClientOptions): SQSClient {
  return makeCounted(SQSClient, options);
}

export function makeSecretsManager(options: ClientOptions): SecretsManagerClient {
  return makeCounted(SecretsManagerClient, options);
}

/** Sends the commands of `lambda.ts` only. */
export function makeLambda(options: ClientOptions): LambdaClient {
  return makeCounted(SlimLambdaClient, options) as unknown as LambdaClient;
}

/** Its calls are no part of any unit's cost. */
export function makeLogs(options: Pick<ClientOptions, 'limits'>): CloudWatchLogsClient {
  return makeClient(CloudWatchLogsClient, options);
}
