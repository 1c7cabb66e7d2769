import { describe, expect, it } from 'vitest';
import type { Slice, Tally } from '../../../lib/core/ledger/items.ts';
import { dispatch } from '../../../lib/core/plan/dispatch.ts';
import { PlanMismatch } from '../../../lib/core/plan/freeze.ts';
import type { Ledger } from '../../../lib/core/ports/index.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { accounts, altered, deploy, dispatchPorts, SCHEDULED, theRun, timeLeft } from './stage.ts';

const REQUEST = { scheduledTime: SCHEDULED, startedBy: 'schedule' };

function dispatchOver(stage: Deployment, changes: Partial<Ledger>) {
  const ports = dispatchPorts(stage, { ledger: altered<Ledger>(stage.ledger, changes) });
  return dispatch(ports, stage.settings, REQUEST, timeLeft());
}

/** Reads of slices that see each slice through `change`; undefined leaves it out. */
function slicesAs(stage: Deployment, change: (slice: Slice) => Slice | undefined): Pick<Ledger, 'slices'> {
  return {
    slices: async (runId, from, before) =>
      (await stage.ledger.slices(runId, from, before)).flatMap((slice) => change(slice) ?? []),
  };
}

describe('freezing the plan', () => {
  const WRONG: Record<string, (slice: Slice) => Slice | undefined> = {
    'is missing': (slice) => (slice.ordinal === 1 ? undefined : slice),
    'has lost a record': (slice) => ({ ...slice, entries: slice.entries.slice(1) }),
    'has a record of another key': (slice) => ({
      ...slice,
      entries: slice.entries.map((entry, at) => (at === 0 ? { ...entry, key: '["Sother"]' } : entry)),
    }),
    'has another witness': (slice) => ({
      ...slice,
      entries: slice.entries.map((entry) => ({ ...entry, witness: 'S:other' })),
    }),
    'belongs to another tenant': (slice) => ({ ...slice, tenant: 'other' }),
    'stands at another place': (slice) => ({ ...slice, ordinal: slice.ordinal + 1 }),
  };

  it.each(Object.keys(WRONG))('stops before the first message where a slice read back %s', async (what) => {
    const stage = deploy(accounts(9));
    const change = WRONG[what] ?? (() => undefined);
    await expect(dispatchOver(stage, slicesAs(stage, change))).rejects.toThrow(PlanMismatch);
    expect(stage.queue.sent).toHaveLength(0);
    expect((await theRun(stage)).status).toBe('planning');
  });

  it('stops where a tally is missing, or counts other than the slices hold', async () => {
    const stage = deploy(accounts(9));
    await expect(dispatchOver(stage, { tallies: async () => [] })).rejects.toThrow(/tally 0 is missing/);
    stage.world.advance(3_600_000);
    const tallies = async (runId: string, from: number, before: number): Promise<readonly Tally[]> => {
      const counts = { discovered: 10, held: 0, planned: 10, overLimit: 0, oldest: null };
      return (await stage.ledger.tallies(runId, from, before)).map((tally) => ({ ...tally, tenants: { t1: counts } }));
    };
    await expect(dispatchOver(stage, { tallies })).rejects.toThrow(/hold 9 records where discovery counted 10/);
    expect(stage.queue.sent).toHaveLength(0);
  });

  it('digests what it reads back, so the digest tells plans apart by keys and by order of batches', async () => {
    const digests = [];
    for (const rows of [accounts(9), accounts(8), accounts(9, { tenant: 't2' }), [...accounts(9)].reverse()]) {
      const stage = deploy(rows);
      await stage.dispatch();
      digests.push((await theRun(stage)).plan?.digest);
    }
    // The chain is one of keys: a tenant's name is in the slices' own digests.
    expect(digests[0]).toBe(digests[2]);
    expect(digests[0]).toBe(digests[3]);
    expect(digests[0]).not.toBe(digests[1]);
  });

  it('quotes the write units of the whole plan', async () => {
    const stage = deploy(accounts(7), {}, { source: { writeUnits: 3 } });
    await stage.dispatch();
    expect((await theRun(stage)).plan).toMatchObject({ records: 7, quotedWriteUnits: 21, overLimit: 0, tenants: 1 });
  });
});
