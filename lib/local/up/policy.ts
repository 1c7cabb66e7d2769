import { runIdOf } from '../../core/identity/keys.ts';
import { type ParsedSettings, parseSettings } from '../../core/policy/parse.ts';
import { NO_LIMIT, SETTING_KEYS, SETTINGS, type SettingKey, type Settings } from '../../core/policy/settings.ts';

export type Mode = Settings['mode'];

/** Names that every local run gives its records' attributes. */
export const ATTRIBUTES = {
  key: 'id',
  tenant: 'tenant',
  timestamp: 'lastActivity',
  hold: 'hold',
  state: 'status',
  expiredAt: 'expiredAt',
  operationKey: 'sweepOperationKey',
} as const;

export const STATE = { eligible: 'ACTIVE', expired: 'EXPIRED' } as const;

/** What every local deployment needs, whatever its policy. */
const LOCAL_TEXTS = {
  // The local scheduler fires with its placeholders not filled in; the run fires the schedule's target itself.
  scheduleState: 'DISABLED',
  // The shortest visibility timeout, 60 s: a delivery that crashes is back after that.
  batchTimeBudgetSeconds: '1',
} as const;

/** Reads the settings of a policy that is written in code. */
export function readLocalSettings(texts: Partial<Record<SettingKey, string>>): Settings {
  const parsed = parseSettings({ ...LOCAL_TEXTS, ...texts });
  if (parsed.kind === 'valid') return parsed.settings;
  throw new TypeError(parsed.problems.map(({ message }) => message).join(' '));
}

/** What differs between local runs; text as a person gave it. */
export interface PolicyTexts {
  readonly policyId: string;
  readonly recordTableName: string;
  readonly retentionDays: string | undefined;
  readonly mode: string;
}

/** Reads the settings of a local run by the product's own rules. */
export function readPolicy(texts: PolicyTexts): ParsedSettings {
  return parseSettings({
    ...LOCAL_TEXTS,
    ...texts,
    policyVersion: 'v1',
    partitionKeyAttribute: ATTRIBUTES.key,
    tenantAttribute: ATTRIBUTES.tenant,
    timestampAttribute: ATTRIBUTES.timestamp,
    timestampFormat: 'iso-8601',
    stateAttribute: ATTRIBUTES.state,
    eligibleState: STATE.eligible,
    expiredState: STATE.expired,
    expiredAtAttribute: ATTRIBUTES.expiredAt,
    operationKeyAttribute: ATTRIBUTES.operationKey,
    holdAttributes: ATTRIBUTES.hold,
    // What is here was made for the run or is a copy, and may be due as a whole.
    capRecords: NO_LIMIT,
    capSharePercent: NO_LIMIT,
    capDeviationFactor: NO_LIMIT,
  });
}

/** The settings as parameters of the stack. */
export function parametersOf(settings: Settings): Record<string, string> {
  return Object.fromEntries(SETTING_KEYS.map((key) => [SETTINGS[key].parameter, String(settings[key] ?? NO_LIMIT)]));
}

export function runIdAt(settings: Settings, scheduledTime: number): string {
  return runIdOf(settings.policyId, settings.policyVersion, scheduledTime);
}
