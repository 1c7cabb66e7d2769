import { describe, expect, it } from 'vitest';
import { calendarFrom, type Step } from '../../../examples/tenant-retention/calendar.ts';
import { isHeld, judge, outcomeOf, wantedBy } from '../../../examples/tenant-retention/judge.ts';
import { shipments, TENANTS } from '../../../examples/tenant-retention/shipments.ts';
import { relationProblems } from '../../../lib/core/policy/relations.ts';
import { exampleNames, loadExample } from '../../../lib/local/up/example.ts';
import { BadOptions, readOrder } from '../../../lib/local/up/order.ts';

const now = Date.UTC(2026, 5, 10, 23, 58);
const DAY = 86_400_000;
const calendar = calendarFrom(now);
const [report, narrow, wide, deletion] = calendar.steps as unknown as readonly [Step, Step, Step, Step];
const items = shipments(calendar);
const none = new Map<string, string>();
const standings = ({ settings, scheduledTime }: Step) =>
  items.map((item) => judge(item, wantedBy(settings, scheduledTime, none)));

describe('the example tenant-retention', () => {
  it('is there to be run, and has its own times and parameters', async () => {
    expect(exampleNames()).toContain('tenant-retention');
    expect((await loadExample('tenant-retention')).kind).toBe('rollout');
    await expect(readOrder({ example: 'tenant-retention', mode: 'enforce' }, now)).rejects.toThrow(BadOptions);
  });

  it('deploys settings that go together, each step at a later time', () => {
    expect(calendar.steps.flatMap(({ settings }) => relationProblems(settings))).toEqual([]);
    const times = calendar.steps.map(({ scheduledTime }) => scheduledTime);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(calendar.steps.map(({ settings }) => settings.policyVersion)).toEqual(['v1', 'v1', 'v1', 'v2']);
  });

  it('deletes after the grace days of what expires today, even when the steps before it last until tomorrow', () => {
    const { cutoff } = wantedBy(deletion.settings, deletion.scheduledTime, none);
    expect(cutoff).toBeGreaterThan(now + DAY);
    // By the clock of the functions its time has come.
    expect(deletion.scheduledTime).toBeLessThanOrEqual(now + deletion.daysLater * DAY);
    for (const { daysLater, scheduledTime } of [report, narrow, wide]) {
      expect(daysLater).toBe(0);
      expect(scheduledTime).toBeLessThanOrEqual(now);
    }
  });

  it('has tenants from one record to half the table', () => {
    const sizes = Object.values(Object.groupBy(items, ({ tenant }) => tenant?.S ?? '')).map((its) => its?.length ?? 0);
    expect(sizes.sort((a, b) => b - a)).toEqual(Object.values(TENANTS));
    expect(Math.max(...sizes) * 2).toBe(items.length);
    expect(Math.min(...sizes)).toBe(1);
  });

  it('has at most one record in a hundred unreadable, and some', () => {
    const unreadable = standings(wide).filter((standing) => standing === 'unreadable').length;
    expect(unreadable).toBeGreaterThan(5);
    expect(unreadable * 100).toBeLessThanOrEqual(items.length);
  });

  it('plans little in the window and the rest without it, and counts what is on hold', () => {
    const count = (step: Step, wanted: string) => standings(step).filter((standing) => standing === wanted).length;
    expect(count(narrow, 'planned')).toBeGreaterThan(200);
    expect(count(wide, 'planned')).toBeGreaterThan(2 * count(narrow, 'planned'));
    expect(count(wide, 'held')).toBe(items.filter((item) => isHeld(item) && item.status?.S === 'ACTIVE').length);
    expect(count(deletion, 'planned')).toBe(0);
  });

  it('P26: takes the start of the window in and leaves its cutoff out', () => {
    const atMillis = (millis: number, step: Step) =>
      new Set(
        items
          .filter(({ lastUpdate, status }) => lastUpdate?.N === String(millis / 1_000) && status?.S === 'ACTIVE')
          .map((item) => judge(item, wantedBy(step.settings, step.scheduledTime, none))),
      );
    const start = calendar.windowCutoff - calendar.windowDays * DAY;
    expect(atMillis(start, narrow)).toEqual(new Set(['planned']));
    expect(atMillis(start - 1_000, narrow)).toEqual(new Set(['not_due']));
    expect(atMillis(calendar.windowCutoff, narrow)).toEqual(new Set(['not_due']));
    expect(atMillis(calendar.windowCutoff, wide)).toEqual(new Set(['planned']));
    expect(atMillis(calendar.enforceCutoff, wide)).toEqual(new Set(['not_due']));
  });
});

describe('what must become of a planned record', () => {
  const planned = { id: { S: 'a' }, status: { S: 'ACTIVE' }, lastUpdate: { N: '1' } };
  const expired = { ...planned, status: { S: 'EXPIRED' }, expiredAt: { N: '2' } };

  it.each([
    ['expired', planned, planned, 'expire'],
    ['expired', planned, { ...planned, carrierNote: { S: 'n' } }, 'expire'],
    ['state_changed', planned, { ...planned, lastUpdate: { N: '3' } }, 'expire'],
    ['held', planned, { ...planned, openDispute: { S: 'case' } }, 'expire'],
    ['absent', planned, undefined, 'expire'],
    ['deleted', expired, expired, 'delete'],
    ['held', expired, { ...expired, legalHold: { BOOL: true } }, 'delete'],
    ['state_changed', expired, planned, 'delete'],
    ['absent', expired, undefined, 'delete'],
  ] as const)('%s', (outcome, before, left, kind) => {
    expect(outcomeOf(before, left, kind)).toBe(outcome);
  });
});
