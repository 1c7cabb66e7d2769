import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SliceEntry } from '../../../lib/core/ledger/items.ts';
import {
  type ClosedSlice,
  digestOfSlice,
  OpenSlices,
  type SliceLimits,
  sealSlice,
  sliceLimits,
} from '../../../lib/core/plan/open-slices.ts';

const ROOMY: SliceLimits = { entriesPerSlice: 100, bytesPerSlice: 1e6, bytesInAll: 1e6, slicesInAll: 1e6 };

function entry(key: string, witness = 'w'): SliceEntry {
  return { key, witness, writeUnits: 1 };
}

function add(slices: OpenSlices, tenant: string, ...keys: readonly string[]): readonly ClosedSlice[] {
  return keys.flatMap((key) => {
    const closed = slices.add(tenant, entry(key));
    return closed === 'repeated' ? [] : closed;
  });
}

function shape(closed: readonly ClosedSlice[]): readonly (readonly [string, number])[] {
  return closed.map(({ tenant, entries }) => [tenant, entries.length]);
}

describe('open slices', () => {
  it('close when they are full, each tenant by itself', () => {
    const slices = new OpenSlices({ ...ROOMY, entriesPerSlice: 2 });
    expect(add(slices, 'a', '1')).toEqual([]);
    expect(add(slices, 'b', '1')).toEqual([]);
    expect(add(slices, 'a', '2')).toEqual([{ tenant: 'a', entries: [entry('1'), entry('2')] }]);
    expect(shape(slices.closeAll())).toEqual([['b', 1]]);
    expect(slices.closeAll()).toEqual([]);
  });

  it('close before an entry that would make them too large to store', () => {
    const slices = new OpenSlices({ ...ROOMY, bytesPerSlice: 900 });
    const long = 'k'.repeat(300);
    expect(shape(add(slices, 'a', `${long}1`, `${long}2`, `${long}3`))).toEqual([
      ['a', 1],
      ['a', 1],
    ]);
  });

  it('take one entry that is too large by itself', () => {
    const slices = new OpenSlices({ ...ROOMY, bytesPerSlice: 100 });
    expect(shape(add(slices, 'a', 'k'.repeat(2_000)))).toEqual([]);
    expect(shape(slices.closeAll())).toEqual([['a', 1]]);
  });

  it('close the fullest first where all together grow too large', () => {
    const slices = new OpenSlices({ ...ROOMY, bytesInAll: 3_000 });
    add(slices, 'small', 'k');
    add(slices, 'full', 'k'.repeat(900), 'K'.repeat(900));
    expect(shape(add(slices, 'middle', 'k'.repeat(700)))).toEqual([['full', 2]]);
    expect(shape(slices.closeAll())).toEqual([
      ['middle', 1],
      ['small', 1],
    ]);
  });

  it('say when a key is there already, and forget it with the slice', () => {
    const slices = new OpenSlices({ ...ROOMY, entriesPerSlice: 2 });
    expect(slices.add('a', entry('1', 'older'))).toEqual([]);
    expect(slices.add('a', entry('1', 'newer'))).toBe('repeated');
    expect(slices.add('b', entry('1'))).toEqual([]);
    expect(add(slices, 'a', '2')).toHaveLength(1);
    expect(slices.add('a', entry('1'))).toEqual([]);
  });

  it('hold no more bytes than allowed, whatever comes, and lose nothing', () => {
    const limits: SliceLimits = { entriesPerSlice: 5, bytesPerSlice: 600, bytesInAll: 2_000, slicesInAll: 20 };
    const one = fc.record({ tenant: fc.nat(30).map((number) => `t${number}`), size: fc.integer({ min: 1, max: 400 }) });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 80 }), (records) => {
        const slices = new OpenSlices(limits);
        const closed: ClosedSlice[] = [];
        let open = 0;
        for (const [number, { tenant, size }] of records.entries()) {
          const key = `${number}`.padEnd(size, 'x');
          const newly = add(slices, tenant, key);
          closed.push(...newly);
          open +=
            bytesOf(key) - newly.flatMap(({ entries }) => entries).reduce((sum, { key: k }) => sum + bytesOf(k), 0);
          expect(open).toBeLessThanOrEqual(limits.bytesInAll);
        }
        closed.push(...slices.closeAll());
        const keys = closed.flatMap(({ entries }) => entries.map(({ key }) => key));
        expect(new Set(keys).size).toBe(records.length);
        for (const { tenant, entries } of closed) {
          expect(entries.length).toBeLessThanOrEqual(limits.entriesPerSlice);
          for (const { key } of entries) expect(records[Number.parseInt(key, 10)]?.tenant).toBe(tenant);
        }
      }),
    );
  });

  it('are few enough to be written at once for any number of tenants, at the limits that discovery uses', () => {
    const slices = new OpenSlices(sliceLimits(100));
    let closed = 0;
    let tenant = 0;
    const addTo = (count: number) => {
      for (const last = tenant + count; tenant < last; tenant += 1) closed += add(slices, `t-${tenant}`, 'k').length;
    };
    addTo(20_000);
    expect(closed).toBe(0);
    addTo(1);
    expect(closed).toBe(5_001);
    addTo(30_000);
    expect(slices.openEntries).toBe(50_001 - closed);
    expect(slices.openEntries).toBeLessThanOrEqual(20_000);
    expect(slices.closeAll()).toHaveLength(50_001 - closed);
    expect(slices.openEntries).toBe(0);
  });

  it('leave each of ten thousand tenants a batch of a size that is worth its price', () => {
    // A hundredth of the tenants in a hundredth of the room.
    const limits = sliceLimits(100);
    const slices = new OpenSlices({ ...limits, bytesInAll: limits.bytesInAll / 100 });
    const sizes: number[] = [];
    for (let record = 0; record < 20_000; record += 1) {
      const closed = slices.add(`tenant-${record % 100}`, entry(`record-number-${record}`.padEnd(40)));
      if (closed !== 'repeated') sizes.push(...closed.map(({ entries }) => entries.length));
    }
    expect(sizes.length).toBeGreaterThan(0);
    expect(Math.min(...sizes)).toBeGreaterThan(50);
  });

  it('are sealed with a digest of everything that a consumer acts on', () => {
    const sealed = sealSlice({ tenant: 'a', entries: [entry('1'), entry('2')] }, 'run', 7, 3);
    expect(sealed).toMatchObject({ runId: 'run', ordinal: 7, epoch: 3, tenant: 'a' });
    expect(digestOfSlice(sealed)).toBe(sealed.digest);
    const changes = [
      { ordinal: 8 },
      { tenant: 'b' },
      { entries: [entry('1')] },
      { entries: [entry('2'), entry('1')] },
      { entries: [entry('1', 'other'), entry('2')] },
    ];
    for (const change of changes) expect(digestOfSlice({ ...sealed, ...change })).not.toBe(sealed.digest);
  });
});

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
