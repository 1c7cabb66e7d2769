import { parseSettings } from '../../lib/core/policy/parse.ts';
import type { SettingKey, Settings } from '../../lib/core/policy/settings.ts';

/**
 * Settings over rows with the attributes id, tenant, status, lastActivity and hold; enforcing, small batches. No caps: a
 * test plans all it has.
 */
export function testSettings(overrides: Partial<Record<SettingKey, string>> = {}): Settings {
  const parsed = parseSettings({
    policyId: 'accounts',
    policyVersion: 'v1',
    recordTableName: 'accounts-table',
    tenantAttribute: 'tenant',
    timestampAttribute: 'lastActivity',
    timestampFormat: 'iso-8601',
    holdAttributes: 'hold',
    retentionDays: '365',
    mode: 'enforce',
    batchSize: '3',
    maxAttempts: '5',
    discoverySegments: '2',
    capRecords: 'none',
    capSharePercent: 'none',
    capDeviationFactor: 'none',
    ...overrides,
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map((problem) => problem.message).join(' '));
  return parsed.settings;
}
