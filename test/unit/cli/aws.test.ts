import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../../../lib/cli/aws/connect.ts';
import { LambdaFunctions } from '../../../lib/cli/aws/functions.ts';
import { DynamoRecordLookup } from '../../../lib/cli/aws/record-lookup.ts';
import { testSettings } from '../../model/index.ts';

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

let server: Server;
let reply: Reply = { body: '' };
let requests: string[] = [];

beforeEach(async () => {
  requests = [];
  server = createServer(async (request, response) => {
    requests.push(Buffer.concat(await request.toArray()).toString());
    response.writeHead(reply.status ?? 200, reply.headers).end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('functions', () => {
  it('gives the answer of a function', async () => {
    reply = { body: '{"units":[]}' };
    const answer = await new LambdaFunctions().call('redrive', { act: 'list' });
    expect(answer).toEqual({ kind: 'answered', value: { units: [] } });
    expect(requests).toEqual(['{"act":"list"}']);
  });

  it.each([
    ['{"errorType":"RefusedRequest","errorMessage":"No."}', 'RefusedRequest', 'No.'],
    ['not json', 'Unhandled', 'no message.'],
  ])('gives the error that a function threw: %s', async (body, errorType, errorMessage) => {
    reply = { headers: { 'X-Amz-Function-Error': 'Unhandled' }, body };
    expect(await new LambdaFunctions().call('redrive', {})).toEqual({ kind: 'failed', errorType, errorMessage });
  });

  it('calls a function once only, whatever comes back', async () => {
    reply = { status: 500, body: '{}' };
    await expect(new LambdaFunctions().call('redrive', {})).rejects.toThrow();
    expect(requests).toHaveLength(1);
  });
});

describe('record lookup', () => {
  const settings = testSettings({ holdAttributes: 'hold,dispute' });
  const lookUp = (key: string) => new DynamoRecordLookup(new DynamoDBClient({ maxAttempts: 1 })).lookUp(settings, key);

  it('P76: asks for what the policy names, and for nothing else', async () => {
    const item = {
      id: { S: 'ada' },
      status: { S: 'ACTIVE' },
      lastActivity: { S: '2024-01-01T00:00:00Z' },
      tenant: { S: 'big' },
      hold: { BOOL: false },
      dispute: { S: 'case 7' },
    };
    reply = { body: JSON.stringify({ Item: item }) };
    expect(await lookUp('["Sada"]')).toEqual({
      kind: 'present',
      record: {
        state: 'ACTIVE',
        timestamp: { kind: 'readable', millis: Date.UTC(2024, 0, 1) },
        witness: 'S2024-01-01T00:00:00Z',
        tenant: 'big',
        heldBy: ['dispute'],
        operationKey: null,
      },
    });
    const request = JSON.parse(requests[0] ?? '');
    expect(request).toMatchObject({ Key: { id: { S: 'ada' } }, ConsistentRead: true });
    const asked = request.ProjectionExpression.split(', ').map(
      (name: string) => request.ExpressionAttributeNames[name],
    );
    const named = ['id', 'status', 'lastActivity', 'tenant', 'sweepOperationKey', 'hold', 'dispute'];
    expect(asked.sort()).toEqual(named.sort());
  });

  it('reads for a deletion the time of expiry in place of the timestamp', async () => {
    const item = {
      id: { S: 'ada' },
      status: { S: 'EXPIRED' },
      expiredAt: { S: '2026-01-01T00:00:00Z' },
      sweepOperationKey: { S: 'key' },
    };
    reply = { body: JSON.stringify({ Item: item }) };
    const deletes = testSettings({ action: 'delete', allowDelete: 'yes' });
    const lookup = new DynamoRecordLookup(new DynamoDBClient({ maxAttempts: 1 }));
    expect(await lookup.lookUp(deletes, '["Sada"]')).toMatchObject({
      record: {
        state: 'EXPIRED',
        timestamp: { kind: 'readable', millis: Date.UTC(2026, 0, 1) },
        witness: '["S2026-01-01T00:00:00Z","Skey"]',
        operationKey: 'key',
      },
    });
    const { ExpressionAttributeNames } = JSON.parse(requests[0] ?? '');
    expect(Object.values(ExpressionAttributeNames)).toContain('expiredAt');
    expect(Object.values(ExpressionAttributeNames)).not.toContain('lastActivity');
  });

  it.each([
    [{ body: '{}' }, '["Sada"]', { kind: 'absent' }],
    [{ body: '{}' }, '["Sada","Sb"]', { kind: 'not-a-key' }],
    [{ status: 400, body: '{"__type":"ValidationException"}' }, '["N1"]', { kind: 'not-a-key' }],
    [
      { status: 400, body: '{"__type":"AccessDeniedException"}' },
      '["Sada"]',
      { kind: 'unreachable', error: 'AccessDeniedException' },
    ],
  ])('%j for %s', async (given, key, found) => {
    reply = given;
    expect(await lookUp(key)).toEqual(found);
  });
});

describe('the stack', () => {
  it('that does not exist: says where it was looked for and how to name another', async () => {
    const error = '<Error><Code>ValidationError</Code><Message>Stack with id Nope does not exist</Message></Error>';
    reply = { status: 400, body: `<ErrorResponse>${error}</ErrorResponse>` };
    await expect(connect('Nope')).rejects.toThrow(/no stack Nope in Region eu-central-1 .*--stack or SWEEP_STACK/);
  });

  it('is read from its outputs', async () => {
    const names = ['PolicyId', 'PolicyVersion', 'Mode', 'Action', 'RecordTableName', 'LedgerTableName'];
    const queues = ['WorkQueueUrl', 'DeadLetterQueueUrl'];
    const members = [...names, ...queues, 'DispatcherFunctionName', 'RedriveFunctionName'].map(
      (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>the ${name}</OutputValue></member>`,
    );
    const stack = `<member><StackName>Orders</StackName><Outputs>${members.join('')}</Outputs></member>`;
    const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
    reply = { body: `<DescribeStacksResponse>${result}</DescribeStacksResponse>` };
    expect((await connect('Orders')).outputs).toMatchObject({ stackName: 'Orders', mode: 'the Mode' });
  });
});
