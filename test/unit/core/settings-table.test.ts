import { describe, expect, it } from 'vitest';
import {
  DEAD_LETTER_RETENTION_DAYS,
  IDEMPOTENCY_EXPIRY_DAYS,
  MAX_RECEIVE_COUNT,
  MESSAGES_PER_EVENT,
  REMAINING_TIME_MARGIN_MILLIS,
  TIME_BUDGETS,
  WORK_QUEUE_RETENTION_DAYS,
} from '../../../lib/core/policy/budget.ts';
import { listOf } from '../../../lib/core/policy/digest.ts';
import { settingProblem } from '../../../lib/core/policy/parse.ts';
import { environmentName, SETTING_KEYS, SETTINGS, type SettingDefinition } from '../../../lib/core/policy/settings.ts';

const DEFINITIONS = SETTING_KEYS.map((key): readonly [typeof key, SettingDefinition] => [key, SETTINGS[key]]);

describe('settings table', () => {
  it.each(DEFINITIONS)('%s says what it is, what it must be, and where it stands', (key, definition) => {
    expect(definition.parameter).toBe(key.charAt(0).toUpperCase() + key.slice(1));
    expect(definition.label).toMatch(/^[A-Z].{3,60}$/);
    expect(definition.description).toMatch(/^[A-Za-z].{20,}\.$/);
    expect(definition.constraint).toMatch(/^[^A-Z].{5,}[^.]$|^ENABLED or DISABLED$/);
    expect(['What', 'When', 'How', 'Limits', 'Operations']).toContain(definition.group);
  });

  it.each(DEFINITIONS)('%s has no default that it would refuse itself', (key, definition) => {
    if (definition.default === undefined) expect(settingProblem(key, undefined)).toBeDefined();
    else expect(settingProblem(key, definition.default)).toBeUndefined();
  });

  it.each(DEFINITIONS)(
    '%s is not longer than CloudFormation takes, and its pattern means the same there',
    (_key, definition) => {
      expect((definition.default ?? '').length).toBeLessThanOrEqual(4096);
      expect(definition.description.length).toBeLessThanOrEqual(4000);
      if (definition.kind !== 'text') return;
      // CloudFormation's patterns are Java's: no named groups, look-behind or classes by Unicode property.
      expect(definition.pattern).not.toMatch(/\(\?[<P]|\\p|\\k|\\u\{/);
      expect(() => new RegExp(`^(?:${definition.pattern})$`, 'u')).not.toThrow();
    },
  );

  it('a fresh deployment reports and removes nothing', () => {
    expect(SETTINGS.mode.default).toBe('report-only');
  });

  it('environment variables and parameters are distinct', () => {
    expect(environmentName('retentionDays')).toBe('SWEEP_RETENTION_DAYS');
    expect(new Set(SETTING_KEYS.map(environmentName)).size).toBe(SETTING_KEYS.length);
    expect(new Set(DEFINITIONS.map(([, { parameter }]) => parameter)).size).toBe(SETTING_KEYS.length);
  });

  it('a comma-separated setting that is blank names nothing', () => {
    expect(listOf('')).toEqual([]);
    expect(listOf('a,b')).toEqual(['a', 'b']);
  });

  it('P30: every time budget comes with a visibility timeout of six function timeouts', () => {
    expect(Object.keys(TIME_BUDGETS)).toEqual([...SETTINGS.batchTimeBudgetSeconds.choices]);
    for (const { functionTimeoutSeconds, visibilityTimeoutSeconds } of Object.values(TIME_BUDGETS)) {
      expect(visibilityTimeoutSeconds).toBe(6 * functionTimeoutSeconds);
      expect(visibilityTimeoutSeconds).toBeLessThanOrEqual(43_200);
      expect(functionTimeoutSeconds).toBeLessThanOrEqual(900);
    }
  });

  it('P35: the batches of one event fit the function timeout with the margin that a consumer keeps back', () => {
    for (const [budget, { functionTimeoutSeconds }] of Object.entries(TIME_BUDGETS)) {
      const needed = MESSAGES_PER_EVENT * Number(budget) + (2 * REMAINING_TIME_MARGIN_MILLIS) / 1000;
      expect(functionTimeoutSeconds, budget).toBeGreaterThanOrEqual(needed);
    }
  });

  it('P31: the queue gives up long after the ledger has', () => {
    expect(MAX_RECEIVE_COUNT).toBeGreaterThan(2 * SETTINGS.maxAttempts.max);
    expect(SETTINGS.consumerConcurrency.min).toBe(2);
  });

  it('P41: an answer is remembered for longer than a message can live', () => {
    expect(IDEMPOTENCY_EXPIRY_DAYS).toBeGreaterThan(WORK_QUEUE_RETENTION_DAYS + DEAD_LETTER_RETENTION_DAYS);
  });

  it('P58: dead letters live at least three times as long as the messages they may come from', () => {
    expect(DEAD_LETTER_RETENTION_DAYS).toBe(14);
    expect(WORK_QUEUE_RETENTION_DAYS).toBeLessThanOrEqual(4);
  });
});
