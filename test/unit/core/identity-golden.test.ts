import { describe, expect, it } from 'vitest';
import {
  type DigestChain,
  EMPTY_CHAIN,
  extendChain,
  keysDigest,
  sameChain,
  sliceDigest,
} from '../../../lib/core/identity/digests.ts';
import { lengthPrefixed } from '../../../lib/core/identity/encode.ts';
import { batchUnit, operationKey, ordinalOf, type RunKind, runIdOf } from '../../../lib/core/identity/keys.ts';
import { NO_AUDIT } from '../../../lib/core/plan/new-run.ts';
import { policyDigest } from '../../../lib/core/policy/digest.ts';
import { SETTING_KEYS, SETTINGS, type SettingKey } from '../../../lib/core/policy/settings.ts';
import { auditHash } from '../../../lib/core/redrive/audit.ts';
import { testSettings } from '../../model/index.ts';

// Made by another implementation of the same encoding (Python's hashlib). A value that changes here changes what is
// stored in records and ledgers already: old and new runs would no longer recognise each other's work.
const CUTOFF = Date.UTC(2026, 7, 1);
const ADA = {
  policyId: 'accounts',
  policyVersion: 'v1',
  recordKey: '["Sada"]',
  cutoff: CUTOFF,
  kind: 'expire',
} as const;

describe('golden values of identities', () => {
  it.each<[RunKind, string]>([
    ['expire', 'Ux6J04vr5lH1sxFaXKxZMw'],
    ['delete', 'ORUcGrE6eQ_9Y7MxjikQIA'],
    ['undo', 'FcST-jxyshv4ENA8FQFqSA'],
  ])('P49: the operation key of kind %s', (kind, key) => {
    expect(operationKey({ ...ADA, kind })).toBe(key);
    expect(Buffer.from(key, 'base64url')).toHaveLength(16);
  });

  it('P49: the operation key does not depend on how the cutoff was spelled or in which order the parts were named', () => {
    const cutoff = Date.parse('2026-08-01T00:00:00Z');
    const { kind, ...others } = ADA;
    expect(operationKey({ kind, ...others, cutoff })).toBe(operationKey(ADA));
    expect(Date.parse('2026-08-01T00:00:00.000Z')).toBe(cutoff);
  });

  it('an operation key differs where any part of the identity differs', () => {
    const others = [
      { ...ADA, policyId: 'account' },
      { ...ADA, policyVersion: 'v2' },
      { ...ADA, recordKey: '["Sadb"]' },
      { ...ADA, cutoff: CUTOFF + 1 },
      { ...ADA, kind: 'delete' as const },
    ];
    expect(new Set([ADA, ...others].map(operationKey)).size).toBe(1 + others.length);
  });

  it('lengths stand before parts, in UTF-8 bytes', () => {
    expect(lengthPrefixed(['a#b', '', 'é']).toString('hex')).toBe('00000003612362' + '00000000' + '00000002c3a9');
  });

  it('run ids, in whole seconds of UTC', () => {
    expect(runIdOf('accounts', 'v1', Date.UTC(2026, 0, 1))).toBe('accounts.v1.20260101T000000Z');
    expect(runIdOf('a-b_c', '2', Date.UTC(2026, 9, 25, 1, 30, 59))).toBe('a-b_c.2.20261025T013059Z');
  });

  it('units name their batch', () => {
    expect([batchUnit(0), batchUnit(12)]).toEqual(['0', '12']);
    expect([ordinalOf('12'), ordinalOf('12.7')]).toEqual([12, 12]);
  });

  it('digests of keys and of a slice', () => {
    expect(keysDigest(['["Sb"]', '["Sa"]'])).toBe('_ZcQy6JnJ78vGcQjTWNUzFcEVGyDpBzIImog8GfkQqE');
    expect(keysDigest([])).toBe('pEPjEhy_axjIiLkpvyh6AKNz_3OtbxEFlphua7d0cp0');
    const entries = [['["Sa"]', 'S:x'] as const, ['["Sb"]', 'S:y'] as const];
    expect(sliceDigest(3, 't1', entries)).toBe('91plMtAF6Fv1PdrEw9t2e89yVVN4iO8E07-Z-b7m2fI');
  });

  it('the chain over batches', () => {
    const one = extendChain(EMPTY_CHAIN, 2, keysDigest(['["Sa"]', '["Sb"]']));
    const two = extendChain(one, 1, keysDigest(['["Sc"]']));
    expect(EMPTY_CHAIN).toEqual({ batches: 0, records: 0, digest: 'iPWCZ6SZxhQzM9mtBLKm1cA16NaAdxYy1_NqK5LPYJ4' });
    expect(one).toEqual({ batches: 1, records: 2, digest: 'CfkSZIPDyEa6ax-5_7Oq2ZhkZb3YBQyLt9sztstJjzk' });
    expect(two).toEqual({ batches: 2, records: 3, digest: 'w7OhjGJMGVphwY2If0enJESdWRJDa7Y3TA5v3BwX6_0' });
  });

  it('two chains are the same only where batches, records and digest are', () => {
    const chain: DigestChain = { batches: 2, records: 3, digest: 'd' };
    expect(sameChain(chain, { ...chain })).toBe(true);
    for (const other of [{ batches: 3 }, { records: 4 }, { digest: 'e' }]) {
      expect(sameChain(chain, { ...chain, ...other })).toBe(false);
    }
  });

  it('an audit entry and the head of an empty trail', () => {
    expect(NO_AUDIT).toEqual({ count: 0, hash: 'WUwbDzKkBa0Pgm5RTWmnCYPRkvbvLnja0HeMS2APh1g' });
    const entry = {
      number: 0,
      act: 'redrive',
      actor: 'arn:aws:iam::1:user/eve',
      reason: 'mended',
      requestId: 'req-1',
      units: ['0', '3'],
      at: Date.UTC(2026, 0, 1),
      previousHash: NO_AUDIT.hash,
    };
    expect(auditHash(entry)).toBe('iNzxh4a0LuSA-_YIERGbh58PURVyxDKExb59cJD0R3I');
  });
});

describe('policy digest', () => {
  // A setting added to it changes the meaning of every version in use: such a change needs a thought, not a new literal.
  it('has a golden value, whatever the order of the settings', () => {
    const settings = testSettings();
    expect(policyDigest(settings)).toBe('gRIY_xvBZAiDGHUsjSF5dUk1o_gVjvEBHos4ugadDS8');
    const reversed = Object.fromEntries(Object.entries(settings).reverse()) as typeof settings;
    expect(policyDigest(reversed)).toBe(policyDigest(settings));
  });

  const changed: Record<SettingKey, string> = {
    policyId: 'other',
    policyVersion: 'v2',
    recordTableName: 'other-table',
    recordIndexName: 'by-activity',
    indexPartitionValues: 'a,b',
    partitionKeyAttribute: 'pk',
    sortKeyAttribute: 'sk',
    tenantAttribute: 'customer',
    timestampAttribute: 'seen',
    timestampFormat: 'epoch-seconds',
    stateAttribute: 'state',
    eligibleState: 'IDLE',
    expiredState: 'GONE',
    expiredAtAttribute: 'at',
    operationKeyAttribute: 'key',
    holdAttributes: 'hold,dispute',
    scheduleExpression: 'rate(1 day)',
    scheduleTimeZone: 'Europe/Berlin',
    scheduleStart: '2027-01-01T02:00:00Z',
    scheduleState: 'DISABLED',
    retentionDays: '366',
    windowDays: '30',
    runDeadlineHours: '12',
    mode: 'report-only',
    action: 'delete',
    allowDelete: 'yes',
    graceDays: '31',
    batchSize: '4',
    consumerConcurrency: '6',
    batchTimeBudgetSeconds: '60',
    maxAttempts: '6',
    discoverySegments: '3',
    recordsPerRun: '1000',
    capRecords: '2000',
    capSharePercent: '20',
    capDeviationFactor: '3',
    recordsPerSecond: '50',
    unitAgeHours: '24',
    redriveGenerations: '4',
    successSamplePercent: '10',
    ledgerRetentionDays: '500',
    logRetentionDays: '30',
    terminalLogRetentionDays: '90',
  };

  it.each(SETTING_KEYS)('changes with %s exactly where the table says that it changes what is due', (key) => {
    const same = policyDigest(testSettings({ [key]: changed[key] })) === policyDigest(testSettings());
    expect(same).toBe(!SETTINGS[key].inPolicyDigest);
  });
});
