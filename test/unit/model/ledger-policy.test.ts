import { describe, expect, it } from 'vitest';
import type { SplitUnit } from '../../../lib/core/ledger/items.ts';
import { MemoryLedger } from '../../model/index.ts';

const PAUSE = { actor: 'ada', reason: 'incident', requestId: 'r1', at: 1_000 };
const BATCH = { runId: 'run', unit: '3' };
const GUARD = { generation: 0, make: { tenant: 't1', records: 3 } };
const CHILD: SplitUnit = { unit: '3.1', tenant: 't1', state: 'quarantined', attempts: 1, since: 5, reason: 'poison' };

async function started(splits: 'one-transaction' | 'torn' = 'one-transaction'): Promise<MemoryLedger> {
  const ledger = new MemoryLedger({ splits });
  await ledger.moveUnit(BATCH, 'start', { ...GUARD, attempts: 0 }, { since: 1, attempts: 1 });
  return ledger;
}

describe('ledger model: a split batch', () => {
  it('commits the batch and makes its children, open and each of one record, in one step', async () => {
    const ledger = await started();
    const moved = await ledger.splitUnit(BATCH, { generation: 0 }, { since: 5, split: [1] }, [CHILD]);
    expect(moved).toMatchObject({ kind: 'moved', unit: { state: 'committed', split: [1] } });
    expect(await ledger.readUnit({ runId: 'run', unit: '3.1' })).toMatchObject({ ...CHILD, records: 1, generation: 0 });
    const open = await ledger.openUnits({ state: 'quarantined' }, undefined);
    expect(open.items.map((unit) => unit.unit)).toEqual(['3.1']);
  });

  it('does neither where the batch is no longer as its guard says, or a child is there', async () => {
    const ledger = await started();
    const refused = await ledger.splitUnit(BATCH, { generation: 1 }, { since: 5, split: [1] }, [CHILD]);
    expect(refused).toMatchObject({ kind: 'refused', unit: { state: 'in_progress' } });
    expect(ledger.contents().units.map((unit) => unit.unit)).toEqual(['3']);
    await ledger.splitUnit(BATCH, { generation: 0 }, { since: 5, split: [1] }, [CHILD]);
    const again = await ledger.splitUnit(BATCH, { generation: 0 }, { since: 6, split: [1] }, [CHILD]);
    expect(again).toMatchObject({ kind: 'refused', unit: { since: 5 } });
  });

  it('as a torn mutant commits the batch and loses its children', async () => {
    const ledger = await started('torn');
    await expect(ledger.splitUnit(BATCH, { generation: 0 }, { since: 5, split: [1] }, [CHILD])).rejects.toThrow('Torn');
    expect(ledger.contents().units.map(({ unit, state }) => [unit, state])).toEqual([['3', 'committed']]);
  });
});

describe('ledger model: the switch', () => {
  it('pauses once; the same request may ask again, another is refused and sees who did', async () => {
    const ledger = new MemoryLedger();
    expect((await ledger.pause('p', PAUSE)).kind).toBe('moved');
    expect((await ledger.pause('p', PAUSE)).kind).toBe('moved');
    const other = await ledger.pause('p', { ...PAUSE, requestId: 'r2' });
    expect(other).toMatchObject({ kind: 'refused', control: { pause: PAUSE, intake: 'to-disable' } });
    expect((await ledger.readStops('p', 'run')).control.pause).toEqual(PAUSE);
    expect((await ledger.readControl('another')).pause).toBeUndefined();
  });

  it('resumes the pause that began then and no other, and remembers it', async () => {
    const ledger = new MemoryLedger();
    await ledger.pause('p', PAUSE);
    expect((await ledger.resume('p', 999, 2_000)).kind).toBe('refused');
    expect(await ledger.resume('p', 1_000, 2_000)).toMatchObject({
      kind: 'moved',
      control: { pause: undefined, pauses: [{ from: 1_000, until: 2_000 }], intake: 'to-enable' },
    });
    expect((await ledger.resume('p', 1_000, 3_000)).kind).toBe('moved');
    await ledger.pause('p', { ...PAUSE, at: 4_000 });
    expect((await ledger.resume('p', 1_000, 5_000)).kind).toBe('refused');
  });

  it('notes the mapping as it should be only where that is still what is wanted', async () => {
    const ledger = new MemoryLedger();
    await ledger.pause('p', PAUSE);
    expect(await ledger.settleIntake('p', 'to-enable')).toBe('moved-on');
    expect(await ledger.settleIntake('p', 'to-disable')).toBe('settled');
    expect((await ledger.readControl('p')).intake).toBeUndefined();
    expect(await ledger.settleIntake('p', 'to-disable')).toBe('moved-on');
  });

  it('keeps the first sighting of a bad message and the first time that it was given up', async () => {
    const ledger = new MemoryLedger();
    await ledger.recordBadMessage({ policyId: 'p', digest: 'd', reason: 'malformed', at: 1 });
    await ledger.recordBadMessage({ policyId: 'p', digest: 'd', reason: 'other', at: 2 });
    await ledger.abandonBadMessage('p', 'd', 3);
    await ledger.abandonBadMessage('p', 'd', 4);
    await ledger.abandonBadMessage('p', 'unknown', 4);
    expect(ledger.contents().badMessages).toEqual([
      { policyId: 'p', digest: 'd', reason: 'malformed', at: 1, abandonedAt: 3 },
    ]);
  });
});
