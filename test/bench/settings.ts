import { parseSettings } from '../../lib/core/policy/parse.ts';
import { NO_LIMIT, type Settings } from '../../lib/core/policy/settings.ts';

export const SCHEDULED_TIME = Date.UTC(2026, 0, 1);

/** As many as a deployment has by default. */
const CONSUMERS = 5;

export interface BenchOptions {
  readonly batchSize: number;
  readonly consumers?: number;
  /** Absent: as fast as it goes. */
  readonly recordsPerSecond?: number;
}

/** The policy of every bench: expire what was not active for four years. */
export function benchSettings(
  recordTableName: string,
  { batchSize, consumers, recordsPerSecond }: BenchOptions,
): Settings {
  const parsed = parseSettings({
    policyId: 'bench',
    policyVersion: 'v1',
    recordTableName,
    tenantAttribute: 'tenant',
    timestampAttribute: 'lastActivity',
    timestampFormat: 'iso-8601',
    holdAttributes: 'hold',
    retentionDays: '1461',
    mode: 'enforce',
    batchSize: String(batchSize),
    consumerConcurrency: String(consumers ?? CONSUMERS),
    recordsPerSecond: String(recordsPerSecond ?? NO_LIMIT),
    // Here nearly every record is due.
    capRecords: NO_LIMIT,
    capSharePercent: NO_LIMIT,
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map((problem) => problem.message).join(' '));
  return parsed.settings;
}
