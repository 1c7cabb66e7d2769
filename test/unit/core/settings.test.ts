import { describe, expect, it } from 'vitest';
import { type ParsedSettings, parseSettings, settingProblem } from '../../../lib/core/policy/parse.ts';
import { SETTING_KEYS, SETTINGS, type SettingDefinition } from '../../../lib/core/policy/settings.ts';

const GIVEN = {
  policyId: 'accounts',
  policyVersion: 'v1',
  recordTableName: 'accounts-table',
  timestampAttribute: 'lastActivity',
  timestampFormat: 'iso-8601',
  retentionDays: '30',
} as const;

/** As text reaches a function at run time, whatever the types say. */
function parse(raw: Readonly<Record<string, unknown>>): ParsedSettings {
  return parseSettings({ ...GIVEN, ...raw } as Parameters<typeof parseSettings>[0]);
}

function parametersRefused(parsed: ParsedSettings): readonly string[] {
  return parsed.kind === 'invalid' ? parsed.problems.map((problem) => problem.parameter) : [];
}

const INTEGERS = SETTING_KEYS.filter((key) => SETTINGS[key].kind === 'integer');

const NOT_PERIODS = [
  ...['0', '-1', '', '0d', '0s', '-0', '00', '30d', '30 ', ' 30', '+30', '030', '0.5', '30.0', '30,0', '1e9', '1e12'],
  ...['1000000000', '1000000000000', '36501', '99999999999999999999', '0x10', '0b11', '0o17', '1_000', '٣٠', '３０'],
  ...['NaN', 'Infinity', 'null', 'undefined', 'true', 'never', '30\n', 'P30D'],
];

// What token arithmetic, an unset build variable or a stringified object leaves in an environment variable.
const NOT_RESOLVED = [
  ...['-1.6e+294', '-1.6319573e+294', '-1.888154589709072e+289', 'undefined', 'NaN', 'null', '[object Object]'],
  ...[`${'$'}{Token[TOKEN.123]}`, `${'$'}{Token[RetentionDays.12]}`],
];

describe('settings are read strictly', () => {
  it.each(NOT_PERIODS)('P25: a retention of %j is refused', (retentionDays) => {
    const parsed = parse({ retentionDays });
    expect(parametersRefused(parsed)).toEqual(['RetentionDays']);
  });

  it.each([null, undefined])('P25: a retention of %s is missing, not a default', (retentionDays) => {
    const parsed = parse({ retentionDays });
    expect(parsed).toMatchObject({ problems: [{ parameter: 'RetentionDays', received: '(nothing)' }] });
  });

  it('P25: no setting that decides what is removed has a default in days', () => {
    expect(SETTINGS.retentionDays).not.toHaveProperty('default');
    expect(SETTINGS.retentionDays.min).toBeGreaterThanOrEqual(1);
  });

  it.each(['1', '30', '36500'])('reads a retention of %s', (retentionDays) => {
    const parsed = parse({ retentionDays });
    expect(parsed).toMatchObject({ kind: 'valid', settings: { retentionDays: Number(retentionDays) } });
  });

  it.each(INTEGERS)('P25: %s takes whole numbers inside its range and nothing else', (key) => {
    const definition: SettingDefinition = SETTINGS[key];
    if (definition.kind !== 'integer') throw new TypeError(key);
    const { min, max } = definition;
    for (const good of [min, max]) expect(settingProblem(key, String(good))).toBeUndefined();
    const outside = [String(min - 1), String(max + 1), String(-max)];
    const spelled = ['', ' ', `${max} `, `+${max}`, `0${min}`, `${min}.0`, `${min}e0`, `0x${min.toString(16)}`, 'NaN'];
    for (const bad of [...outside, ...spelled]) expect(settingProblem(key, bad), bad).toBeDefined();
  });

  it.each(NOT_RESOLVED)('P64: no number and no choice is read from %j, which is not a value yet', (raw) => {
    const strict = SETTING_KEYS.filter((key) => SETTINGS[key].kind !== 'text');
    const parsed = parse(Object.fromEntries(strict.map((key) => [key, raw])));
    expect(parametersRefused(parsed)).toEqual(strict.map((key) => SETTINGS[key].parameter));
  });

  const TEXTS = SETTING_KEYS.filter((key) => SETTINGS[key].kind === 'text');
  const ATTRIBUTES = TEXTS.filter((key) => key.endsWith('Attribute') || key.endsWith('Attributes'));

  it.each(TEXTS)('P64: %s is not the text of something that was never set or resolved', (key) => {
    for (const raw of NOT_RESOLVED) {
      // A number that nobody meant is a name like any other where any text is one.
      if (!raw.startsWith('-1.')) expect(settingProblem(key, raw), raw).toBeDefined();
    }
  });

  it.each(['hold,undefined', 'undefined,hold', 'a,NaN,b'])('P64: a list of hold attributes is not %j', (raw) => {
    expect(parse({ holdAttributes: raw })).toMatchObject({
      problems: [{ parameter: 'HoldAttributes', message: expect.stringContaining('not set') }],
    });
    expect(settingProblem('holdAttributes', 'undefinedHold,nullified')).toBeUndefined();
  });

  it.each(ATTRIBUTES)('P74: %s is a name and cannot become part of an expression', (key) => {
    for (const name of ['ttl', 'status', 'hold', 'a.b', 'x-y', '_', 'A9']) {
      expect(settingProblem(key, name), name).toBeUndefined();
    }
    const logic = ['x OR attribute_exists(pk)', 'a"b', "a'b", 'a b', 'a"."b', 'a[0]', '#n', ':v', 'a;b', 'a=b', 'ä'];
    for (const text of [...logic, 'x'.repeat(256), 'a\n', '--  '])
      expect(settingProblem(key, text), text).toBeDefined();
  });

  it('P74: up to eight hold attributes, none of them blank', () => {
    const eight = Array.from({ length: 8 }, (_, number) => `hold${number}`).join();
    expect(settingProblem('holdAttributes', eight)).toBeUndefined();
    for (const text of [`${eight},one-more`, 'a,', ',a', 'a,,b', 'a, b', ',']) {
      expect(settingProblem('holdAttributes', text), text).toBeDefined();
    }
  });

  it.each([
    ...[
      'cron(* 2 * * ? *)',
      'cron(*/5 2 * * ? *)',
      'cron(0/1 2 * * ? *)',
      'cron(0-59 2 * * ? *)',
      'cron(0,1 2 * * ? *)',
    ],
    ...[
      'cron(? 2 * * ? *)',
      'cron(60 2 * * ? *)',
      'cron(100 2 * * ? *)',
      'cron( 2 * * ? *)',
      'cron(2 * * ? *)',
      '0 2 * * ? *',
    ],
    ...['rate(1 minute)', 'rate(60 minutes)', 'rate(0 days)', 'rate(1.5 hours)', 'at(2026-01-01T00:00:00)', ''],
    ...['cron(0 2 * * ? *) ', 'cron(0 2 * * ? *)cron(* * * * ? *)'],
  ])('P3: the schedule %j, which may fire again and again within its hour, is refused', (schedule) => {
    expect(parametersRefused(parse({ scheduleExpression: schedule }))).toEqual(['ScheduleExpression']);
  });

  it.each([
    'cron(0 2 * * ? *)',
    'cron(30 */6 ? * MON-FRI *)',
    'cron(05 23 L * ? 2026)',
    'rate(1 day)',
    'rate(12 hours)',
  ])('P3: the schedule %j is taken', (schedule) => {
    expect(parse({ scheduleExpression: schedule }).kind).toBe('valid');
  });

  it('reports every problem at once, with the parameter, what was received and what it must be', () => {
    const parsed = parse({ retentionDays: '0', batchSize: '1001', mode: 'delete', timestampAttribute: undefined });
    expect(
      parsed.kind === 'invalid' && [...parsed.problems].sort((a, b) => (a.parameter < b.parameter ? -1 : 1)),
    ).toEqual([
      expect.objectContaining({ parameter: 'BatchSize', received: '"1001"' }),
      expect.objectContaining({ parameter: 'Mode', received: '"delete"' }),
      {
        parameter: 'RetentionDays',
        received: '"0"',
        message: 'RetentionDays is out of range: it must be a whole number of days from 1 to 36500; received "0".',
      },
      expect.objectContaining({ parameter: 'TimestampAttribute', received: '(nothing)' }),
    ]);
  });

  it('takes a blank only where blank is a value, and never as a default', () => {
    const blank = SETTING_KEYS.filter((key) => settingProblem(key, '') === undefined);
    expect(blank).toEqual(SETTING_KEYS.filter((key) => (SETTINGS[key] as SettingDefinition).default === ''));
  });
});
