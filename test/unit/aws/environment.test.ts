import { describe, expect, it } from 'vitest';
import { readResources, readRetentionDays, readSettings } from '../../../lib/aws/environment.ts';
import { environmentName, NO_LIMIT, SETTING_KEYS, type Settings } from '../../../lib/core/policy/settings.ts';
import { testSettings } from '../../model/settings.ts';

function environmentOf(settings: Settings): Record<string, string> {
  return Object.fromEntries(SETTING_KEYS.map((key) => [environmentName(key), String(settings[key] ?? NO_LIMIT)]));
}

describe('environment', () => {
  it('holds every setting under its own name', () => {
    const settings = testSettings({ retentionDays: '1461', holdAttributes: 'legalHold,dispute' });
    expect(readSettings(environmentOf(settings))).toEqual({ kind: 'valid', settings });
  });

  it.each(['', '-1', '0', '1e3', 'undefined', 'NaN', '[object Object]', ['$', '{Token[TOKEN.12]}'].join('')])(
    'P64: a retention of %j is a problem that names its parameter',
    (retentionDays) => {
      const env = { ...environmentOf(testSettings()), [environmentName('retentionDays')]: retentionDays };
      expect(readSettings(env)).toMatchObject({ kind: 'invalid', problems: [{ parameter: 'RetentionDays' }] });
    },
  );

  it('gives the resources that are asked for', () => {
    const env = { LEDGER_TABLE: 'ledger', WORK_QUEUE_URL: 'https://queue', OTHER: 'x' };
    expect(readResources(env, ['ledgerTable', 'workQueueUrl'])).toEqual({
      ledgerTable: 'ledger',
      workQueueUrl: 'https://queue',
    });
  });

  it('names every resource that is missing or blank', () => {
    const env = { LEDGER_TABLE: 'ledger', SIGNING_SECRET_ARN: '' };
    expect(() => readResources(env, ['ledgerTable', 'idempotencyTable', 'signingSecretArn'])).toThrow(
      'Missing environment variables: IDEMPOTENCY_TABLE, SIGNING_SECRET_ARN.',
    );
  });

  it.each([
    ['400', 400],
    ['90', 90],
    [undefined, 400],
    ['0', undefined],
    ['89', undefined],
    ['', undefined],
    ['NaN', undefined],
    ['1e9', undefined],
    ['90d', undefined],
  ])('P64: a ledger retention of %j is %j days; a mistake in it lets nothing go', (raw, days) => {
    expect(readRetentionDays({ [environmentName('ledgerRetentionDays')]: raw })).toBe(days);
  });
});
