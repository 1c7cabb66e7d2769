import { expect, it, vi } from 'vitest';
import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { allOf, aRunId, FIRST, start, storedRun, T0 } from './ledger-samples.ts';

/** What every ledger must show of what is open. */
export function openCases(ledgerOf: () => Ledger): void {
  const openRuns = () => allOf((cursor) => ledgerOf().openRuns(cursor));
  const quarantined = async (runId: string, state: 'quarantined' | 'uncertain' = 'quarantined') => {
    const units = await allOf((cursor) => ledgerOf().openUnits({ state }, cursor));
    return units.filter((unit) => unit.runId === runId);
  };
  const due = async (runId: string, dueAt: number) => {
    const units = await allOf((cursor) => ledgerOf().openUnits({ state: 'planned', dueAt }, cursor));
    return units.filter((unit) => unit.runId === runId).map(({ unit }) => unit);
  };

  it('shows a run until nobody has anything left to do for it', async () => {
    const { runId } = await storedRun(ledgerOf());
    await vi.waitFor(async () => expect(await openRuns()).toContain(runId));
    for (const edge of ['freeze', 'drain'] as const) await ledgerOf().moveRun(runId, edge, 0, {});
    expect(await openRuns()).toContain(runId);
    // Closed around its quarantine, it still waits for a person.
    for (const edge of ['completeWithQuarantine', 'reopen'] as const) {
      await ledgerOf().moveRun(runId, edge, undefined, {});
      await vi.waitFor(async () => expect(await openRuns()).toContain(runId));
    }
    await ledgerOf().moveRun(runId, 'complete', undefined, {});
    await vi.waitFor(async () => expect(await openRuns()).not.toContain(runId));
  });

  it('shows a refused run no more until it is tried again', async () => {
    const { runId } = await storedRun(ledgerOf());
    await vi.waitFor(async () => expect(await openRuns()).toContain(runId));
    await ledgerOf().moveRun(runId, 'refuse', 0, { refusals: [], leaseUntil: 0 });
    await vi.waitFor(async () => expect(await openRuns()).not.toContain(runId));
    await ledgerOf().moveRun(runId, 'retry', 0, { refusals: [] });
    await vi.waitFor(async () => expect(await openRuns()).toContain(runId));
    await ledgerOf().moveRun(runId, 'report', 0, {});
    await vi.waitFor(async () => expect(await openRuns()).not.toContain(runId));
  });

  it('never shows a unit that is under way or done', async () => {
    const runId = aRunId();
    await start(ledgerOf(), { runId, unit: '0' }, 0);
    await start(ledgerOf(), { runId, unit: '1' }, 0);
    await ledgerOf().moveUnit({ runId, unit: '1' }, 'commit', FIRST, { since: T0 });
    await ledgerOf().moveUnit({ runId, unit: '2' }, 'quarantine', FIRST, { since: T0 });
    // The last write shows: what came before it would, too.
    await vi.waitFor(async () => expect(await quarantined(runId)).toHaveLength(1));
    expect(await due(runId, T0 + DAY_MILLIS)).toEqual([]);
  });

  it('shows a planned unit once it is due and until it is published', async () => {
    const runId = aRunId();
    const plan = (unit: string, notBefore: number) =>
      ledgerOf().moveUnit({ runId, unit }, 'postpone', FIRST, { since: T0, notBefore });
    await plan('0', T0 + 1_000);
    await plan('1', T0 + 2_000);
    await plan('2', T0 + 2_001);
    await vi.waitFor(async () => expect((await due(runId, T0 + 3_000)).length).toBe(3));
    expect(await due(runId, T0 + 999)).toEqual([]);
    expect(await due(runId, T0 + 1_000)).toEqual(['0']);
    expect((await due(runId, T0 + 2_000)).toSorted()).toEqual(['0', '1']);
    await ledgerOf().moveUnit({ runId, unit: '1' }, 'publish', FIRST, { since: T0 });
    await start(ledgerOf(), { runId, unit: '2' }, 0);
    await vi.waitFor(async () => expect(await due(runId, T0 + 3_000)).toEqual(['0']));
    await plan('0', T0 + 9_000);
    await vi.waitFor(async () => expect(await due(runId, T0 + 3_000)).toEqual([]));
  });

  it('shows a quarantined unit with its generation until it is redriven', async () => {
    const runId = aRunId();
    const units = Array.from({ length: 20 }, (_, n) => String(n));
    for (const unit of units) await ledgerOf().moveUnit({ runId, unit }, 'quarantine', FIRST, { since: T0 });
    await vi.waitFor(async () => expect(await quarantined(runId)).toHaveLength(20));
    const ref = { runId, unit: '3' };
    await ledgerOf().moveUnit(ref, 'redrive', FIRST, { since: T0, notBefore: T0, generation: 1 });
    await vi.waitFor(async () => expect(await quarantined(runId)).toHaveLength(19));
    const shown = (wanted: object) => expect.objectContaining(wanted);
    expect(await quarantined(runId)).not.toContainEqual(shown({ ...ref, generation: 0 }));
    expect(await quarantined(runId)).toContainEqual(shown({ runId, unit: '4', generation: 0 }));
    expect(await due(runId, T0)).toEqual(['3']);
    await ledgerOf().moveUnit(ref, 'quarantine', { generation: 1 }, { since: T0 });
    await vi.waitFor(async () => expect(await quarantined(runId)).toContainEqual(shown({ ...ref, generation: 1 })));
  });

  it('shows of a quarantined unit what a list and its filters need, and its copy as soon as there is one', async () => {
    const ref = { runId: aRunId(), unit: '3' };
    const why = { reason: 'attempts_spent', errorClass: 'ThrottlingError', failureClass: 'transient' } as const;
    await start(ledgerOf(), ref, 0);
    await ledgerOf().moveUnit(ref, 'quarantine', FIRST, { since: T0 + 5, finishedAt: T0 + 5, requestId: 'r', ...why });
    const shown = { ...ref, tenant: 'acme', records: 3, attempts: 1, generation: 0, since: T0 + 5, ...why };
    await vi.waitFor(async () => expect(await quarantined(ref.runId)).toEqual([shown]));
    const copy = { copiedAt: T0 + 6, copiedGeneration: 0 };
    await ledgerOf().moveUnit(ref, 'copy', { generation: 0 }, { since: T0 + 5, ...copy });
    await vi.waitFor(async () => expect(await quarantined(ref.runId)).toEqual([{ ...shown, ...copy }]));
    await ledgerOf().moveUnit(ref, 'abandon', { generation: 0 }, { since: T0 + 7 });
    await vi.waitFor(async () => expect(await quarantined(ref.runId)).toEqual([]));
  });

  it('shows a unit whose effect nobody knows apart from those that are quarantined', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await start(ledgerOf(), ref, 0);
    await ledgerOf().moveUnit(ref, 'doubt', { generation: 0 }, { since: T0, reason: 'effect_unknown' });
    const shown = expect.objectContaining({ ...ref, reason: 'effect_unknown', attempts: 1 });
    await vi.waitFor(async () => expect(await quarantined(ref.runId, 'uncertain')).toEqual([shown]));
    expect(await quarantined(ref.runId)).toEqual([]);
  });

  it('shows a cancelled run until its totals are final', async () => {
    const { runId } = await storedRun(ledgerOf());
    await ledgerOf().moveRun(runId, 'freeze', 0, {});
    await ledgerOf().moveRun(runId, 'cancel', undefined, { cancelledAt: T0 });
    await vi.waitFor(async () => expect(await openRuns()).toContain(runId));
    await ledgerOf().moveRun(runId, 'settle', undefined, {});
    await vi.waitFor(async () => expect(await openRuns()).not.toContain(runId));
  });
}
