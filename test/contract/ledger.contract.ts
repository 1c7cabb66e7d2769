import { beforeAll, describe, expect, it, vi } from 'vitest';
import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import { NO_CHECKPOINT, type UnitItem } from '../../lib/core/ledger/items.ts';
import { RUN_EDGES, UNIT_EDGES, type UnitEdge, type UnitState } from '../../lib/core/ledger/lifecycle.ts';
import type { Ledger, UnitMoved, UnitRef } from '../../lib/core/ports/index.ts';
import {
  allOf,
  anEntry,
  aRun,
  aRunId,
  aSlice,
  aTally,
  aTenant,
  FIRST,
  PLAN,
  runScope,
  start,
  storedRun,
  T0,
} from './ledger-samples.ts';

/** What every ledger must do. Tests use runs of their own, so that one ledger may serve them all. */
export function ledgerContract(name: string, makeLedger: () => Promise<Ledger>): void {
  describe(`ledger contract: ${name}`, () => {
    let ledger: Ledger;
    beforeAll(async () => {
      ledger = await makeLedger();
    });
    describe('runs', () => runContract(() => ledger));
    describe('plan', () => planContract(() => ledger));
    describe('units', () => unitContract(() => ledger));
    describe('open index', () => openContract(() => ledger));
    describe('audit', () => auditContract(() => ledger));
  });
}

function runContract(ledgerOf: () => Ledger): void {
  it('P5: creates a run once; the second creator is told what is there', async () => {
    const run = aRun();
    expect(await ledgerOf().createRun(run)).toEqual({ kind: 'created' });
    const second = { ...run, createdAt: run.createdAt + 5, startedBy: 'somebody else' };
    expect(await ledgerOf().createRun(second)).toEqual({ kind: 'exists', run });
    expect(await ledgerOf().readRun(run.runId)).toEqual(run);
  });

  it('P5: of two creators at once one creates', async () => {
    const run = aRun();
    const kinds = await Promise.all([0, 1].map(() => retried(() => ledgerOf().createRun(run))));
    expect(kinds.map(({ kind }) => kind).sort()).toEqual(['created', 'exists']);
  });

  it('reads nothing of a run that is not there', async () => {
    expect(await ledgerOf().readRun(aRunId())).toBeUndefined();
  });

  it('lists the runs of a policy by page, newest scheduled time first', async () => {
    const { policyId, runId } = await storedRun(ledgerOf());
    const later = await storedRun(ledgerOf(), policyId, T0 + DAY_MILLIS);
    const latest = await storedRun(ledgerOf(), policyId, T0 + 2 * DAY_MILLIS);
    await storedRun(ledgerOf());
    const ids = await allOf((cursor) => ledgerOf().runIds(policyId, 2, cursor));
    expect(ids).toEqual([latest.runId, later.runId, runId]);
  });

  it('P8: gives a lease only where it has lapsed, and never twice for one epoch', async () => {
    const { runId, lease } = await storedRun(ledgerOf());
    const taken = await ledgerOf().takeLease(runId, lease, 'a', T0, T0 + 60_000);
    expect(taken).toMatchObject({ kind: 'moved', run: { lease: { owner: 'a', until: T0 + 60_000, epoch: 1 } } });
    const held = { owner: 'a', until: T0 + 60_000, epoch: 1 };
    expect((await ledgerOf().takeLease(runId, lease, 'b', T0 + 90_000, T0 + 99_000)).kind).toBe('refused');
    expect((await ledgerOf().takeLease(runId, held, 'b', T0 + 59_999, T0 + 99_000)).kind).toBe('refused');
    const next = await ledgerOf().takeLease(runId, held, 'b', T0 + 60_000, T0 + 99_000);
    expect(next).toMatchObject({ kind: 'moved', run: { lease: { owner: 'b', epoch: 2 } } });
    expect(await ledgerOf().takeLease(aRunId(), lease, 'a', T0, T0 + 1)).toEqual({ kind: 'refused', run: undefined });
  });

  it('P8: of those who take a lapsed lease at once, one gets it', async () => {
    const { runId, lease } = await storedRun(ledgerOf());
    const owners = ['a', 'b', 'c', 'd'];
    const taken = await Promise.all(
      owners.map((owner) => retried(() => ledgerOf().takeLease(runId, lease, owner, T0, T0 + 60_000))),
    );
    const winners = owners.filter((_, index) => taken[index]?.kind === 'moved');
    expect(winners).toHaveLength(1);
    expect((await ledgerOf().readRun(runId))?.lease).toEqual({ owner: winners[0], until: T0 + 60_000, epoch: 1 });
  });

  it('moves a run along its edges and keeps what a move does not set', async () => {
    const run = await storedRun(ledgerOf());
    const checkpoint = { ...NO_CHECKPOINT, nextOrdinal: 2, cursors: { s0: { kind: 'at', cursor: 'c' } as const } };
    const cost = { calls: 3, readUnits: 2.5, writeUnits: 4 };
    await ledgerOf().moveRun(run.runId, 'checkpoint', 0, { checkpoint, cost, leaseUntil: T0 + 7 });
    await ledgerOf().moveRun(run.runId, 'freeze', 0, { plan: PLAN, frozenAt: T0 });
    const { tenants: _tenants, ...chain } = { tenants: 0, batches: 2, records: 3, digest: 'd' };
    const moved = await ledgerOf().moveRun(run.runId, 'advance', 0, { published: chain });
    const lease = { ...run.lease, until: T0 + 7 };
    const wanted = {
      ...run,
      status: 'publishing',
      checkpoint,
      cost,
      lease,
      plan: PLAN,
      frozenAt: T0,
      published: chain,
    };
    expect(moved).toEqual({ kind: 'moved', run: wanted });
    expect(await ledgerOf().readRun(run.runId)).toEqual(wanted);
  });

  it('refuses every edge that does not leave the status the run is in', async () => {
    const run = await storedRun(ledgerOf());
    for (const [edge, { from }] of Object.entries(RUN_EDGES)) {
      if ((from as readonly string[]).includes('planning')) continue;
      const refused = await ledgerOf().moveRun(run.runId, edge as keyof typeof RUN_EDGES, 0, { frozenAt: 1 });
      expect(refused, edge).toEqual({ kind: 'refused', run });
    }
  });

  it('refuses a move of another epoch, older or newer', async () => {
    const { runId, lease } = await storedRun(ledgerOf());
    await ledgerOf().takeLease(runId, lease, 'a', T0, T0 + 60_000);
    for (const epoch of [0, 2]) {
      expect((await ledgerOf().moveRun(runId, 'freeze', epoch, { plan: PLAN })).kind).toBe('refused');
    }
    expect((await ledgerOf().moveRun(runId, 'freeze', 1, { plan: PLAN })).kind).toBe('moved');
    expect((await ledgerOf().moveRun(runId, 'drain', undefined, {})).kind).toBe('moved');
  });

  it('does not make a run by moving it', async () => {
    const runId = aRunId();
    expect(await ledgerOf().moveRun(runId, 'freeze', undefined, {})).toEqual({ kind: 'refused', run: undefined });
    expect(await ledgerOf().readRun(runId)).toBeUndefined();
  });
}

function planContract(ledgerOf: () => Ledger): void {
  it('P9: a slice of an older epoch is superseded, one of a newer epoch takes its place', async () => {
    const runId = aRunId();
    expect(await ledgerOf().putSlice(aSlice(runId, 0, 2))).toBe('written');
    expect(await ledgerOf().putSlice(aSlice(runId, 0, 1, 'late'))).toBe('superseded');
    expect(await ledgerOf().slices(runId, 0, 1)).toEqual([aSlice(runId, 0, 2)]);
    expect(await ledgerOf().putSlice(aSlice(runId, 0, 3, 'resumed'))).toBe('written');
    expect(await ledgerOf().slices(runId, 0, 1)).toEqual([aSlice(runId, 0, 3, 'resumed')]);
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

const STATES: Readonly<Record<Exclude<UnitState, 'uncertain' | 'abandoned' | 'cancelled'>, readonly UnitEdge[]>> = {
  planned: ['postpone'],
  published: ['postpone', 'publish'],
  in_progress: ['start'],
  committed: ['start', 'commit'],
  quarantined: ['quarantine'],
};

/** Brings an absent unit into a state by legal edges. */
async function unitIn(ledger: Ledger, ref: UnitRef, state: keyof typeof STATES): Promise<void> {
  for (const edge of STATES[state]) await ledger.moveUnit(ref, edge, FIRST, { since: T0 });
}

function unitContract(ledgerOf: () => Ledger): void {
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
    for (const edge of ['commit', 'publish', 'redrive'] as const) {
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

  for (const state of Object.keys(STATES) as (keyof typeof STATES)[]) {
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
    const redriven = await ledgerOf().moveUnit(ref, 'redrive', FIRST, { since: T0, generation: 1, attempts: 0 });
    expect(redriven).toMatchObject({ kind: 'moved', unit: { state: 'planned', generation: 1, attempts: 0 } });
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

function openContract(ledgerOf: () => Ledger): void {
  const openRuns = () => allOf((cursor) => ledgerOf().openRuns(cursor));
  const quarantined = async (runId: string) => {
    const units = await allOf((cursor) => ledgerOf().openUnits({ state: 'quarantined' }, cursor));
    return units.filter((unit) => unit.runId === runId);
  };
  const due = async (runId: string, dueAt: number) => {
    const units = await allOf((cursor) => ledgerOf().openUnits({ state: 'planned', dueAt }, cursor));
    return units.filter((unit) => unit.runId === runId).map(({ unit }) => unit);
  };

  it('shows a run until it is finished, and again once it is reopened', async () => {
    const { runId } = await storedRun(ledgerOf());
    await vi.waitFor(async () => expect(await openRuns()).toContain(runId));
    for (const edge of ['freeze', 'drain'] as const) await ledgerOf().moveRun(runId, edge, 0, {});
    expect(await openRuns()).toContain(runId);
    await ledgerOf().moveRun(runId, 'completeWithQuarantine', undefined, {});
    await vi.waitFor(async () => expect(await openRuns()).not.toContain(runId));
    await ledgerOf().moveRun(runId, 'reopen', undefined, {});
    await vi.waitFor(async () => expect(await openRuns()).toContain(runId));
    await ledgerOf().moveRun(runId, 'complete', undefined, {});
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
    expect(await quarantined(runId)).not.toContainEqual({ ...ref, generation: 0 });
    expect(await quarantined(runId)).toContainEqual({ runId, unit: '4', generation: 0 });
    expect(await due(runId, T0)).toEqual(['3']);
    await ledgerOf().moveUnit(ref, 'quarantine', { generation: 1 }, { since: T0 });
    await vi.waitFor(async () => expect(await quarantined(runId)).toContainEqual({ ...ref, generation: 1 }));
  });
}

function auditContract(ledgerOf: () => Ledger): void {
  it('appends to a run where the number is the head’s count, and moves the head', async () => {
    const run = await storedRun(ledgerOf());
    const scope = runScope(run.runId);
    expect(await ledgerOf().appendAudit(scope, anEntry(1))).toBe('moved-on');
    expect(await ledgerOf().appendAudit(scope, anEntry(0))).toBe('appended');
    expect(await ledgerOf().readRun(run.runId)).toEqual({ ...run, auditHead: { count: 1, hash: anEntry(0).hash } });
    expect(await ledgerOf().appendAudit(scope, anEntry(0, 'another'))).toBe('moved-on');
    for (let number = 1; number < 12; number += 1) await ledgerOf().appendAudit(scope, anEntry(number));
    const trail = await allOf((cursor) => ledgerOf().auditTrail(scope, cursor));
    expect(trail).toEqual(Array.from({ length: 12 }, (_, number) => anEntry(number)));
  });

  it('has a trail of its own for a policy, from its first entry on', async () => {
    const { policyId, runId } = await storedRun(ledgerOf());
    const scope = { kind: 'policy', policyId } as const;
    expect(await ledgerOf().appendAudit(scope, anEntry(1))).toBe('moved-on');
    expect(await ledgerOf().appendAudit(scope, anEntry(0))).toBe('appended');
    expect(await ledgerOf().appendAudit(scope, anEntry(1, 'second'))).toBe('appended');
    expect(await allOf((cursor) => ledgerOf().auditTrail(scope, cursor))).toEqual([anEntry(0), anEntry(1, 'second')]);
    expect(await allOf((cursor) => ledgerOf().auditTrail(runScope(runId), cursor))).toEqual([]);
  });

  it('makes no trail of a run that is not there', async () => {
    const runId = aRunId();
    expect(await ledgerOf().appendAudit(runScope(runId), anEntry(0))).toBe('moved-on');
    expect(await ledgerOf().readRun(runId)).toBeUndefined();
    expect(await allOf((cursor) => ledgerOf().auditTrail(runScope(runId), cursor))).toEqual([]);
  });

  it('of entries appended at once, one has the number and the others have moved on', async () => {
    const run = await storedRun(ledgerOf());
    const reasons = ['a', 'b', 'c', 'd'];
    const ends = await Promise.all(
      reasons.map((reason) => retried(() => ledgerOf().appendAudit(runScope(run.runId), anEntry(0, reason)))),
    );
    expect(ends.filter((end) => end === 'appended')).toHaveLength(1);
    const [entry, ...more] = await allOf((cursor) => ledgerOf().auditTrail(runScope(run.runId), cursor));
    expect(more).toEqual([]);
    expect(entry?.reason).toBe(reasons[ends.indexOf('appended')]);
    expect((await ledgerOf().readRun(run.runId))?.auditHead).toEqual({ count: 1, hash: entry?.hash });
  });

  it('keeps the first sighting of a bad message', async () => {
    const { policyId } = aRun();
    await ledgerOf().recordBadMessage({ policyId, digest: 'd1', reason: 'malformed', at: T0 });
    await ledgerOf().recordBadMessage({ policyId, digest: 'd1', reason: 'forged', at: T0 + 1 });
    await ledgerOf().recordBadMessage({ policyId, digest: 'd2', reason: 'forged', at: T0 + 2 });
    expect(await allOf((cursor) => ledgerOf().badMessages(policyId, cursor))).toEqual([
      { policyId, digest: 'd1', reason: 'malformed', at: T0 },
      { policyId, digest: 'd2', reason: 'forged', at: T0 + 2 },
    ]);
  });
}

/** As core does: transactions and writes that met each other are tried again. */
async function retried<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const { failure } = error as { failure?: { class: string } };
      if (failure?.class !== 'transient' || tries === 10) throw error;
    }
  }
}
