import type { Context } from 'aws-lambda';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { environmentName, NO_LIMIT, SETTING_KEYS, SETTINGS } from '../../../lib/core/policy/settings.ts';
import { testSettings } from '../../model/settings.ts';

const RESOURCES = [
  'LEDGER_TABLE',
  'IDEMPOTENCY_TABLE',
  'WORK_QUEUE_URL',
  'DEAD_LETTER_QUEUE_URL',
  'SIGNING_SECRET_ARN',
  'CONSUMER_FUNCTION',
  'CONSUMER_MAPPING_ID',
  'DISPATCHER_FUNCTION',
  'TERMINAL_LOG_GROUP',
];
const context = { awsRequestId: 'request', getRemainingTimeInMillis: () => 60_000 } as Context;

/** What reaches AWS would fail: nothing listens there. */
function stubEnvironment(): void {
  for (const name of RESOURCES) {
    vi.stubEnv(name, name.endsWith('_URL') ? `http://127.0.0.1:9/${name.toLowerCase()}` : name.toLowerCase());
  }
  for (const key of SETTING_KEYS) vi.stubEnv(environmentName(key), String(testSettings()[key] ?? NO_LIMIT));
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:9');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
}

describe('consumer', () => {
  let handler: (event: unknown, context: Context) => Promise<unknown>;
  beforeAll(async () => {
    stubEnvironment();
    ({ handler } = await import('../../../lambdas/consumer/handler.ts'));
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty object', {}],
    ['no records', { Records: [] }],
    ['records of another service', { Records: [{ eventSource: 'aws:s3', s3: {} }] }],
    ['one record of another service', { Records: [{ eventSource: 'aws:sqs' }, { eventSource: 'aws:sns' }] }],
    ['records that are none', { Records: [null] }],
    ['a probe that is none', { probe: { settings: {}, keys: [] } }],
    ['a schedule’s event', { scheduledTime: '2026-01-01T00:00:00Z' }],
  ])('P34: rejects %s, which no answer of its could fit', async (_what, event) => {
    await expect(handler(event, context)).rejects.toThrow('neither of the work queue nor a probe');
  });

  it('P34: hands back the message that is to come again', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'nobody');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'nothing');
    const body = JSON.stringify({
      ...{ schemaVersion: 1, runId: 'p.v1.20260101T000000Z', tenant: 't1', cutoff: '2025-01-01T00:00:00.000Z' },
      ...{ policyVersion: 'v1', unit: '0', generation: 0, keyId: 'k1', mac: 'AAAA' },
    });
    const attributes = { ApproximateReceiveCount: '1' };
    const record = { eventSource: 'aws:sqs', messageId: 'm-1', receiptHandle: 'h', body, attributes };
    // Its key cannot be looked up here, so that nobody knows yet what it is.
    expect(await handler({ Records: [record] }, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'm-1' }] });
  });
});

describe('dispatcher', () => {
  let handler: (event: unknown, context: Context) => Promise<unknown>;
  beforeAll(async () => {
    stubEnvironment();
    ({ handler } = await import('../../../lambdas/dispatcher/handler.ts'));
  });
  const scheduledTime = '2026-01-01T00:00:00Z';

  it.each([
    ['<aws.scheduler.scheduled-time>', 'placeholder'],
    ['2999-01-01T00:00:00Z', 'ahead of now'],
    ['yesterday', 'instant'],
    [undefined, 'must be text'],
  ])('P6: a scheduled time of %j is an error of a dispatch and an answer of a preflight', async (time, what) => {
    await expect(handler({ scheduledTime: time }, context)).rejects.toThrow(what);
    const checked = await handler({ scheduledTime: time, preflight: true }, context);
    expect(checked).toMatchObject({ kind: 'preflight', problems: [{ parameter: 'scheduledTime' }] });
  });

  it.each(['0', '-1', '', '0d', 'NaN', '1e9'])(
    'P25: a retention of %j is an error of a dispatch and an answer of a preflight',
    async (retentionDays) => {
      vi.stubEnv(environmentName('retentionDays'), retentionDays);
      try {
        await expect(handler({ scheduledTime }, context)).rejects.toThrow(SETTINGS.retentionDays.parameter);
        const checked = await handler({ scheduledTime, preflight: true }, context);
        const problem = { parameter: 'RetentionDays', received: JSON.stringify(retentionDays) };
        expect(checked).toMatchObject({ kind: 'preflight', problems: [problem] });
      } finally {
        vi.stubEnv(environmentName('retentionDays'), '365');
      }
    },
  );

  it('is a preflight only where it says so, in so many words', async () => {
    for (const preflight of ['true', 1, null, {}]) {
      await expect(handler({ scheduledTime: 'never', preflight }, context)).rejects.toThrow('instant');
    }
  });
});

describe('redrive', () => {
  let handler: (event: unknown, context: Context) => Promise<unknown>;
  beforeAll(async () => {
    stubEnvironment();
    ({ handler } = await import('../../../lambdas/redrive/handler.ts'));
  });

  it.each([
    ['nothing', undefined, 'must be an object with an act, one of list'],
    ['an act that there is not', { act: 'purge' }, 'act must be one of'],
    ['a redrive of nothing', { act: 'redrive', actor: 'ada', reason: 'mended' }, 'Say which units'],
    ['a redrive by nobody', { act: 'redrive', all: true, reason: 'mended' }, 'actor'],
    ['a pause without a reason', { act: 'pause', actor: 'ada' }, 'reason'],
  ])('refuses %s before it does anything', async (_what, event, why) => {
    await expect(handler(event, context)).rejects.toThrow(why);
  });
});
