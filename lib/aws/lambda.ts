import type * as Sdk from '@aws-sdk/client-lambda';
import { SecretsManagerClient, type SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager';
import { partition } from '@aws-sdk/core/client';
import { AwsRestJsonProtocol } from '@aws-sdk/core/protocols';
import { makeBuilder } from '@smithy/core/client';
import { getEndpointPlugin } from '@smithy/core/endpoints';
import type { EndpointV2, StaticOperationSchema, StaticSimpleSchema, StaticStructureSchema } from '@smithy/types';

// The two operations of Lambda that the functions call. Importing them from `@aws-sdk/client-lambda` puts all its 88
// operations into a bundle (70 kB of 400): esbuild keeps each of its schemas, because their keys are computed. So they
// are described here as the SDK describes them (a test compares the two), and carried out by the SDK: its retries,
// signatures, time limits and middleware.

const NAMESPACE = 'com.amazonaws.lambda';

/** Bits of the SDK's schema traits, and the numbers of its simple types. */
const LABEL = 1;
const SENSITIVE = 8;
const PAYLOAD = 16;
const RESPONSE_CODE = 32;
const STRING = 0;
const NUMBER = 1;
const BOOLEAN = 2;
const BYTES = 21;

const BLOB: StaticSimpleSchema = [0, NAMESPACE, 'Blob', SENSITIVE, BYTES];

const INVOCATION_REQUEST: StaticStructureSchema = [
  3,
  NAMESPACE,
  'InvocationRequest',
  0,
  ['FunctionName', 'InvocationType', 'Payload'],
  [
    [STRING, LABEL],
    [STRING, { httpHeader: 'X-Amz-Invocation-Type' }],
    [() => BLOB, PAYLOAD],
  ],
];

const INVOCATION_RESPONSE: StaticStructureSchema = [
  3,
  NAMESPACE,
  'InvocationResponse',
  0,
  ['StatusCode', 'FunctionError', 'Payload'],
  [
    [NUMBER, RESPONSE_CODE],
    [STRING, { httpHeader: 'X-Amz-Function-Error' }],
    [() => BLOB, PAYLOAD],
  ],
];

const MAPPING_REQUEST: StaticStructureSchema = [
  3,
  NAMESPACE,
  'UpdateEventSourceMappingRequest',
  0,
  ['UUID', 'Enabled'],
  [[STRING, LABEL], BOOLEAN],
];

const MAPPING: StaticStructureSchema = [3, NAMESPACE, 'EventSourceMappingConfiguration', 0, ['State'], [STRING]];

const INVOKE: StaticOperationSchema = [
  9,
  NAMESPACE,
  'Invoke',
  { http: ['POST', '/2015-03-31/functions/{FunctionName}/invocations', 200] },
  () => INVOCATION_REQUEST,
  () => INVOCATION_RESPONSE,
];

const UPDATE_MAPPING: StaticOperationSchema = [
  9,
  NAMESPACE,
  'UpdateEventSourceMapping',
  { http: ['PUT', '/2015-03-31/event-source-mappings/{UUID}', 202] },
  () => MAPPING_REQUEST,
  () => MAPPING,
];

/** For the test that compares them with the SDK's. */
export const OPERATIONS: readonly StaticOperationSchema[] = [INVOKE, UPDATE_MAPPING];

const command = makeBuilder(
  {
    UseFIPS: { type: 'builtInParams', name: 'useFipsEndpoint' },
    Endpoint: { type: 'builtInParams', name: 'endpoint' },
    Region: { type: 'builtInParams', name: 'region' },
    UseDualStack: { type: 'builtInParams', name: 'useDualstackEndpoint' },
  },
  'AWSGirApiService',
  'LambdaClient',
  getEndpointPlugin,
);

/** A command that is the SDK's own to whoever sends it, and takes no more than what its schema here describes. */
type Narrow<Input, Command> = new (input: Input) => Command;

export const InvokeCommand = class InvokeCommand extends command(
  {},
  () => [],
  'Invoke',
  INVOKE,
) {} as unknown as Narrow<
  Pick<Sdk.InvokeCommandInput, 'FunctionName' | 'InvocationType' | 'Payload'>,
  Sdk.InvokeCommand
>;

export const UpdateEventSourceMappingCommand = class UpdateEventSourceMappingCommand extends command(
  {},
  () => [],
  'UpdateEventSourceMapping',
  UPDATE_MAPPING,
) {} as unknown as Narrow<
  Pick<Sdk.UpdateEventSourceMappingCommandInput, 'UUID' | 'Enabled'>,
  Sdk.UpdateEventSourceMappingCommand
>;

interface EndpointParameters {
  readonly Region?: string | undefined;
  readonly UseDualStack?: boolean | undefined;
  readonly UseFIPS?: boolean | undefined;
  readonly Endpoint?: string | undefined;
}

/** Where Lambda is, unless the environment names an endpoint. */
export function lambdaEndpoint({ Region = '', UseDualStack, UseFIPS, Endpoint }: EndpointParameters): EndpointV2 {
  const { dnsSuffix, dualStackDnsSuffix } = partition(Region);
  const host = `lambda${UseFIPS ? '-fips' : ''}.${Region}.${UseDualStack ? dualStackDnsSuffix : dnsSuffix}`;
  return { url: new URL(Endpoint ?? `https://${host}`), properties: {}, headers: {} };
}

/**
 * A client of Lambda for the two commands above. All clients of the SDK are one client with other settings; this one
 * takes the settings of Secrets Manager's, which has no middleware of its own, and changes those that name the service.
 * Its errors carry the name, fault and status that the service answered with, and are of no class of their own.
 */
export class SlimLambdaClient extends SecretsManagerClient {
  constructor(config: SecretsManagerClientConfig) {
    const lambda = {
      serviceId: 'Lambda',
      signingName: 'lambda',
      protocol: AwsRestJsonProtocol,
      protocolSettings: { defaultNamespace: NAMESPACE, errorTypeRegistries: [], version: '2015-03-31' },
      endpointProvider: lambdaEndpoint,
    };
    super({ ...config, ...lambda });
  }
}
