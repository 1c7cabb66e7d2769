import { describe, expect, it } from 'vitest';
import { integerPattern } from '../../lib/cdk/integer-pattern.ts';
import { environmentName, SETTING_KEYS, SETTINGS } from '../../lib/core/policy/settings.ts';
import { Deployment, accepts as fits, type Parameter } from './cloudformation.ts';
import { stackTemplate } from './synthesis.ts';

const template = stackTemplate().toJSON();
const parameters = Object.fromEntries(
  Object.entries(template.Parameters as Record<string, Parameter>).filter(([name]) => name !== 'BootstrapVersion'),
);

function parameter(name: string): Parameter {
  const found = parameters[name];
  if (found === undefined) throw new Error(`No parameter ${name}`);
  return found;
}

const accepts = (name: string, value: string) => fits(parameter(name), value);

describe('parameters of the stack', () => {
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

  it.each(['30d', '1e12', '36501', '365000'])('P25: refuse %j as a retention period too', (value) => {
    expect(accepts('RetentionDays', value)).toBe(false);
  });

  it.each(['2027-01-01', '2027-01-01T02:00:00', '2027-01-01T02:00:00.000Z', '2027-01-01T02:00:00+01:00', 'now', ' '])(
    'refuse %j as the first time of a rate',
    (value) => {
      expect(accepts('ScheduleStart', value)).toBe(false);
    },
  );

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

const LIMITS = SETTING_KEYS.filter((key) => SETTINGS[key].kind === 'limit').map((key) => SETTINGS[key].parameter);
const INTEGERS = SETTING_KEYS.filter((key) => SETTINGS[key].kind === 'integer').map((key) => SETTINGS[key].parameter);
const NOT_NUMBERS = [
  ...['0', '-1', '', ' ', '0d', '0s', '7d', 'NaN', 'Infinity', 'null', 'undefined', '1e9', '1e3', '1.5', '+5', '007'],
  ...[' 7', '7 ', '7,000', '0x10', '1000000000', 'none ', ' none', 'None', 'NONE', 'nonee', 'none7', '7none', 'no'],
];

describe.each(LIMITS)('P25: the limit %s', (name) => {
  it.each(NOT_NUMBERS)('refuses %j before anything is deployed', (value) => {
    expect(accepts(name, value)).toBe(false);
  });

  it('is left out by the word none alone', () => {
    expect(accepts(name, 'none')).toBe(true);
  });
});

describe.each(INTEGERS)('P25: the number %s', (name) => {
  it.each([...NOT_NUMBERS, 'none'])('refuses %j before anything is deployed', (value) => {
    expect(accepts(name, value)).toBe(false);
  });
});

describe('rules of the stack', () => {
  it('let the defaults through', () => {
    expect(new Deployment().refusals()).toEqual([]);
  });

  it('want an index where partition values are given', () => {
    const needed = ['IndexPartitionValues needs RecordIndexName: the values are partition keys of that index.'];
    expect(new Deployment({ IndexPartitionValues: '0,1' }).refusals()).toEqual(needed);
    expect(new Deployment({ IndexPartitionValues: '0,1', RecordIndexName: 'byActivity' }).refusals()).toEqual([]);
    expect(new Deployment({ RecordIndexName: 'byActivity' }).refusals()).toEqual([]);
  });

  it('want the switch of its own where the action is delete', () => {
    const needed = ['Action needs AllowDelete: deletion has a switch of its own.'];
    expect(new Deployment({ Action: 'delete' }).refusals()).toEqual(needed);
    expect(new Deployment({ Action: 'delete', Mode: 'enforce' }).refusals()).toEqual(needed);
    expect(new Deployment({ Action: 'delete', AllowDelete: 'yes' }).refusals()).toEqual([]);
    expect(new Deployment({ AllowDelete: 'yes' }).refusals()).toEqual([]);
  });

  it('want an expired state that is no longer eligible', () => {
    const refused = ['EligibleState must differ from ExpiredState: an expired record would be due again.'];
    expect(new Deployment({ EligibleState: 'X', ExpiredState: 'X' }).refusals()).toEqual(refused);
  });

  const WRITTEN = ['StateAttribute', 'ExpiredAtAttribute', 'OperationKeyAttribute'];
  const KEPT = ['PartitionKeyAttribute', 'SortKeyAttribute', 'TimestampAttribute', 'TenantAttribute'];
  const PAIRS = WRITTEN.flatMap((first, at) => [...KEPT, ...WRITTEN.slice(at + 1)].map((second) => [first, second]));

  it.each(PAIRS)('want %s apart from %s, which an expiry would overwrite', (first = '', second = '') => {
    const refused = [`${first} must differ from ${second}: an expiry would overwrite it.`];
    expect(new Deployment({ [first]: 'same', [second]: 'same' }).refusals()).toEqual(refused);
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
