import { expect, it, vi } from 'vitest';
import type { SplitUnit, UnitItem } from '../../lib/core/ledger/items.ts';
import type { Ledger, UnitRef } from '../../lib/core/ports/index.ts';
import { allOf, aRunId, FIRST, retried, start, T0 } from './ledger-samples.ts';

export const CHILDREN_AT_MOST = 25;

export function aChild(unit: string, state: SplitUnit['state'] = 'quarantined'): SplitUnit {
  return {
    unit,
    tenant: 'acme',
    state,
    attempts: 2,
    since: T0 + 7,
    bornAt: T0 - 5,
    startedAt: T0,
    finishedAt: T0 + 7,
    reason: 'permanent_failure',
    errorClass: 'ValidationError',
    failureClass: 'permanent',
    requestId: 'request-1',
  };
}

export function childItem({ runId, unit }: UnitRef, child: SplitUnit): UnitItem {
  return { ...child, runId, unit, records: 1, generation: 0 };
}

/** What every ledger must do with records that become units of their own. */
export function splitCases(ledgerOf: () => Ledger): void {
  const changeOf = (split: readonly number[]) => ({
    since: T0 + 7,
    finishedAt: T0 + 7,
    counts: { expired: 2 },
    keysDigest: 'k',
    split,
  });

  it('commits the batch and makes the units of the records that failed', async () => {
    const ref = { runId: aRunId(), unit: '4' };
    await start(ledgerOf(), ref, 0);
    const children = [aChild('4.0'), aChild('4.17', 'uncertain')];
    const moved = await ledgerOf().splitUnit(ref, { generation: 0, attempts: 1 }, changeOf([0, 17]), children);
    const batch: UnitItem = {
      ...{ ...ref, tenant: 'acme', records: 3, attempts: 1, generation: 0, startedAt: T0, claim: 'claim-0' },
      ...{ ...changeOf([0, 17]), state: 'committed' },
    };
    expect(moved).toEqual({ kind: 'moved', unit: batch });
    const units = await allOf((cursor) => ledgerOf().units(ref.runId, cursor));
    expect(units).toEqual([batch, ...children.map((child) => childItem({ ...ref, unit: child.unit }, child))]);
  });

  it('makes as many as there may be, and each of them can be loaded, moved and brought back like any unit', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await start(ledgerOf(), ref, 0);
    const positions = Array.from({ length: CHILDREN_AT_MOST }, (_, n) => n * 37);
    const children = positions.map((position) => aChild(`0.${position}`));
    expect((await ledgerOf().splitUnit(ref, { generation: 0 }, changeOf(positions), children)).kind).toBe('moved');
    expect((await ledgerOf().readUnit(ref))?.split).toEqual(positions);
    const child = { runId: ref.runId, unit: '0.37' };
    const [loaded] = await ledgerOf().load([child]);
    expect(loaded?.unit).toEqual(childItem(child, aChild('0.37')));
    const back = { since: T0 + 9, generation: 1, attempts: 0, notBefore: T0 + 9 };
    expect((await ledgerOf().moveUnit(child, 'redrive', { generation: 0 }, back)).kind).toBe('moved');
    expect((await ledgerOf().moveUnit(child, 'start', { generation: 1 }, { since: T0, attempts: 1 })).kind).toBe(
      'moved',
    );
    expect((await ledgerOf().moveUnit(child, 'commit', { generation: 1 }, { since: T0 })).kind).toBe('moved');
  });

  it('shows them as open at once', async () => {
    const ref = { runId: aRunId(), unit: '1' };
    await start(ledgerOf(), ref, 0);
    await ledgerOf().splitUnit(ref, { generation: 0 }, changeOf([0, 2]), [aChild('1.0'), aChild('1.2', 'uncertain')]);
    for (const [state, unit] of [
      ['quarantined', '1.0'],
      ['uncertain', '1.2'],
    ] as const) {
      await vi.waitFor(async () => {
        const open = await allOf((cursor) => ledgerOf().openUnits({ state }, cursor));
        expect(open.filter(({ runId }) => runId === ref.runId).map((one) => one.unit)).toEqual([unit]);
      });
    }
  });

  it('makes nothing where the batch is not as the guard says', async () => {
    const runId = aRunId();
    const ref = { runId, unit: '0' };
    const split = (guard: { generation: number; attempts?: number }) =>
      ledgerOf().splitUnit(ref, guard, changeOf([1]), [aChild('0.1')]);
    expect(await split({ generation: 0 })).toEqual({ kind: 'refused', unit: undefined });
    await start(ledgerOf(), ref, 0);
    const standing = await ledgerOf().readUnit(ref);
    for (const guard of [{ generation: 1 }, { generation: 0, attempts: 2 }]) {
      expect(await split(guard)).toEqual({ kind: 'refused', unit: standing });
    }
    await ledgerOf().moveUnit(ref, 'quarantine', FIRST, { since: T0 });
    expect((await split({ generation: 0 })).kind).toBe('refused');
    expect(await ledgerOf().readUnit({ runId, unit: '0.1' })).toBeUndefined();
    expect(await allOf((cursor) => ledgerOf().units(runId, cursor))).toHaveLength(1);
  });

  it('of two deliveries that end one batch at once, one does, and its children are those that the batch names', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await start(ledgerOf(), ref, 0);
    const ends = await Promise.all(
      [1, 2].map((position) =>
        retried(() => ledgerOf().splitUnit(ref, { generation: 0 }, changeOf([position]), [aChild(`0.${position}`)])),
      ),
    );
    expect(ends.map(({ kind }) => kind).toSorted()).toEqual(['moved', 'refused']);
    const [batch, ...children] = await allOf((cursor) => ledgerOf().units(ref.runId, cursor));
    expect(children.map(({ unit }) => unit)).toEqual(batch?.split?.map((position) => `0.${position}`));
  });

  it('never puts a child over one that a person already acts on', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await start(ledgerOf(), ref, 0);
    await ledgerOf().splitUnit(ref, { generation: 0 }, changeOf([1]), [aChild('0.1')]);
    const child = { runId: ref.runId, unit: '0.1' };
    await ledgerOf().moveUnit(child, 'abandon', { generation: 0 }, { since: T0 + 8 });
    const later = { ...changeOf([1]), since: T0 + 99 };
    expect((await ledgerOf().splitUnit(ref, { generation: 0 }, later, [aChild('0.1')])).kind).toBe('refused');
    expect((await ledgerOf().readUnit(child))?.state).toBe('abandoned');
  });
}
