import { type Duration, Token } from 'aws-cdk-lib';
import { parseSettings } from '../core/policy/parse.ts';
import {
  environmentName,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
} from '../core/policy/settings.ts';
import type { LedgersweepPipelineProps } from './pipeline-props.ts';
import { brokenRelations } from './relations.ts';
import type { SettingTexts } from './setting-texts.ts';

type Props = LedgersweepPipelineProps;

/** Lambda takes 4 KB of environment; the names of tables, queues and the secret need what is left. */
const MAX_SETTINGS_BYTES = 3_200;

const NOT_KNOWN = 'a value known only at deployment';

/** How each setting is read off the props, as text; undefined where it was left out. */
const READERS: { readonly [K in SettingKey]: (props: Props) => string | undefined } = {
  policyId: (props) => props.policyId,
  policyVersion: (props) => props.policyVersion,
  recordTableName: (props) => props.recordTableName,
  recordIndexName: (props) => props.recordIndexName,
  indexPartitionValues: (props) => listText(props.indexPartitionValues),
  partitionKeyAttribute: (props) => props.partitionKeyAttribute,
  sortKeyAttribute: (props) => props.sortKeyAttribute,
  tenantAttribute: (props) => props.tenantAttribute,
  timestampAttribute: (props) => props.timestampAttribute,
  timestampFormat: (props) => props.timestampFormat,
  stateAttribute: (props) => props.stateAttribute,
  eligibleState: (props) => props.eligibleState,
  expiredState: (props) => props.expiredState,
  expiredAtAttribute: (props) => props.expiredAtAttribute,
  operationKeyAttribute: (props) => props.operationKeyAttribute,
  holdAttributes: (props) => listText(props.holdAttributes),
  scheduleExpression: (props) => props.schedule?.expressionString,
  scheduleTimeZone: (props) => props.schedule?.timeZone?.timezoneName,
  scheduleState: (props) => props.scheduleState,
  retentionDays: (props) => durationText(props.retention, 'days'),
  mode: (props) => props.mode,
  batchSize: (props) => numberText(props.batchSize),
  consumerConcurrency: (props) => numberText(props.consumerConcurrency),
  batchTimeBudgetSeconds: (props) => durationText(props.batchTimeBudget, 'seconds'),
  maxAttempts: (props) => numberText(props.maxAttempts),
  discoverySegments: (props) => numberText(props.discoverySegments),
};

/** The props as setting texts. Throws one error that lists everything that is wrong with them. */
export function readProps(props: Props): SettingTexts {
  const raw = Object.fromEntries(SETTING_KEYS.map((key) => [key, READERS[key](props)]));
  const texts = Object.fromEntries(SETTING_KEYS.map((key) => [key, raw[key] ?? defaultText(key)])) as SettingTexts;
  const problems = [
    ...settingProblems(raw),
    ...listProblems('indexPartitionValues', props.indexPartitionValues),
    ...listProblems('holdAttributes', props.holdAttributes),
    ...brokenRelations(texts),
    ...sizeProblems(texts),
  ];
  if (problems.length > 0) throw new Error(['The retention policy cannot be deployed.', ...problems].join('\n- '));
  return texts;
}

function defaultText(key: SettingKey): string {
  const definition: SettingDefinition = SETTINGS[key];
  return definition.default ?? '';
}

/** What the parser says, except of texts that are still tokens. */
function settingProblems(raw: Partial<Record<SettingKey, string | undefined>>): readonly string[] {
  const parsed = parseSettings(raw);
  if (parsed.kind === 'valid') return [];
  const tokens = SETTING_KEYS.filter((key) => Token.isUnresolved(raw[key])).map((key) => SETTINGS[key].parameter);
  return parsed.problems.filter(({ parameter }) => !tokens.some((token) => token === parameter)).map((p) => p.message);
}

/** A list travels as one text, so an entry that holds a comma, or nothing, would become another list. */
function listProblems(key: SettingKey, list: readonly string[] | undefined): readonly string[] {
  const sound = (list ?? []).every((entry) => entry !== '' && !entry.includes(','));
  return sound ? [] : [`${SETTINGS[key].parameter} has an entry that is empty or holds a comma.`];
}

function sizeProblems(texts: SettingTexts): readonly string[] {
  const sizes = SETTING_KEYS.map((key) => Buffer.byteLength(environmentName(key) + texts[key]));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return bytes <= MAX_SETTINGS_BYTES
    ? []
    : [
        `All settings together take ${bytes} bytes of the functions' environment; it has room for ${MAX_SETTINGS_BYTES}.`,
      ];
}

function listText(list: readonly string[] | undefined): string | undefined {
  return Token.isUnresolved(list) ? NOT_KNOWN : list?.join(',');
}

function numberText(value: number | undefined): string | undefined {
  if (value === undefined) return undefined;
  return Token.isUnresolved(value) ? NOT_KNOWN : String(value);
}

function durationText(duration: Duration | undefined, unit: 'days' | 'seconds'): string | undefined {
  if (duration === undefined) return undefined;
  if (duration.isUnresolved()) return NOT_KNOWN;
  return String(unit === 'days' ? duration.toDays({ integral: false }) : duration.toSeconds({ integral: false }));
}
