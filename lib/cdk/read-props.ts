import { Token } from 'aws-cdk-lib';
import { parseSettings, settingProblem } from '../core/policy/parse.ts';
import {
  numericProblems,
  RELATIONS,
  type Relation,
  relationHolds,
  relationSentence,
} from '../core/policy/relations.ts';
import {
  environmentName,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
} from '../core/policy/settings.ts';
import type { LedgersweepPipelineProps } from './pipeline-props.ts';
import { SETTING_PROPS } from './setting-props.ts';
import type { SettingTexts } from './setting-texts.ts';

type RawTexts = Readonly<Partial<Record<SettingKey, string | undefined>>>;

/** Lambda takes 4 KB of environment; the names of tables, queues, functions and the secret need what is left. */
const MAX_SETTINGS_BYTES = 3_200;

/** The props as setting texts. Throws one error that lists everything that is wrong with them. */
export function readProps(props: LedgersweepPipelineProps): SettingTexts {
  const raw: RawTexts = Object.fromEntries(SETTING_KEYS.map((key) => [key, SETTING_PROPS[key].read(props)]));
  const texts = Object.fromEntries(SETTING_KEYS.map((key) => [key, raw[key] ?? defaultText(key)])) as SettingTexts;
  const problems = [
    ...SETTING_KEYS.flatMap((key) => (isKnown(raw[key]) ? (settingProblem(key, raw[key])?.message ?? []) : [])),
    ...listProblems('indexPartitionValues', props.indexPartitionValues),
    ...listProblems('holdAttributes', props.holdAttributes),
    ...RELATIONS.filter((relation) => isBroken(relation, texts)).map(relationSentence),
    ...numberProblems(raw),
    ...sizeProblems(texts),
  ];
  if (problems.length > 0) throw new Error(['The retention policy cannot be deployed.', ...problems].join('\n- '));
  return texts;
}

function isKnown(text: string | undefined): boolean {
  return !Token.isUnresolved(text);
}

function defaultText(key: SettingKey): string {
  const definition: SettingDefinition = SETTINGS[key];
  return definition.default ?? '';
}

/** A list travels as one text, so an entry that holds a comma, or nothing, would become another list. */
function listProblems(key: SettingKey, list: readonly string[] | undefined): readonly string[] {
  const sound = (list ?? []).every((entry) => entry !== '' && !entry.includes(','));
  return sound ? [] : [`${SETTINGS[key].parameter} has an entry that is empty or holds a comma.`];
}

/** Two texts that are not known yet are equal only where they are the same token; a need is not known before its text. */
function isBroken(relation: Relation, texts: SettingTexts): boolean {
  if (relation.kind === 'requires' && !isKnown(texts[relation.first])) return false;
  return !relationHolds(relation, (key) => texts[key]);
}

/** Relations between numbers, as soon as every setting is well formed; nothing is said of a text not known yet. */
function numberProblems(raw: RawTexts): readonly string[] {
  const unknown = SETTING_KEYS.filter((key) => !isKnown(raw[key]));
  const parsed = parseSettings({ ...raw, ...Object.fromEntries(unknown.map((key) => [key, standIn(key)])) });
  if (parsed.kind === 'invalid') return [];
  const parameters: readonly string[] = unknown.map((key) => SETTINGS[key].parameter);
  return numericProblems(parsed.settings).flatMap(({ parameter, message }) =>
    parameters.includes(parameter) ? [] : message,
  );
}

/** A well-formed text that no other setting has; where the form allows none, the default or the first choice. */
function standIn(key: SettingKey): string {
  const definition: SettingDefinition = SETTINGS[key];
  const name = 'known-at-deployment';
  if (settingProblem(key, name) === undefined) return name;
  return definition.default ?? (definition.kind === 'choice' ? (definition.choices[0] ?? '') : '');
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
