import { CfnParameter, type CfnParameterProps, type Stack } from 'aws-cdk-lib';
import {
  NO_LIMIT,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingGroup,
} from '../core/policy/settings.ts';
import { integerPattern } from './integer-pattern.ts';
import type { SettingTexts } from './setting-texts.ts';

const GROUP_LABELS: Readonly<Record<SettingGroup, string>> = {
  What: 'What: which records are due, and what is written to them',
  When: 'When: the schedule and the retention period',
  How: 'How: report only or enforce, expire or delete',
  Limits: 'Limits: caps, size, speed and attempts',
  Operations: 'Operations: what is kept, and for how long',
};

/**
 * What CloudFormation itself refuses. Integers are text with a pattern, not `Number` with bounds: a Number also takes
 * `1.5`, `1e3` and ` 7`, and hands them on as they were written (pitfall P25).
 */
function allowed(definition: SettingDefinition): CfnParameterProps {
  switch (definition.kind) {
    case 'choice':
      return { allowedValues: [...definition.choices] };
    case 'integer':
      return {
        allowedPattern: `^${integerPattern(definition.min, definition.max)}$`,
        minLength: String(definition.min).length,
        maxLength: String(definition.max).length,
      };
    case 'limit':
      return {
        allowedPattern: `^(?:${NO_LIMIT}|${integerPattern(definition.min, definition.max)})$`,
        minLength: String(definition.min).length,
        maxLength: Math.max(NO_LIMIT.length, String(definition.max).length),
      };
    case 'text':
      return {
        allowedPattern: `^(?:${definition.pattern})$`,
        minLength: new RegExp(`^(?:${definition.pattern})$`, 'u').test('') ? 0 : 1,
        maxLength: definition.maxLength,
      };
  }
}

function parameterProps(definition: SettingDefinition): CfnParameterProps {
  return {
    type: 'String',
    description: definition.description,
    constraintDescription: `must be ${definition.constraint}.`,
    ...(definition.default === undefined ? {} : { default: definition.default }),
    ...allowed(definition),
  };
}

/** Form layout for the console: groups in the order of the settings table, a label for each parameter. */
function consoleForm(): object {
  const definitions = SETTING_KEYS.map((key): SettingDefinition => SETTINGS[key]);
  const groups = Object.entries(GROUP_LABELS).map(([group, label]) => ({
    Label: { default: label },
    Parameters: definitions.filter((definition) => definition.group === group).map(({ parameter }) => parameter),
  }));
  const labels = definitions.map(({ parameter, label }) => [parameter, { default: label }] as const);
  return { ParameterGroups: groups, ParameterLabels: Object.fromEntries(labels) };
}

/** Makes one CloudFormation parameter per setting and returns their references. */
export function addParameters(stack: Stack): SettingTexts {
  stack.templateOptions.metadata = { 'AWS::CloudFormation::Interface': consoleForm() };
  const references = SETTING_KEYS.map((key) => {
    const definition = SETTINGS[key];
    return [key, new CfnParameter(stack, definition.parameter, parameterProps(definition)).valueAsString];
  });
  return Object.fromEntries(references) as SettingTexts;
}
