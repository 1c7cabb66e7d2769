import {
  BatchExecuteStatementCommand,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CallLimits, makeDynamoDB, makeRecordStore, makeSqs } from '../../../lib/aws/clients.ts';
import { classify } from '../../../lib/aws/errors.ts';
import { createMeter, type UnitMeter } from '../../../lib/aws/meter.ts';
import { type Answer, type Loopback, reply, replyError, startLoopback } from './loopback.ts';

let answer: Answer;
let loopback: Loopback;
let meter: UnitMeter;

beforeEach(async () => {
  loopback = await startLoopback((...call) => answer(...call));
  meter = createMeter();
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL: loopback.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })) {
    vi.stubEnv(name, value);
  }
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await loopback.stop();
});

function client(limits: Partial<CallLimits> = {}): DynamoDBClient {
  return makeDynamoDB({ meter, limits });
}

const PUT = new PutItemCommand({ TableName: 't', Item: { pk: { S: 'x'.repeat(1_500) } } });

describe('clients', () => {
  it('P37: a call that is never answered ends in time, its retries included', async () => {
    let asked = 0;
    answer = () => {
      asked += 1;
    };
    const before = performance.now();
    const error: unknown = await client({ requestMillis: 300 })
      .send(PUT)
      .catch((thrown) => thrown);
    expect(classify(error).class).toBe('transient');
    expect(performance.now() - before).toBeLessThan(2_000);
    expect(asked).toBe(1);
  });

  it('P37: an answer whose body never ends, ends in time', async () => {
    answer = (_target, _body, response) => void response.writeHead(200, { 'content-length': '100' }).write('{');
    const error: unknown = await client({ requestMillis: 300 })
      .send(PUT)
      .catch((thrown) => thrown);
    expect(classify(error).class).toBe('transient');
  });

  it('tries again what may pass, within a bound, and counts one call', async () => {
    let asked = 0;
    answer = (_target, _body, response) => {
      asked += 1;
      replyError(response, 500, 'InternalServerError');
    };
    await expect(client({ maxAttempts: 2 }).send(PUT)).rejects.toMatchObject({ name: 'InternalServerError' });
    expect(asked).toBe(2);
    expect(meter.take()).toEqual({ calls: 1, readUnits: 0, writeUnits: 0 });
  });

  it('the store of the records is asked once: whether to try again is decided anew each time', async () => {
    let asked = 0;
    answer = (_target, _body, response) => {
      asked += 1;
      replyError(response, 500, 'InternalServerError');
    };
    const store = makeRecordStore({ meter });
    const statements = new BatchExecuteStatementCommand({ Statements: [{ Statement: 'UPDATE "t" SET "a"=1' }] });
    await expect(store.send(statements)).rejects.toMatchObject({ name: 'InternalServerError' });
    answer = (_target, _body, response) => {
      asked += 1;
      replyError(response, 400, 'ProvisionedThroughputExceededException');
    };
    await expect(store.send(PUT)).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' });
    expect(asked).toBe(2);
    answer = (_target, _body, response) => reply(response, 200, {});
    await store.send(PUT);
    expect(meter.take()).toEqual({ calls: 3, readUnits: 0, writeUnits: 2 });
  });

  it('asks for what the meter prices by, and a caller’s own choice wins', async () => {
    const bodies: Record<string, unknown>[] = [];
    answer = (_target, body, response) => {
      bodies.push(body);
      reply(response, 200, {});
    };
    const update = { TableName: 't', Key: { pk: { S: 'a' } }, ConditionExpression: 'attribute_exists(pk)' };
    await client().send(new UpdateItemCommand(update));
    await client().send(new UpdateItemCommand({ ...update, ReturnValues: 'UPDATED_OLD' }));
    const asked = { ReturnConsumedCapacity: 'TOTAL', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
    expect(bodies).toEqual([
      { ...update, ...asked, ReturnValues: 'ALL_NEW' },
      { ...update, ...asked, ReturnValues: 'UPDATED_OLD' },
    ]);
  });

  it('prices by item sizes where the endpoint is not AWS, whatever that reports', async () => {
    answer = (_target, _body, response) => reply(response, 200, { ConsumedCapacity: { CapacityUnits: 77 } });
    await client().send(PUT);
    await client().send(new BatchExecuteStatementCommand({ Statements: [{ Statement: 'UPDATE "t" SET "a"=1' }] }));
    meter.addWriteUnits(3, [{ CapacityUnits: 99 }]);
    expect(meter.take()).toEqual({ calls: 2, readUnits: 0, writeUnits: 2 + 3 });
    expect(meter.take()).toEqual({ calls: 0, readUnits: 0, writeUnits: 0 });
  });

  it('counts the calls of every other service', async () => {
    answer = (_target, _body, response) => reply(response, 200, { Attributes: {} });
    await makeSqs({ meter }).send(new GetQueueAttributesCommand({ QueueUrl: `${loopback.endpoint}/q` }));
    expect(meter.take().calls).toBe(1);
  });
});
