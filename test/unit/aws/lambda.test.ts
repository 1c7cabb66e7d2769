import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as sdk from '@aws-sdk/client-lambda';
import type { StaticOperationSchema, StaticStructureSchema } from '@smithy/types';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeClient, makeLambda } from '../../../lib/aws/clients.ts';
import { classify } from '../../../lib/aws/errors.ts';
import { InvokeCommand, lambdaEndpoint, OPERATIONS, UpdateEventSourceMappingCommand } from '../../../lib/aws/lambda.ts';
import { createMeter } from '../../../lib/aws/meter.ts';

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Request {
  readonly line: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

let server: Server;
let answer: Answer;
let requests: Request[];

beforeEach(async () => {
  requests = [];
  server = createServer(async (request: IncomingMessage, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', `http://127.0.0.1:${port}`);
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const meter = createMeter();
const ours = () => makeLambda({ meter, limits: { maxAttempts: 2 } });
const theirs = () => makeClient(sdk.LambdaClient, { limits: { maxAttempts: 2 } });

const INVOCATION = {
  FunctionName: 'arn:aws:lambda:eu-central-1:123456789012:function:a b',
  InvocationType: 'RequestResponse' as const,
  Payload: Buffer.from('{"a":"ü"}'),
};
const CHANGE = { UUID: 'uuid-1', Enabled: false };

/** What is of this moment or of this client's version differs from call to call. */
function comparable({ line, headers, body }: Request): object {
  const { authorization, ...rest } = headers;
  const own = ['x-amz-date', 'amz-sdk-invocation-id', 'user-agent', 'x-amz-user-agent', 'amz-sdk-request'];
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !own.includes(name)));
  const scope = String(authorization)
    .replace(/\/\d{8}\//, '/')
    .replace(/Signature=.*/, '');
  return { line, body, kept, scope };
}

describe('the slim client of Lambda', () => {
  it.each(OPERATIONS.map((operation) => [operation[2], operation] as const))(
    'describes %s as the SDK does',
    (name, operation) => {
      const whole = (sdk as unknown as Record<string, StaticOperationSchema>)[`${name}$`];
      expect(operation.slice(0, 4)).toEqual(whole?.slice(0, 4));
      for (const side of [4, 5] as const) {
        expect(fieldsOf(wholeOf(whole?.[side]))).toMatchObject(fieldsOf(wholeOf(operation[side])));
      }
    },
  );

  it('sends the same requests as the SDK, signed for Lambda', async () => {
    answer = { status: 202, body: '{}' };
    await ours().send(new InvokeCommand(INVOCATION));
    await theirs().send(new sdk.InvokeCommand(INVOCATION));
    await ours().send(new UpdateEventSourceMappingCommand(CHANGE));
    await theirs().send(new sdk.UpdateEventSourceMappingCommand(CHANGE));
    const [invoke, sdkInvoke, change, sdkChange] = requests.map(comparable);
    expect(invoke).toEqual(sdkInvoke);
    expect(change).toEqual(sdkChange);
    expect(invoke).toMatchObject({ scope: expect.stringContaining('/eu-central-1/lambda/aws4_request') });
    expect(String(requests[0]?.headers['user-agent'])).toContain('api/lambda#');
  });

  it('reads the answer of a function, its failure included', async () => {
    answer = { status: 200, headers: { 'x-amz-function-error': 'Unhandled' }, body: '{"errorType":"Error"}' };
    const { StatusCode, FunctionError, Payload } = await ours().send(new InvokeCommand(INVOCATION));
    expect([StatusCode, FunctionError, Buffer.from(Payload ?? []).toString()]).toEqual([
      200,
      'Unhandled',
      '{"errorType":"Error"}',
    ]);
  });

  it.each([
    [429, 'TooManyRequestsException', 2],
    [409, 'ResourceConflictException', 1],
    [400, 'ResourceInUseException', 1],
    [404, 'ResourceNotFoundException', 1],
    [403, 'AccessDeniedException', 1],
    [400, 'InvalidParameterValueException', 1],
    [502, 'EC2AccessDeniedException', 2],
    [500, 'ServiceException', 2],
    [418, 'NobodyKnowsThis', 1],
    [503, '', 2],
  ])('a %i %s is the same failure as the SDK makes of it, after as many attempts', async (status, name, attempts) => {
    const headers: Record<string, string> = { 'x-amzn-requestid': 'request-1' };
    if (name !== '') headers['x-amzn-errortype'] = `${name}:http://internal.amazon.com/coral/`;
    answer = { status, headers, body: JSON.stringify({ Type: 'User', Message: 'no' }) };
    const failed = await failureOf(ours().send(new UpdateEventSourceMappingCommand(CHANGE)));
    expect(requests).toHaveLength(attempts);
    expect(failed).toEqual(await failureOf(theirs().send(new sdk.UpdateEventSourceMappingCommand(CHANGE))));
    expect(requests).toHaveLength(2 * attempts);
  });

  it('finds Lambda where the SDK finds it', () => {
    const { endpointProvider } = new sdk.LambdaClient({}).config;
    for (const Region of ['eu-central-1', 'us-gov-west-1', 'cn-north-1', 'nowhere-1']) {
      for (const [UseFIPS, UseDualStack] of [
        [false, false],
        [true, false],
        [false, true],
        [true, true],
      ] as const) {
        const wanted = endpointProvider({ Region, UseFIPS, UseDualStack }, {});
        expect(lambdaEndpoint({ Region, UseFIPS, UseDualStack }).url.href).toBe(wanted.url.href);
      }
    }
  });
});

const failureOf = (call: Promise<unknown>) => call.then(() => 'no failure', classify);

const wholeOf = (schema: unknown) => (schema as () => StaticStructureSchema)();

/** Each member's type and traits by its name; a reference to another schema is followed. */
function fieldsOf([, , name, , members, types]: StaticStructureSchema): object {
  const followed = types.map((type) =>
    Array.isArray(type) && typeof type[0] === 'function' ? [type[0](), type[1]] : type,
  );
  return { name, ...Object.fromEntries(members.map((member, index) => [member, followed[index]])) };
}
