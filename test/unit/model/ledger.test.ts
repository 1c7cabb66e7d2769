import { describe, expect, it } from 'vitest';
import type { Slice } from '../../../lib/core/ledger/items.ts';
import { type LedgerOptions, MemoryLedger } from '../../model/index.ts';

const REF = { runId: 'r', unit: '0' };
const MAKE = { tenant: 't', records: 3 };

function slice(ordinal: number, epoch: number, tenant = 't'): Slice {
  return { runId: 'r', ordinal, epoch, tenant, entries: [], keysDigest: 'k', digest: 'd' };
}

async function quarantined(options: Partial<LedgerOptions> = {}): Promise<MemoryLedger> {
  const ledger = new MemoryLedger(options);
  for (const unit of ['0', '1', '2']) {
    const ref = { runId: 'r', unit };
    await ledger.moveUnit(ref, 'quarantine', { generation: 0, make: MAKE }, { since: 1 });
  }
  return ledger;
}

describe('ledger model', () => {
  it('shares nothing with its callers', async () => {
    const ledger = new MemoryLedger();
    const entries = [{ key: 'k', witness: 'w', writeUnits: 1 }];
    await ledger.putSlice({ ...slice(0, 1), entries });
    entries.pop();
    const [stored] = await ledger.slices('r', 0, 1);
    expect(stored?.entries).toHaveLength(1);
    expect(() => Object.assign(stored ?? {}, { tenant: 'other' })).toThrow(TypeError);
  });

  it('has an index that is behind until it settles', async () => {
    const ledger = await quarantined({ indexLag: 2 });
    expect((await ledger.openUnits({ state: 'quarantined' }, undefined)).items).toHaveLength(1);
    ledger.settle();
    expect((await ledger.openUnits({ state: 'quarantined' }, undefined)).items).toHaveLength(3);
    await ledger.moveUnit(REF, 'redrive', { generation: 0 }, { generation: 1, since: 2 });
    expect((await ledger.openUnits({ state: 'quarantined' }, undefined)).items).toHaveLength(3);
  });

  it('P11: has empty pages with a cursor', async () => {
    const ledger = await quarantined({ paging: { size: 2, emptyPages: 'between' } });
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await ledger.units('r', cursor);
      sizes.push(page.items.length);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(sizes).toEqual([0, 2, 0, 1]);
  });

  it('without the epoch check, a dead writer overwrites the plan', async () => {
    const checked = new MemoryLedger();
    await checked.putSlice(slice(0, 2));
    expect(await checked.putSlice(slice(0, 1, 'late'))).toBe('superseded');
    const ignoring = new MemoryLedger({ epochs: 'ignored-by-puts' });
    await ignoring.putSlice(slice(0, 2));
    expect(await ignoring.putSlice(slice(0, 1, 'late'))).toBe('written');
    expect((await ignoring.slices('r', 0, 1))[0]?.tenant).toBe('late');
  });
});
