import { expect, it } from 'vitest';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { allOf, aRunId, aSlice, aTally, aTenant } from './ledger-samples.ts';

/** What every ledger must do with slices, tallies and tenants. */
export function planCases(ledgerOf: () => Ledger): void {
  it('P9: a slice of an older epoch is superseded, one of a newer epoch takes its place', async () => {
    const runId = aRunId();
    expect(await ledgerOf().putSlice(aSlice(runId, 0, 2))).toBe('written');
    expect(await ledgerOf().putSlice(aSlice(runId, 0, 1, 'late'))).toBe('superseded');
    expect(await ledgerOf().slices(runId, 0, 1)).toEqual([aSlice(runId, 0, 2)]);
    expect(await ledgerOf().putSlice(aSlice(runId, 0, 3, 'resumed'))).toBe('written');
    expect(await ledgerOf().slices(runId, 0, 1)).toEqual([aSlice(runId, 0, 3, 'resumed')]);
  });

  it('P8: a run that is planned again writes over its slices and tallies, and what was beyond stays where it is', async () => {
    const runId = aRunId();
    for (const ordinal of [0, 1, 2]) await ledgerOf().putSlice(aSlice(runId, ordinal, 1));
    for (const ordinal of [0, 1]) {
      expect(await ledgerOf().putSlice(aSlice(runId, ordinal, 2, 'again'))).toBe('written');
    }
    expect(await ledgerOf().putSlice(aSlice(runId, 1, 1))).toBe('superseded');
    const planned = await ledgerOf().slices(runId, 0, 2);
    expect(planned).toEqual([aSlice(runId, 0, 2, 'again'), aSlice(runId, 1, 2, 'again')]);
    expect(await ledgerOf().slices(runId, 2, 3)).toEqual([aSlice(runId, 2, 1)]);
  });

  it('P55: the same slice of the same epoch is written, another of that epoch is not', async () => {
    const runId = aRunId();
    await ledgerOf().putSlice(aSlice(runId, 0, 1));
    expect(await ledgerOf().putSlice(aSlice(runId, 0, 1))).toBe('written');
    expect(await ledgerOf().putSlice(aSlice(runId, 0, 1, 'other'))).toBe('superseded');
    expect(await ledgerOf().slices(runId, 0, 1)).toEqual([aSlice(runId, 0, 1)]);
  });

  it('fences tallies and tenants in the same way', async () => {
    const runId = aRunId();
    for (const [epoch, planned, wanted] of [
      [2, 3, 'written'],
      [1, 4, 'superseded'],
      [2, 3, 'written'],
      [2, 4, 'superseded'],
      [3, 5, 'written'],
    ] as const) {
      expect(await ledgerOf().putTally(aTally(runId, 0, epoch, planned))).toBe(wanted);
      expect(await ledgerOf().putTenant(aTenant(runId, 'acme', epoch, planned))).toBe(wanted);
    }
    expect(await ledgerOf().tallies(runId, 0, 1)).toEqual([aTally(runId, 0, 3, 5)]);
    expect(await allOf((cursor) => ledgerOf().tenants(runId, cursor))).toEqual([aTenant(runId, 'acme', 3, 5)]);
  });

  it('pages slices and tallies in order, from the first wanted and before the last', async () => {
    const runId = aRunId();
    for (const ordinal of [9, 10, 2, 11, 0]) await ledgerOf().putSlice(aSlice(runId, ordinal, 1));
    for (const number of [1, 0, 2]) await ledgerOf().putTally(aTally(runId, number, 1));
    const seen: number[] = [];
    for (let from = 2; ; ) {
      const page = await ledgerOf().slices(runId, from, 11);
      seen.push(...page.map((slice) => slice.ordinal));
      const last = page.at(-1);
      if (last === undefined) break;
      from = last.ordinal + 1;
    }
    expect(seen).toEqual([2, 9, 10]);
    const heads = await ledgerOf().sliceHeads(runId, 9, 11);
    const { tenant, keysDigest, entries } = aSlice(runId, 9, 1);
    expect(heads[0]).toEqual({ ordinal: 9, tenant, keysDigest, records: entries.length });
    expect(heads.at(-1)?.ordinal).toBe(10);
    expect(await ledgerOf().sliceHeads(runId, 3, 3)).toEqual([]);
    expect((await ledgerOf().tallies(runId, 1, 2)).map((tally) => tally.number)).toEqual([1]);
    expect(await ledgerOf().slices(runId, 3, 3)).toEqual([]);
    expect(await ledgerOf().slices(aRunId(), 0, 5)).toEqual([]);
  });

  it('P22: keeps tenants apart whose names hold separators, and one without a due record', async () => {
    const runId = aRunId();
    const names = ['a', 'a#b', '', 'TENANT#a', 'ünïcode', 'x'.repeat(1_500)];
    for (const name of names) await ledgerOf().putTenant(aTenant(runId, name, 1, 0));
    const found = await allOf((cursor) => ledgerOf().tenants(runId, cursor));
    expect(found.map((report) => report.tenant).sort()).toEqual([...names].sort());
    expect(found.every((report) => report.oldest === null)).toBe(true);
  });
}
