import { type ParsedSettings, parseSettings, settingProblem } from '../core/policy/parse.ts';
import { environmentName, SETTING_KEYS, SETTINGS } from '../core/policy/settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variables by which the stack names its resources to its functions. */
export const RESOURCES = {
  ledgerTable: 'LEDGER_TABLE',
  idempotencyTable: 'IDEMPOTENCY_TABLE',
  workQueueUrl: 'WORK_QUEUE_URL',
  deadLetterQueueUrl: 'DEAD_LETTER_QUEUE_URL',
  signingSecretArn: 'SIGNING_SECRET_ARN',
  dispatcherFunction: 'DISPATCHER_FUNCTION',
  consumerFunction: 'CONSUMER_FUNCTION',
  consumerMapping: 'CONSUMER_MAPPING_ID',
  terminalLogGroup: 'TERMINAL_LOG_GROUP',
} as const;

export type Resource = keyof typeof RESOURCES;

/** The policy's settings as the stack handed them over; what is wrong with them is a value, so that a run can say it. */
export function readSettings(env: Environment): ParsedSettings {
  return parseSettings(Object.fromEntries(SETTING_KEYS.map((key) => [key, env[environmentName(key)]])));
}

/**
 * How many days the ledger keeps what this process writes; undefined, for ever, where the setting does not say, because
 * a mistake in it must not cost anybody a record of what was done.
 */
export function readRetentionDays(env: Environment): number | undefined {
  const raw = env[environmentName('ledgerRetentionDays')];
  return settingProblem('ledgerRetentionDays', raw) === undefined
    ? Number(raw ?? SETTINGS.ledgerRetentionDays.default)
    : undefined;
}

/** Names of the resources that a function asks for. Throws an error that names every variable it lacks. */
export function readResources<R extends Resource>(env: Environment, wanted: readonly R[]): Readonly<Record<R, string>> {
  const missing = wanted.map((resource) => RESOURCES[resource]).filter((name) => (env[name] ?? '') === '');
  if (missing.length > 0) throw new Error(`Missing environment variables: ${missing.join(', ')}.`);
  return Object.fromEntries(wanted.map((resource) => [resource, env[RESOURCES[resource]]])) as Record<R, string>;
}
