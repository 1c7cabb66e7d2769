import { DAY_MILLIS, type EpochMillis } from '../../lib/core/identity/instant.ts';
import type { Settings } from '../../lib/core/policy/settings.ts';
import { readLocalSettings } from '../../lib/local/up/policy.ts';

const RETENTION_DAYS = 90;
const WINDOW_DAYS = 30;
const GRACE_DAYS = 30;

/** One step of the rollout: a deployment with its own parameters, and one scheduled run of it. */
export interface Step {
  readonly title: string;
  readonly settings: Settings;
  readonly scheduledTime: EpochMillis;
  /** Days that pass, for the deployed functions, between the step before and this one. */
  readonly daysLater: number;
}

export interface Calendar {
  readonly steps: readonly [Step, ...Step[]];
  readonly windowDays: number;
  /** Cutoffs of the step with a window and of the one without. */
  readonly windowCutoff: EpochMillis;
  readonly enforceCutoff: EpochMillis;
}

const POLICY = {
  policyId: 'tenant-retention',
  policyVersion: 'v1',
  recordTableName: 'shipments',
  partitionKeyAttribute: 'id',
  tenantAttribute: 'tenant',
  timestampAttribute: 'lastUpdate',
  timestampFormat: 'epoch-seconds',
  holdAttributes: 'legalHold,openDispute',
  retentionDays: String(RETENTION_DAYS),
  graceDays: String(GRACE_DAYS),
  batchSize: '25',
  consumerConcurrency: '4',
};

const DELETE = {
  mode: 'enforce',
  action: 'delete',
  allowDelete: 'yes',
  // Another action is another meaning, and a version means one thing.
  policyVersion: 'v2',
  // All but the held ones of what expired is to go, and more than half of it is no surprise.
  capSharePercent: '100',
};

/**
 * The rollout as it is played on a day: the first three steps were due on the last three nights, and are carried out
 * now. What they expire bears the time of now; the last step is the night after the grace days, counted from tomorrow.
 */
export function calendarFrom(now: EpochMillis): Calendar {
  const lastNight = Math.floor(now / DAY_MILLIS) * DAY_MILLIS;
  const afterGrace = lastNight + (GRACE_DAYS + 2) * DAY_MILLIS;
  const step = (title: string, scheduledTime: EpochMillis, texts: Readonly<Record<string, string>>): Step => ({
    title,
    settings: readLocalSettings({ ...POLICY, ...texts }),
    scheduledTime,
    daysLater: scheduledTime > now ? GRACE_DAYS + 2 : 0,
  });
  return {
    steps: [
      step('report only', lastNight - 2 * DAY_MILLIS, { mode: 'report-only' }),
      step('enforce, narrow window', lastNight - DAY_MILLIS, { mode: 'enforce', windowDays: String(WINDOW_DAYS) }),
      step('enforce', lastNight, { mode: 'enforce' }),
      step('delete after the grace days', afterGrace, DELETE),
    ],
    windowDays: WINDOW_DAYS,
    windowCutoff: lastNight - (RETENTION_DAYS + 1) * DAY_MILLIS,
    enforceCutoff: lastNight - RETENTION_DAYS * DAY_MILLIS,
  };
}
