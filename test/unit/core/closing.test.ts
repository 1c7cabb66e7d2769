import { describe, expect, it } from 'vitest';
import type { RunItem, UnitItem } from '../../../lib/core/ledger/items.ts';
import type { Ledger } from '../../../lib/core/ports/index.ts';
import { standingOf } from '../../../lib/core/reconcile/batches.ts';
import { verdict } from '../../../lib/core/reconcile/closing.ts';
import { reconcile } from '../../../lib/core/reconcile/reconcile.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll } from '../../helpers/settle.ts';
import { accounts, altered, published, reconcilePorts, theRun, timeLeft } from './stage.ts';

/** Three batches, all worked off, the run not yet closed. */
async function drained(): Promise<Deployment> {
  const stage = await published(accounts(7));
  await deliverAll(stage);
  expect((await theRun(stage)).status).toBe('draining');
  return stage;
}

/** A reconciler whose reads of units see each through `change`; undefined leaves it out. */
async function reconcileOver(stage: Deployment, change: (unit: UnitItem) => UnitItem | undefined) {
  const units: Ledger['units'] = async (runId, cursor) => {
    const page = await stage.ledger.units(runId, cursor);
    return { ...page, items: page.items.flatMap((unit) => change(unit) ?? []) };
  };
  const ledger = altered<Ledger>(stage.ledger, { units });
  return reconcile(reconcilePorts(stage, { ledger }), timeLeft());
}

describe('closing a run', () => {
  it('closes once batches, records and digest agree three ways', async () => {
    const stage = await drained();
    expect(await reconcileOver(stage, (unit) => unit)).toMatchObject({ closed: 1, mismatched: 0 });
    const { status, plan, closing } = await theRun(stage);
    expect(status).toBe('complete');
    expect(closing).toEqual({
      ...{ batches: 3, records: 7, digest: plan?.digest, processed: 7, skipped: 0, remaining: 0 },
      ...{ abandoned: 0, cancelled: 0 },
      ...{ outcomes: { expired: 7 }, closedAt: stage.world.millis },
    });
    expect(stage.log.events.at(-1)).toMatchObject({ level: 'info', name: 'run_closed' });
  });

  const WRONG: Record<string, (unit: UnitItem) => UnitItem> = {
    'another digest of its keys': (unit) => ({ ...unit, keysDigest: 'other' }),
    'no digest of its keys': ({ keysDigest: _left, ...unit }) => unit,
    'one record too few': (unit) => ({ ...unit, counts: { expired: 2 } }),
    'one record too many': (unit) => ({ ...unit, counts: { expired: 3, held: 1 } }),
    'no counts': ({ counts: _left, ...unit }) => unit,
  };

  it.each(Object.keys(WRONG))('never closes over a batch with %s, and says so at every pass', async (what) => {
    const stage = await drained();
    const change = (unit: UnitItem) => (unit.unit === '1' ? (WRONG[what]?.(unit) ?? unit) : unit);
    for (let pass = 1; pass <= 3; pass += 1) {
      expect(await reconcileOver(stage, change)).toMatchObject({ closed: 0, mismatched: 1 });
    }
    expect((await theRun(stage)).status).toBe('draining');
    const errors = stage.log.events.filter(({ name }) => name === 'proof_mismatch');
    expect(errors).toHaveLength(3);
    expect(errors[0]).toMatchObject({ level: 'error', fields: { runId: stage.runId, what: 'terminal' } });
  });

  it('never closes over a batch whose item is gone, though others were counted twice as much', async () => {
    const stage = await drained();
    const gone = (unit: UnitItem) => (unit.unit === '1' ? undefined : unit);
    expect(await reconcileOver(stage, gone)).toMatchObject({ closed: 0, mismatched: 0 });
    expect((await theRun(stage)).status).toBe('draining');
  });

  it('never closes where two batches changed places', async () => {
    const stage = await drained();
    const swapped: Record<string, UnitItem> = {};
    await reconcileOver(stage, (unit) => {
      swapped[unit.unit] = unit;
      return undefined;
    });
    const [first, second] = [swapped['0'], swapped['1']];
    if (first === undefined || second === undefined) throw new Error('two units');
    const change = (unit: UnitItem) => {
      if (unit.unit === '0') return { ...second, unit: '0' };
      return unit.unit === '1' ? { ...first, unit: '1' } : unit;
    };
    expect(await reconcileOver(stage, change)).toMatchObject({ closed: 0, mismatched: 1 });
  });

  it('never closes where what was published is not what was planned', async () => {
    const stage = await drained();
    const run = await theRun(stage);
    const standing = await standingOf(stage.ledger, run);
    expect(verdict(run, standing, 0).kind).toBe('complete');
    const { published: confirmed } = run;
    if (confirmed === undefined) throw new Error('not published');
    for (const change of [{ batches: 2 }, { records: 6 }, { digest: 'other' }]) {
      const other: RunItem = { ...run, published: { ...confirmed, ...change } };
      expect(verdict(other, standing, 0)).toEqual({ kind: 'mismatch', what: 'published' });
    }
  });

  it('stays open while a batch is unresolved, whatever the rest', async () => {
    const stage = await drained();
    for (const state of ['planned', 'published', 'in_progress'] as const) {
      const change = (unit: UnitItem) => (unit.unit === '2' ? { ...unit, state } : unit);
      expect(await reconcileOver(stage, change)).toMatchObject({ closed: 0, mismatched: 0 });
    }
    expect((await theRun(stage)).status).toBe('draining');
  });
});
