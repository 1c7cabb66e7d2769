import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { LambdaGrantProbe, readProbeRequest } from '../../../lib/aws/probe.ts';
import { testSettings } from '../../model/settings.ts';

const KEYS = [{ name: 'id', role: 'partition', type: 'S' }] as const;
const settings = testSettings({ recordsPerSecond: 'none', retentionDays: '1461', holdAttributes: 'legalHold,dispute' });

interface Invocation {
  readonly InvocationType: string;
  readonly FunctionName: string;
  readonly Payload: Uint8Array;
}

function probeOver(invoke: (input: Invocation) => object) {
  const table = {
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  };
  const dynamo = { send: async () => ({ Table: table }) } as unknown as DynamoDBClient;
  const lambda = { send: async ({ input }: { input: Invocation }) => invoke(input) } as unknown as LambdaClient;
  return new LambdaGrantProbe({ dynamo, lambda, consumerFunction: 'consumer' });
}

const answer = (value: unknown) => ({ Payload: Buffer.from(JSON.stringify(value)) });
const PROBLEM = { parameter: 'Mode', received: 'enforce', message: 'The role may not write.' };

describe('grant probe', () => {
  it('asks the consumer and waits for its answer, with the table’s keys and the settings as they are', async () => {
    const asked: Invocation[] = [];
    const probe = probeOver((input) => {
      asked.push(input);
      return answer({ problems: [PROBLEM] });
    });
    expect(await probe.missingGrants(settings)).toEqual([PROBLEM]);
    expect(asked).toMatchObject([{ FunctionName: 'consumer', InvocationType: 'RequestResponse' }]);
    const event: unknown = JSON.parse(Buffer.from(asked[0]?.Payload ?? []).toString());
    expect(readProbeRequest(event)).toEqual({ settings, keys: KEYS });
  });

  it('finds nothing wrong where the consumer says so', async () => {
    expect(await probeOver(() => answer({ problems: [] })).missingGrants(settings)).toEqual([]);
  });

  it('fails, for now, where the consumer failed', async () => {
    const failing = probeOver(() => ({ FunctionError: 'Unhandled', ...answer({ errorMessage: 'timed out' }) }));
    const transient = { failure: { class: 'transient', error: 'ConsumerFailed' } };
    await expect(failing.missingGrants(settings)).rejects.toMatchObject(transient);
  });

  it.each([null, {}, { problems: 'none' }, { problems: [{ parameter: 'Mode' }] }, { batchItemFailures: [] }])(
    'takes %j for no answer: never for a grant',
    async (value) => {
      const permanent = { failure: { class: 'permanent', error: 'MalformedAnswer' } };
      await expect(probeOver(() => answer(value)).missingGrants(settings)).rejects.toMatchObject(permanent);
    },
  );

  it('says who may not invoke whom, where that is what is missing', async () => {
    const denied = probeOver(() => {
      throw Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    });
    const problems = await denied.missingGrants(settings);
    expect(problems).toMatchObject([{ parameter: 'CONSUMER_FUNCTION', received: 'consumer' }]);
  });

  it('fails by its class where the consumer could not be asked', async () => {
    const throttled = probeOver(() => {
      throw Object.assign(new Error('no'), { name: 'TooManyRequestsException' });
    });
    await expect(throttled.missingGrants(settings)).rejects.toMatchObject({ failure: { class: 'transient' } });
  });
});

describe('a probe as the consumer reads it', () => {
  const probe = { settings, keys: KEYS };

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'probe'],
    ['no probe', { problems: [] }],
    ['a probe of null', { probe: null }],
    ['records beside it', { probe, Records: [] }],
    ['no settings', { probe: { keys: KEYS } }],
    ['P74: a name with a quote', { probe: { ...probe, settings: { ...settings, stateAttribute: 'a"b' } } }],
    ['no keys', { probe: { ...probe, keys: [] } }],
    ['P74: a key with a quote', { probe: { ...probe, keys: [{ ...KEYS[0], name: 'a"b' }] } }],
    ['a key of no type', { probe: { ...probe, keys: [{ ...KEYS[0], type: 'X' }] } }],
  ])('is none of: %s', (_what, event) => {
    expect(readProbeRequest(event)).toBeUndefined();
  });
});
