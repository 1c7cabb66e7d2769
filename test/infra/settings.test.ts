import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cdk/handler-entry.ts';
import type { LedgersweepPipelineProps } from '../../lib/cdk/index.ts';
import { SETTING_PROPS } from '../../lib/cdk/setting-props.ts';
import {
  environmentName,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
} from '../../lib/core/policy/settings.ts';
import { accepts, type Parameter } from './cloudformation.ts';
import { parametersPage } from './parameters-page.ts';
import { pipelineTemplate, resource, stackTemplate } from './synthesis.ts';

const { Parameters, Metadata } = stackTemplate().toJSON();
const parameters = Parameters as Readonly<Record<string, Parameter>>;
const form = Metadata['AWS::CloudFormation::Interface'] as {
  ParameterGroups: { Label: { default: string }; Parameters: string[] }[];
  ParameterLabels: Record<string, { default: string }>;
};
const definitions = SETTING_KEYS.map((key): readonly [SettingKey, SettingDefinition] => [key, SETTINGS[key]]);

// Every prop is here, or this does not compile; every setting comes from one of them.
const SETTINGS_OF: Readonly<Record<keyof LedgersweepPipelineProps, readonly SettingKey[]>> = {
  policyId: ['policyId'],
  policyVersion: ['policyVersion'],
  recordTableName: ['recordTableName'],
  recordIndexName: ['recordIndexName'],
  indexPartitionValues: ['indexPartitionValues'],
  partitionKeyAttribute: ['partitionKeyAttribute'],
  sortKeyAttribute: ['sortKeyAttribute'],
  tenantAttribute: ['tenantAttribute'],
  timestampAttribute: ['timestampAttribute'],
  timestampFormat: ['timestampFormat'],
  stateAttribute: ['stateAttribute'],
  eligibleState: ['eligibleState'],
  expiredState: ['expiredState'],
  expiredAtAttribute: ['expiredAtAttribute'],
  operationKeyAttribute: ['operationKeyAttribute'],
  holdAttributes: ['holdAttributes'],
  schedule: ['scheduleExpression', 'scheduleTimeZone'],
  scheduleStart: ['scheduleStart'],
  scheduleState: ['scheduleState'],
  retention: ['retentionDays'],
  window: ['windowDays'],
  runDeadline: ['runDeadlineHours'],
  mode: ['mode'],
  action: ['action'],
  allowDelete: ['allowDelete'],
  grace: ['graceDays'],
  batchSize: ['batchSize'],
  consumerConcurrency: ['consumerConcurrency'],
  batchTimeBudget: ['batchTimeBudgetSeconds'],
  maxAttempts: ['maxAttempts'],
  discoverySegments: ['discoverySegments'],
  recordsPerRun: ['recordsPerRun'],
  capRecords: ['capRecords'],
  capSharePercent: ['capSharePercent'],
  capDeviationFactor: ['capDeviationFactor'],
  recordsPerSecond: ['recordsPerSecond'],
  unitAge: ['unitAgeHours'],
  redriveGenerations: ['redriveGenerations'],
  successSamplePercent: ['successSamplePercent'],
  ledgerRetention: ['ledgerRetentionDays'],
  logRetention: ['logRetentionDays'],
  terminalLogRetention: ['terminalLogRetentionDays'],
};

/** Doc comment and declaration of every prop, as a construct's user reads them. */
const documented = Object.fromEntries(
  [
    ...readFileSync(join(packageRoot(), 'lib/cdk/pipeline-props.ts'), 'utf8').matchAll(
      /(?:\/\*\* (.*?) \*\/\n {2})?readonly (\w+)(\??):/g,
    ),
  ].map(([, doc = '', name, optional]) => [name, { doc, optional: optional === '?' }]),
);

describe('settings, parameters and props', () => {
  it('are the same settings in all three places, in the same order', () => {
    expect(Object.keys(parameters).filter((name) => name !== 'BootstrapVersion')).toEqual(
      definitions.map(([, { parameter }]) => parameter),
    );
    expect(Object.keys(SETTING_PROPS)).toEqual(SETTING_KEYS);
    expect(Object.values(SETTINGS_OF).flat().sort()).toEqual([...SETTING_KEYS].sort());
    for (const [prop, keys] of Object.entries(SETTINGS_OF)) {
      for (const key of keys) expect(SETTING_PROPS[key].prop, key).toBe(prop);
    }
  });

  it.each(definitions)('%s is described, bound and explained alike', (_, definition) => {
    const parameter = parameters[definition.parameter];
    expect(parameter).toMatchObject({
      Type: 'String',
      Description: definition.description,
      ConstraintDescription: `must be ${definition.constraint}.`,
    });
    expect(parameter?.Default).toBe(definition.default);
    expect(form.ParameterLabels[definition.parameter]).toEqual({ default: definition.label });
    const groups = form.ParameterGroups.filter((group) => group.Parameters.includes(definition.parameter));
    expect(groups.map(({ Label }) => Label.default.split(':')[0])).toEqual([definition.group]);
  });

  it.each(definitions)('%s has one range or pattern', (_, definition) => {
    const parameter = parameters[definition.parameter] ?? { Type: '' };
    const fits = (value: string) => accepts(parameter, value);
    switch (definition.kind) {
      case 'choice':
        expect(parameter.AllowedValues).toEqual(definition.choices);
        break;
      case 'integer':
      case 'limit': {
        const { min, max } = definition;
        expect([min, max].map(String).map(fits)).toEqual([true, true]);
        expect([min - 1, max + 1].map(String).map(fits)).toEqual([false, false]);
        expect(fits('none')).toBe(definition.kind === 'limit');
        break;
      }
      case 'text':
        expect(parameter.AllowedPattern).toBe(`^(?:${definition.pattern})$`);
        expect(parameter.MaxLength).toBe(definition.maxLength);
    }
  });

  it.each(definitions)('%s may be left out of the props where it has a default, and has that default', (key, each) => {
    const { Environment } = resource(pipelineTemplate(), 'AWS::Lambda::Function', 'DispatcherFunction').Properties;
    const { Variables } = Environment as { Variables: Record<string, unknown> };
    const prop = documented[SETTING_PROPS[key].prop];
    expect(prop?.optional).toBe(each.default !== undefined);
    if (each.default === undefined) return;
    expect(Variables[environmentName(key)]).toBe(each.default);
    // A blank default says what blank means, in words of its own.
    if (each.default !== '')
      expect(/Default .*/.exec(prop?.doc ?? '')?.[0].split(/[`.: ]+/)).toContainEqual(word(each));
  });
});

describe('the page of parameters', () => {
  // `npx vitest run --project infra -u` writes it anew.
  it('is made from the settings table', async () => {
    await expect(parametersPage()).toMatchFileSnapshot(join(packageRoot(), 'docs/parameters.md'));
  });
});

/** The default as it stands in a sentence; of the cron, its hour. */
function word(definition: SettingDefinition): string {
  return definition.parameter === 'ScheduleExpression' ? 'cron(0' : (definition.default ?? '');
}
