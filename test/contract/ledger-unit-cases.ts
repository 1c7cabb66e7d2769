import { expect, it } from 'vitest';
import type { UnitItem } from '../../lib/core/ledger/items.ts';
import { UNIT_EDGES, type UnitEdge, type UnitState } from '../../lib/core/ledger/lifecycle.ts';
import type { Ledger, UnitMoved, UnitRef } from '../../lib/core/ports/index.ts';
import { allOf, aRunId, aSlice, FIRST, retried, start, storedRun, T0 } from './ledger-samples.ts';

const STATES: Readonly<Record<UnitState, readonly UnitEdge[]>> = {
  planned: ['postpone'],
  published: ['postpone', 'publish'],
  in_progress: ['start'],
  committed: ['start', 'commit'],
  quarantined: ['quarantine'],
  uncertain: ['start', 'doubt'],
  abandoned: ['quarantine', 'abandon'],
  cancelled: ['start', 'cancel'],
};

/** Brings an absent unit into a state by legal edges. */
async function unitIn(ledger: Ledger, ref: UnitRef, state: UnitState): Promise<void> {
  for (const edge of STATES[state]) await ledger.moveUnit(ref, edge, FIRST, { since: T0 });
}

/** What every ledger must do with units. */
export function unitCases(ledgerOf: () => Ledger): void {
  it('makes an absent unit at its first start, with what the guard says of it', async () => {
    const ref = { runId: aRunId(), unit: '7' };
    const started: UnitItem = {
      ...ref,
      tenant: 'acme',
      records: 3,
      state: 'in_progress',
      attempts: 1,
      generation: 0,
      since: T0,
      startedAt: T0,
      claim: 'claim-0',
    };
    expect(await start(ledgerOf(), ref, 0)).toEqual({ kind: 'moved', unit: started });
    expect(await ledgerOf().readUnit(ref)).toEqual(started);
  });

  it('makes nothing of a later generation, of a later attempt, without being told of what, or by a later edge', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    const change = { since: T0 };
    const refused: UnitMoved = { kind: 'refused', unit: undefined };
    expect(await ledgerOf().moveUnit(ref, 'start', { ...FIRST, generation: 1 }, change)).toEqual(refused);
    expect(await start(ledgerOf(), ref, 1)).toEqual(refused);
    expect(await ledgerOf().moveUnit(ref, 'start', { generation: 0, attempts: 0 }, change)).toEqual(refused);
    for (const edge of ['commit', 'publish', 'redrive', 'release', 'doubt', 'copy', 'abandon', 'cancel'] as const) {
      expect(await ledgerOf().moveUnit(ref, edge, FIRST, change), edge).toEqual(refused);
    }
    expect(await ledgerOf().readUnit(ref)).toBeUndefined();
  });

  it('counts an attempt once: a second start from the same count is refused and sees the first', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    const first = await start(ledgerOf(), ref, 0);
    const again = await start(ledgerOf(), ref, 0, 'another delivery');
    expect(again).toEqual({ kind: 'refused', unit: first.unit });
    expect(await start(ledgerOf(), ref, 1)).toMatchObject({ kind: 'moved', unit: { attempts: 2, claim: 'claim-1' } });
  });

  it('of deliveries that start one attempt at once, one does', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    const claims = ['a', 'b', 'c', 'd'];
    const started = await Promise.all(claims.map((claim) => retried(() => start(ledgerOf(), ref, 0, claim))));
    const winners = claims.filter((_, index) => started[index]?.kind === 'moved');
    expect(winners).toHaveLength(1);
    expect(await ledgerOf().readUnit(ref)).toMatchObject({ attempts: 1, claim: winners[0] });
  });

  for (const state of Object.keys(STATES) as UnitState[]) {
    it(`from ${state}, moves along the edges that leave it and refuses all others`, async () => {
      const runId = aRunId();
      for (const [n, [edge, { from, to }]] of Object.entries(UNIT_EDGES).entries()) {
        const ref = { runId, unit: String(n) };
        await unitIn(ledgerOf(), ref, state);
        const before = await ledgerOf().readUnit(ref);
        expect(before?.state).toBe(state);
        const moved = await ledgerOf().moveUnit(ref, edge as UnitEdge, FIRST, { since: T0 + 5 });
        const legal = (from as readonly string[]).includes(state);
        const wanted = legal
          ? { kind: 'moved', unit: { ...before, state: to, since: T0 + 5 } }
          : { kind: 'refused', unit: before };
        expect(moved, edge).toEqual(wanted);
      }
    });
  }

  it('refuses a move of another generation', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await unitIn(ledgerOf(), ref, 'quarantined');
    const redriven = await ledgerOf().moveUnit(ref, 'redrive', FIRST, {
      ...{ since: T0, generation: 1, attempts: 0, bornAt: T0 + 3 },
    });
    const unit = { state: 'planned', generation: 1, attempts: 0, bornAt: T0 + 3 };
    expect(redriven).toMatchObject({ kind: 'moved', unit });
    expect(await ledgerOf().readUnit(ref)).toMatchObject(unit);
    expect((await start(ledgerOf(), ref, 0)).kind).toBe('refused');
  });

  it('keeps what an edge does not set, and gives back counts, exceptions and cost as they went in', async () => {
    const ref = { runId: aRunId(), unit: '12.34' };
    await start(ledgerOf(), ref, 0);
    const change = {
      since: T0 + 9,
      finishedAt: T0 + 9,
      counts: { expired: 90, state_changed: 7, held: 1 },
      exceptions: { state_changed: [0, 1, 2, 3, 50, 98, 99], held: [12] },
      keysDigest: 'digest',
      cost: { calls: 4, readUnits: 0.5, writeUnits: 101 },
    };
    const moved = await ledgerOf().moveUnit(ref, 'commit', { generation: 0 }, change);
    const wanted = {
      ...{ ...ref, tenant: 'acme', records: 3, attempts: 1, generation: 0, startedAt: T0, claim: 'claim-0' },
      ...{ ...change, state: 'committed' },
    };
    expect(moved).toEqual({ kind: 'moved', unit: wanted });
    expect(await ledgerOf().readUnit(ref)).toEqual(wanted);
  });

  it('a delivery that gives its attempt back leaves the unit to the next one, with what failed last', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await start(ledgerOf(), ref, 0);
    const failed = { errorClass: 'ThrottlingError', failureClass: 'transient', requestId: 'r' } as const;
    const change = { since: T0 + 3, attempts: 0, counts: { expired: 2 }, ...failed };
    const released = await ledgerOf().moveUnit(ref, 'release', { generation: 0, attempts: 1 }, change);
    expect(released).toMatchObject({ kind: 'moved', unit: { state: 'published', attempts: 0, ...failed } });
    const late = { ...change, since: T0 + 9 };
    expect((await ledgerOf().moveUnit(ref, 'release', { generation: 0, attempts: 1 }, late)).kind).toBe('refused');
    expect(await start(ledgerOf(), ref, 0)).toMatchObject({ kind: 'moved', unit: { attempts: 1, ...failed } });
  });

  it('notes the copy of a quarantined unit, and of which generation, and nothing else', async () => {
    const ref = { runId: aRunId(), unit: '0' };
    await unitIn(ledgerOf(), ref, 'quarantined');
    const before = await ledgerOf().readUnit(ref);
    const noted = { since: T0, copiedAt: T0 + 4, copiedGeneration: 0 };
    const copied = await ledgerOf().moveUnit(ref, 'copy', { generation: 0 }, noted);
    expect(copied).toEqual({ kind: 'moved', unit: { ...before, ...noted } });
    expect((await ledgerOf().moveUnit(ref, 'copy', { generation: 1 }, noted)).kind).toBe('refused');
    expect(await ledgerOf().readUnit(ref)).toEqual({ ...before, ...noted });
  });

  it('pages units in order of ordinals, each batch before the records split from it', async () => {
    const runId = aRunId();
    for (const unit of ['10', '2.11', '2', '0', '2.2', '1']) await start(ledgerOf(), { runId, unit }, 0);
    const units = await allOf((cursor) => ledgerOf().units(runId, cursor));
    expect(units.map((item) => item.unit)).toEqual(['0', '1', '2', '2.2', '2.11', '10']);
  });

  it('loads deliveries in the order asked for: several of one run, one twice, one of nothing', async () => {
    const run = await storedRun(ledgerOf());
    for (const ordinal of [0, 1]) await ledgerOf().putSlice(aSlice(run.runId, ordinal, 1));
    const ref = (unit: string): UnitRef => ({ runId: run.runId, unit });
    await start(ledgerOf(), ref('1'), 0);
    await start(ledgerOf(), ref('1.2'), 0);
    const nowhere = { runId: aRunId(), unit: '0' };
    const loaded = await ledgerOf().load([ref('1'), nowhere, ref('0'), ref('1.2'), ref('1')]);
    const one = { run, slice: aSlice(run.runId, 1, 1), unit: await ledgerOf().readUnit(ref('1')) };
    expect(loaded).toEqual([
      one,
      { run: undefined, slice: undefined, unit: undefined },
      { run, slice: aSlice(run.runId, 0, 1), unit: undefined },
      { ...one, unit: await ledgerOf().readUnit(ref('1.2')) },
      one,
    ]);
  });

  it('loads no more than ten deliveries at once', async () => {
    const refs = Array.from({ length: 11 }, (_, n) => ({ runId: aRunId(), unit: String(n) }));
    await expect(ledgerOf().load(refs)).rejects.toMatchObject({ failure: { class: 'permanent' } });
    expect(await ledgerOf().load(refs.slice(1))).toHaveLength(10);
  });
}
