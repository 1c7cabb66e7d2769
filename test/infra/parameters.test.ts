import { describe, expect, it } from 'vitest';
import { integerPattern } from '../../lib/cdk/integer-pattern.ts';
import { environmentName, SETTING_KEYS, SETTINGS, type SettingDefinition } from '../../lib/core/policy/settings.ts';
import { stackTemplate } from './synthesis.ts';

interface Parameter {
  readonly Type: string;
  readonly Default?: string;
  readonly Description?: string;
  readonly ConstraintDescription?: string;
  readonly AllowedPattern?: string;
  readonly AllowedValues?: readonly string[];
  readonly MinLength?: number;
  readonly MaxLength?: number;
}

const template = stackTemplate().toJSON();
const parameters = Object.fromEntries(
  Object.entries(template.Parameters as Record<string, Parameter>).filter(([name]) => name !== 'BootstrapVersion'),
);

function parameter(name: string): Parameter {
  const found = parameters[name];
  if (found === undefined) throw new Error(`No parameter ${name}`);
  return found;
}

/** What CloudFormation decides about a value of a String parameter. */
function accepts(name: string, value: string): boolean {
  const { AllowedPattern, AllowedValues, MinLength = 0, MaxLength = 4096 } = parameter(name);
  return (
    value.length >= MinLength &&
    value.length <= MaxLength &&
    (AllowedValues?.includes(value) ?? true) &&
    (AllowedPattern === undefined || new RegExp(`^(?:${AllowedPattern})$`).test(value))
  );
}

describe('parameters of the stack', () => {
  it('are one per setting, with the description and default of the settings table', () => {
    expect(Object.keys(parameters)).toEqual(SETTING_KEYS.map((key) => SETTINGS[key].parameter));
    for (const key of SETTING_KEYS) {
      const definition: SettingDefinition = SETTINGS[key];
      expect(parameter(definition.parameter)).toMatchObject({
        Type: 'String',
        Description: definition.description,
        ConstraintDescription: `must be ${definition.constraint}.`,
      });
      expect(parameter(definition.parameter).Default).toBe(definition.default);
    }
  });

  it('are each bound by a pattern or by a list of values', () => {
    for (const name of Object.keys(parameters)) {
      const { AllowedPattern, AllowedValues } = parameter(name);
      expect(AllowedPattern ?? AllowedValues, name).toBeDefined();
    }
  });

  it('accept their own defaults', () => {
    for (const [name, { Default }] of Object.entries(parameters)) {
      if (Default !== undefined) expect(accepts(name, Default), name).toBe(true);
    }
  });

  it('are all grouped and labelled for the console, each once', () => {
    const form = template.Metadata['AWS::CloudFormation::Interface'];
    const grouped = form.ParameterGroups.flatMap((group: { Parameters: string[] }) => group.Parameters);
    expect([...grouped].sort()).toEqual(Object.keys(parameters).sort());
    expect(Object.keys(form.ParameterLabels).sort()).toEqual(Object.keys(parameters).sort());
    for (const group of form.ParameterGroups) expect(group.Label.default).not.toBe('');
  });

  it('hide nothing and default to report-only', () => {
    expect(JSON.stringify(parameters)).not.toContain('NoEcho');
    expect(parameter('Mode').Default).toBe('report-only');
  });

  it.each([
    '0',
    '-1',
    '',
    ' ',
    '0d',
    '0s',
    '30d',
    'NaN',
    '1e3',
    '1e12',
    '1.5',
    '+5',
    '007',
    ' 7',
    '36501',
    'undefined',
  ])('P25: refuse %j as a retention period before anything is deployed', (value) => {
    expect(accepts('RetentionDays', value)).toBe(false);
  });

  it.each(['1', '30', '1461', '36500'])('accept %s as a retention period', (value) => {
    expect(accepts('RetentionDays', value)).toBe(true);
  });

  it('P31: refuse a concurrency of 1, which the event source mapping does not know', () => {
    expect(accepts('ConsumerConcurrency', '1')).toBe(false);
    expect(accepts('ConsumerConcurrency', '2')).toBe(true);
    expect(accepts('ConsumerConcurrency', '1001')).toBe(false);
  });

  it.each(['cron(* 2 * * ? *)', 'rate(1 minute)', 'rate(0 days)', 'at(2026-01-01T00:00:00)', '', '0 2 * * *'])(
    'P3: refuse the schedule %j',
    (value) => {
      expect(accepts('ScheduleExpression', value)).toBe(false);
    },
  );

  it('P74: refuse names that PartiQL would read as more than a name', () => {
    for (const name of ['x OR attribute_exists(pk)', 'a"b', "a'b", 'a b', '']) {
      expect(accepts('TimestampAttribute', name), name).toBe(false);
    }
    for (const name of ['ttl', 'status', 'a.b', 'x-y']) expect(accepts('TimestampAttribute', name), name).toBe(true);
  });

  it('P64: reach the functions as references, never as text made at synthesis', () => {
    for (const resource of Object.values(template.Resources as Record<string, { Type: string; Properties: unknown }>)) {
      if (resource.Type !== 'AWS::Lambda::Function') continue;
      const { Environment } = resource.Properties as { Environment: { Variables: Record<string, unknown> } };
      for (const key of SETTING_KEYS) {
        expect(Environment.Variables[environmentName(key)]).toEqual({ Ref: SETTINGS[key].parameter });
      }
    }
  });
});

describe('rules of the stack', () => {
  const rules = template.Rules as Record<string, { RuleCondition?: unknown; Assertions: { Assert: unknown }[] }>;
  const assertions = Object.values(rules).flatMap((rule) =>
    rule.Assertions.map(({ Assert }) => JSON.stringify(Assert)),
  );
  const differ = (first: string, second: string) =>
    JSON.stringify({ 'Fn::Not': [{ 'Fn::Equals': [{ Ref: first }, { Ref: second }] }] });

  it('want an index where partition values are given', () => {
    expect(rules.IndexPartitionValuesRule).toMatchObject({
      RuleCondition: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'IndexPartitionValues' }, ''] }] },
      Assertions: [{ Assert: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'RecordIndexName' }, ''] }] } }],
    });
  });

  it('want an expired state that is no longer eligible', () => {
    expect(assertions).toContain(differ('EligibleState', 'ExpiredState'));
  });

  it('want the written attributes apart from each other and from what identifies a record', () => {
    for (const written of ['StateAttribute', 'ExpiredAtAttribute', 'OperationKeyAttribute']) {
      for (const kept of ['PartitionKeyAttribute', 'SortKeyAttribute', 'TimestampAttribute', 'TenantAttribute']) {
        expect(assertions).toContain(differ(written, kept));
      }
    }
    expect(assertions).toContain(differ('StateAttribute', 'ExpiredAtAttribute'));
    expect(assertions).toContain(differ('StateAttribute', 'OperationKeyAttribute'));
    expect(assertions).toContain(differ('ExpiredAtAttribute', 'OperationKeyAttribute'));
  });
});

describe('integerPattern', () => {
  it.each([
    [1, 36_500],
    [2, 1000],
    [3, 10],
    [1, 64],
    [0, 0],
    [7, 7],
    [0, 99],
    [98, 1234],
    [100, 199],
  ])('matches the numbers from %i to %i and no others', (min, max) => {
    const pattern = new RegExp(`^${integerPattern(min, max)}$`);
    const wrong = Array.from({ length: max + 1_000 }, (_, n) => n).filter(
      (n) => pattern.test(String(n)) !== (n >= min && n <= max),
    );
    expect(wrong).toEqual([]);
  });

  it('throws for a range it cannot write', () => {
    expect(() => integerPattern(-1, 5)).toThrow();
    expect(() => integerPattern(5, 1)).toThrow();
  });
});
