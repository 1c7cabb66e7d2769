import {
  type IntegerSetting,
  type LimitSetting,
  NO_LIMIT,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
  type Settings,
} from './settings.ts';

/** One thing wrong with the configuration, worded for the person who must mend it. */
export interface Problem {
  /** The CloudFormation parameter to change, or the thing that was read where it is not a parameter. */
  readonly parameter: string;
  /** What was received, as text; `(nothing)` where it was missing. */
  readonly received: string;
  readonly message: string;
}

export type ParsedSettings =
  | { readonly kind: 'valid'; readonly settings: Settings }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

const INTEGER = /^(0|-?[1-9][0-9]{0,15})$/;

// What a variable that was never set, or a token that was never resolved, becomes as text (pitfall P64). A hold
// attribute of such a name would be a hold that is never seen.
const NOT_A_VALUE = /(^|,)(undefined|null|NaN)(,|$)|\[object [A-Z]|\$\{Token\[/;

function readInteger({ min, max }: IntegerSetting | LimitSetting, raw: string): { value: number } | string {
  // Number('') and Number(' 0x1F') are numbers to JavaScript; a retention period must be spelled as one (P25).
  if (!INTEGER.test(raw)) return 'is not a whole number';
  const value = Number(raw);
  return value < min || value > max ? 'is out of range' : { value };
}

/** Reads one raw value against its definition; a string is the reason it does not fit. */
function readValue(definition: SettingDefinition, raw: string): { value: string | number | null } | string {
  switch (definition.kind) {
    case 'limit':
      return raw === NO_LIMIT ? { value: null } : readInteger(definition, raw);
    case 'integer':
      return readInteger(definition, raw);
    case 'choice':
      return definition.choices.includes(raw) ? { value: raw } : 'is none of the choices';
    case 'text':
      if (raw.length > definition.maxLength) return 'is too long';
      if (NOT_A_VALUE.test(raw)) return 'is the text of a value that was not set';
      return new RegExp(`^(?:${definition.pattern})$`, 'u').test(raw) ? { value: raw } : 'has the wrong form';
  }
}

function problem(definition: SettingDefinition, received: string, what: string): Problem {
  return {
    parameter: definition.parameter,
    received,
    message: `${definition.parameter} ${what}: it must be ${definition.constraint}; received ${received}.`,
  };
}

/** Checks one setting's text; undefined where it fits. */
export function settingProblem(key: SettingKey, raw: string | undefined): Problem | undefined {
  const definition: SettingDefinition = SETTINGS[key];
  const text = raw ?? definition.default;
  if (text === undefined) return problem(definition, '(nothing)', 'is missing');
  const read = readValue(definition, text);
  return typeof read === 'string' ? problem(definition, JSON.stringify(text), read) : undefined;
}

/**
 * Reads all settings from text, reporting every problem at once. A setting that is absent takes its default; one
 * that is blank takes it only where blank is itself a legal value.
 */
export function parseSettings(raw: Partial<Record<SettingKey, string | undefined>>): ParsedSettings {
  const problems = SETTING_KEYS.flatMap((key) => settingProblem(key, raw[key]) ?? []);
  if (problems.length > 0) return { kind: 'invalid', problems };
  const entries = SETTING_KEYS.map((key) => {
    const definition: SettingDefinition = SETTINGS[key];
    const read = readValue(definition, raw[key] ?? definition.default ?? '');
    return [key, typeof read === 'string' ? read : read.value];
  });
  return { kind: 'valid', settings: Object.fromEntries(entries) as Settings };
}
