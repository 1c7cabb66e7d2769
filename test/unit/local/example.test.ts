import { describe, expect, it } from 'vitest';
import { exampleNames, loadExample } from '../../../lib/local/up/example.ts';
import { expectedTenants, expectedTotals } from '../../../lib/local/up/expected.ts';
import { readOrder } from '../../../lib/local/up/order.ts';
import { judge } from '../../../lib/local/up/verdict.ts';

const scheduledTime = Date.UTC(2026, 0, 5, 2);
const at = { scheduledTime, cutoff: scheduledTime - 365 * 86_400_000 };

describe('the example digest-eligibility', async () => {
  const example = await loadExample('digest-eligibility');
  if (example.kind !== 'run') throw new TypeError('It has several runs.');
  const cases = example.cases(at);

  it('is there to be run', () => {
    expect(exampleNames()).toContain('digest-eligibility');
    expect(Date.parse(example.scheduledTime)).toBe(scheduledTime);
    expect(example.retentionDays).toBe('365');
  });

  it('is the same every time', () => {
    expect(example.cases(at)).toEqual(cases);
    expect(expectedTotals(cases, 'carried-out')).toEqual({
      discovered: 2162,
      planned: 1996,
      held: 166,
      unreadable: 40,
      outcomes: { expired: 1882, state_changed: 56, held: 33, absent: 25 },
    });
  });

  it('has a few thousand accounts in tens of tenants, most of them in a few', () => {
    expect(cases.length).toBeGreaterThan(3_000);
    const planned = [...expectedTenants(cases, 'none').values()].map((totals) => totals.planned).sort((a, b) => b - a);
    expect(planned).toHaveLength(40);
    expect(planned.slice(0, 4).reduce((sum, n) => sum + n)).toBeGreaterThan(1996 * 0.4);
  });

  it('knows of each account what follows from the account as it was loaded', () => {
    for (const { loaded, left, verdict } of cases) {
      const judged = judge(loaded, at.cutoff);
      if (left === loaded) expect(judged).toBe(verdict);
      else expect(['expired', 'held_at_plan']).toContain(judged);
    }
  });

  it('is left alone by people where the run only reports', async () => {
    const order = await readOrder({ mode: 'report-only' }, Date.UTC(2026, 5, 1));
    if (order.kind !== 'run') throw new TypeError('It has several runs.');
    const { subject } = order;
    expect(subject.cases.every(({ loaded, left }) => left === loaded)).toBe(true);
    expect(expectedTotals(subject.cases, 'none')).toMatchObject({ planned: 1996, outcomes: {} });
    expect(subject.cases.length).toBe(cases.length);
  });

  it('has accounts a millisecond before, at and a millisecond after the cutoff', () => {
    const verdictsAt = (millis: number) =>
      new Set(
        cases.filter(({ loaded }) => Date.parse(loaded.lastActivity?.S ?? '') === millis).map((one) => one.verdict),
      );
    expect(verdictsAt(at.cutoff - 1)).toEqual(new Set(['expired']));
    expect(verdictsAt(at.cutoff)).toEqual(new Set(['not_due']));
    expect(verdictsAt(at.cutoff + 1)).toEqual(new Set(['not_due']));
  });
});
