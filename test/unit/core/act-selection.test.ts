import { describe, expect, it } from 'vitest';
import type { Ledger, OpenUnit } from '../../../lib/core/ports/index.ts';
import { choose, SELECTION_LIMIT } from '../../../lib/core/redrive/selection.ts';
import type { ActView } from '../../../lib/core/redrive/views.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { ask, batchesInQuarantine, DENIED, HOUR_MILLIS, layDown, refusalOf, statesOf, trailOf } from './acts-stage.ts';
import { accounts, altered, published, theUnit } from './stage.ts';

const ANYTHING = { permanent: 'allowed', beyondGenerations: 'allowed', cancelledRuns: 'allowed' } as const;

function dryRun(stage: Deployment, fields: object, act: 'redrive' | 'abandon' = 'redrive'): Promise<ActView> {
  return ask(stage, act, { ...fields, dryRun: true });
}

async function chosen(stage: Deployment, filter: object): Promise<readonly string[]> {
  return (await dryRun(stage, { filter })).units.map(({ unit }) => unit);
}

/** Units 0 to 5 in quarantine, each for something else, and unit 6 of another run. */
async function variety(): Promise<Deployment> {
  const stage = await published(accounts(18));
  await layDown(stage, '0', { reason: 'attempts_spent', errorClass: 'Throttled' });
  await layDown(stage, '1', { tenant: 't2' });
  await layDown(stage, '2', { reason: 'too_old', errorClass: 'TooOld' });
  await layDown(stage, '3', { reason: 'permanent_failure', errorClass: 'Denied', failureClass: 'permanent' });
  stage.world.advance(HOUR_MILLIS);
  await layDown(stage, '4.1', { records: 1 });
  await layDown(stage, '10', {});
  await layDown(stage, '6', { run: 'another' });
  return stage;
}

describe('a selection', () => {
  it.each([
    [{ tenant: 't2' }, ['1']],
    [{ reason: 'too_old' }, ['2']],
    [{ errorClass: 'Throttled' }, ['0', '1', '4.1', '10', '6']],
    [{ errorClass: 'Throttled', tenant: 't1' }, ['0', '4.1', '10', '6']],
    [{ run: 'another' }, ['6']],
    [{ olderThanHours: 0.99 }, ['0', '1', '2']],
    [{ olderThanHours: 1 }, []],
    [{ olderThanHours: 1.01 }, []],
    [{ tenant: 'nobody' }, []],
  ])('takes what matches every part of %j, by run and in the order of the batches', async (filter, units) => {
    expect(await chosen(await variety(), filter)).toEqual(units);
  });

  it('takes one unit, and not its namesake of another run, its batch or a longer name', async () => {
    const stage = await variety();
    await layDown(stage, '4', { run: 'another' });
    await layDown(stage, '1', { run: 'another' });
    const { runId } = stage;
    expect(await chosen(stage, { run: runId, unit: '4.1' })).toEqual(['4.1']);
    expect(await chosen(stage, { run: runId, unit: '4' })).toEqual([]);
    const one = await dryRun(stage, { filter: { run: runId, unit: '1' } });
    expect(one.units).toEqual([{ runId, unit: '1', generation: 0 }]);
  });

  it('P61: leaves out what failed for good, unless its unit, reason or error class is named', async () => {
    const stage = await variety();
    const { runId: run } = stage;
    const left = await dryRun(stage, { filter: { run } });
    expect(left).toMatchObject({ selected: 5, leftOut: { permanent: 1, generations: 0, cancelledRun: 0 } });
    for (const filter of [{ reason: 'permanent_failure' }, { errorClass: 'Denied' }, { run, unit: '3' }]) {
      expect(await dryRun(stage, { filter })).toMatchObject({ selected: 1, leftOut: { permanent: 0 } });
    }
    expect((await dryRun(stage, { all: true }, 'abandon')).selected).toBe(7);
  });

  it('leaves out units at their last generation, unless that is overridden, and units of cancelled runs always', async () => {
    const stage = await published(accounts(9), { redriveGenerations: '2' });
    await layDown(stage, '0');
    await layDown(stage, '1', { generation: 1 });
    const all = { all: true };
    expect(await dryRun(stage, all)).toMatchObject({ selected: 1, leftOut: { generations: 1 } });
    expect(await dryRun(stage, { ...all, beyondGenerations: true })).toMatchObject({ selected: 2 });
    await ask(stage, 'cancel', { run: stage.runId });
    expect(await dryRun(stage, { ...all, beyondGenerations: true })).toMatchObject({
      ...{ selected: 0, leftOut: { cancelledRun: 2 } },
    });
    expect((await dryRun(stage, all, 'abandon')).selected).toBe(2);
  });

  it('is frozen under a digest of its units, whatever the order in which the index gives them', async () => {
    const stage = await variety();
    const first = await dryRun(stage, { filter: { errorClass: 'Throttled' } });
    stage.world.advance(HOUR_MILLIS);
    expect((await dryRun(stage, { filter: { errorClass: 'Throttled' } })).selection).toBe(first.selection);
    const openUnits: Ledger['openUnits'] = async (wanted) => {
      const items: OpenUnit[] = [];
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await stage.ledger.openUnits(wanted, cursor);
        items.push(...page.items);
        cursor = page.next;
      }
      return { items: items.reverse(), next: undefined };
    };
    const ports = { ledger: altered<Ledger>(stage.ledger, { openUnits }), clock: stage.world.clock() };
    const choice = { kind: 'filter', filter: { errorClass: 'Throttled' } } as const;
    const turned = await choose(ports, stage.settings.policyId, 'redrive', choice, ANYTHING);
    expect(turned.selection).toMatchObject({ digest: first.selection, units: first.units });
    expect((await dryRun(stage, { filter: { errorClass: 'Throttled', tenant: 't1' } })).selection).not.toBe(
      first.selection,
    );
  });

  it('changes nothing but itself by a dry run', async () => {
    const stage = await batchesInQuarantine(3, [0, 2]);
    const before = stage.ledger.contents();
    const shown = await dryRun(stage, { all: true });
    const { selections, ...after } = stage.ledger.contents();
    expect({ ...after, selections: [] }).toEqual({ ...before, selections: [] });
    expect(selections.map(({ digest, units }) => ({ digest, units }))).toEqual([
      { digest: shown.selection, units: shown.units },
    ]);
    expect(shown).toMatchObject({ dryRun: true, selected: 2, moved: 0, published: 0, deleted: 0, left: 2, next: 0 });
    expect(stage.queue.deadLetters.visible()).toHaveLength(2);
    expect(stage.log.named('audit')).toEqual([]);
  });

  it('that the real call is held to does not take in what arrived later, nor the same unit come again', async () => {
    const stage = await batchesInQuarantine(4, [0, 2]);
    const { selection } = await dryRun(stage, { all: true });
    await ask(stage, 'redrive', { filter: { run: stage.runId, unit: '2' } });
    await settle(stage);
    expect(await theUnit(stage, '2')).toMatchObject({ state: 'quarantined', generation: 1 });
    await layDown(stage, '9');
    const held = await ask(stage, 'redrive', { selection });
    expect(held).toMatchObject({ selection, selected: 2, moved: 1, alreadyMoved: 1, left: 0 });
    expect(held.units).toEqual([{ runId: stage.runId, unit: '0', generation: 0 }]);
    expect((await trailOf(stage)).entries.at(-1)?.units).toEqual(['0']);
    expect(statesOf(stage)).toMatchObject({ '0': 'published', '2': 'quarantined', '9': 'quarantined' });
  });

  it('that nobody froze, or that was altered since, is refused', async () => {
    const stage = await batchesInQuarantine(3, [0, 2]);
    const { selection } = await dryRun(stage, { all: true });
    expect(await refusalOf(ask(stage, 'redrive', { selection: 'unheard' }))).toMatch(/Make one with a dry run/);
    const { readSelection } = stage.ledger;
    stage.ledger.readSelection = async (...parameters) => {
      const found = await readSelection.apply(stage.ledger, parameters);
      return found && { ...found, units: found.units.slice(1) };
    };
    expect(await refusalOf(ask(stage, 'redrive', { selection }))).toMatch(/is whole/);
    expect(statesOf(stage)).toMatchObject({ '0': 'quarantined', '2': 'quarantined' });
  });

  it('made to give up brings nothing back: what failed for good was chosen by nobody to come back', async () => {
    const stage = await batchesInQuarantine(3, [0, 2]);
    for (const [made, taken] of [
      ['abandon', 'redrive'],
      ['redrive', 'abandon'],
    ] as const) {
      const { selection } = await dryRun(stage, { all: true }, made);
      const refused = await refusalOf(ask(stage, taken, { selection }));
      expect(refused).toContain(`This selection was made to ${made}, not to ${taken}.`);
    }
    expect(statesOf(stage)).toMatchObject({ '0': 'quarantined', '2': 'quarantined' });
  });

  it('does not pass the cap: last generations need their own word at the move too', async () => {
    const stage = await published(accounts(9), { redriveGenerations: '2' });
    await layDown(stage, '0');
    await layDown(stage, '1', { generation: 1 });
    const { selection } = await dryRun(stage, { all: true, beyondGenerations: true });
    expect(await ask(stage, 'redrive', { selection })).toMatchObject({ moved: 1, leftOut: { generations: 1 } });
    expect(statesOf(stage)['1']).toBe('quarantined');
    const allowed = await ask(stage, 'redrive', { selection, beyondGenerations: true });
    expect(allowed).toMatchObject({ moved: 1, leftOut: { generations: 0 } });
  });

  it('whose run was cancelled since leaves its units where they are', async () => {
    const stage = await published(accounts(9));
    await layDown(stage, '0');
    const { selection } = await dryRun(stage, { all: true });
    await ask(stage, 'cancel', { run: stage.runId });
    expect(await ask(stage, 'redrive', { selection })).toMatchObject({
      moved: 0,
      leftOut: { cancelledRun: 1 },
      left: 0,
    });
    expect(statesOf(stage)['0']).toBe('quarantined');
  });

  it('holds at most 10,000 units and says that more matched; the next one takes them', {
    timeout: 30_000,
  }, async () => {
    const stage = await published(accounts(3), {}, { ledger: { paging: { size: 5_000, emptyPages: 'none' } } });
    for (let unit = 0; unit < SELECTION_LIMIT + 7; unit += 1) await layDown(stage, String(unit), { run: 'large' });
    const ports = { ledger: stage.ledger, clock: stage.world.clock() };
    const first = await choose(ports, 'accounts', 'abandon', { kind: 'all' }, ANYTHING);
    expect([first.selection.units.length, first.truncated]).toEqual([SELECTION_LIMIT, true]);
    for (const { unit } of first.selection.units) {
      const guard = { generation: 0 };
      await stage.ledger.moveUnit({ runId: 'large', unit }, 'abandon', guard, { since: stage.world.millis });
    }
    const second = await choose(ports, 'accounts', 'abandon', { kind: 'all' }, ANYTHING);
    expect([second.selection.units.length, second.truncated]).toEqual([7, false]);
  });

  it('leaves a unit of no selection alone, even where it fails for the same reason', async () => {
    const stage = await batchesInQuarantine(4, [0, 1, 3], DENIED);
    const { moved } = await ask(stage, 'redrive', { filter: { run: stage.runId, unit: '1' } });
    expect(moved).toBe(1);
    expect(statesOf(stage)).toMatchObject({ '0': 'quarantined', '1': 'published', '3': 'quarantined' });
  });
});
