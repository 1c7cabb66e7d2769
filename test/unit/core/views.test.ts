import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { standingOf } from '../../../lib/core/reconcile/batches.ts';
import { StandingCount } from '../../../lib/core/reconcile/closing.ts';
import { reconcile } from '../../../lib/core/reconcile/reconcile.ts';
import { type RunView, viewRun, viewTenant, viewUnit } from '../../../lib/core/views.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import {
  account,
  accounts,
  CUTOFF,
  deploy,
  FEW_OF_MANY,
  instant,
  OLD,
  published,
  reconcilePorts,
  SCHEDULED,
  theRun,
  theUnit,
  timeLeft,
} from './stage.ts';

async function view(stage: Deployment): Promise<RunView> {
  const run = await theRun(stage);
  return viewRun(run, await standingOf(stage.ledger, run), stage.world.millis);
}

function rows() {
  const odd = [
    account('held', { hold: true }),
    account('null', { lastActivity: null }),
    account('zone', { lastActivity: 'x' }),
  ];
  return [...accounts(7), ...odd];
}

describe('view of a run', () => {
  it('before the plan is frozen says null, not zero', async () => {
    const stage = deploy(rows());
    await stage.dispatch(undefined, { looksAtDeadline: 0 });
    expect(await view(stage)).toMatchObject({
      ...{ status: 'planning', discovered: null, planned: null, held: null, overLimit: null, remaining: null },
      ...{ unreadable: null, tenants: null, oldest: null, planDigest: null, closedAt: null },
      proof: { planned: null, published: null, holds: false },
    });
  });

  it('follows the counts at every moment of the run', async () => {
    const stage = await published(rows(), {}, FEW_OF_MANY);
    stage.target.poison('a0006', { class: 'permanent', error: 'Denied' });
    stage.records.remove('a0000');
    const views = [await view(stage)];
    for (let next = await stage.receive(); next.length > 0; next = await stage.receive()) {
      for (const delivery of next) {
        await stage.consume([delivery]);
        views.push(await view(stage));
      }
    }
    await stage.reconcile();
    views.push(await view(stage));
    for (const { discovered, planned, held, overLimit, processed, skipped, remaining, proof } of views) {
      expect(discovered).toBe((planned ?? 0) + (held ?? 0) + (overLimit ?? 0));
      expect(planned).toBe(processed + skipped + (remaining ?? 0));
      expect(proof.holds).toBe(false);
    }
    expect(views[0]).toMatchObject({ processed: 0, remaining: 7 });
    expect(views.at(-1)).toMatchObject({
      ...{ status: 'complete_with_quarantine', processed: 5, skipped: 1, remaining: 1 },
      ...{ quarantinedUnits: 1, quarantinedRecords: 1, outcomes: { expired: 5, absent: 1 } },
    });
  });

  it('of a complete run says what was found, what became of it, and that the proof holds', async () => {
    const stage = await published(rows(), {}, FEW_OF_MANY);
    await settle(stage);
    const shown = await view(stage);
    expect(shown).toMatchObject({
      ...{ runId: 'accounts.v1.20260101T000000Z', policyId: 'accounts', policyVersion: 'v1', kind: 'expire' },
      ...{ mode: 'enforce', status: 'complete', startedBy: 'schedule', scheduledTime: instant(SCHEDULED) },
      ...{ cutoff: instant(CUTOFF), discovered: 8, planned: 7, held: 1, overLimit: 0, processed: 7, skipped: 0 },
      ...{ remaining: 0, unreadable: 2, unreadableByReason: { null: 1, not_canonical: 1 }, tenants: 1, oldest: OLD },
      cost: { quotedWriteUnits: 7 },
    });
    const { planned, published: confirmed, terminal, holds } = shown.proof;
    expect(holds).toBe(true);
    expect([confirmed, terminal]).toEqual([planned, planned]);
    expect(planned).toEqual({ batches: 3, records: 7, digest: shown.planDigest });
    expect(shown.closedAt).not.toBeNull();
  });

  it('P17: through an index that leaves unreadable records out, unreadable is null', async () => {
    const stage = await published(rows(), {}, { source: { through: 'index' } });
    expect(await view(stage)).toMatchObject({ unreadable: null, unreadableByReason: null, discovered: 8 });
  });

  it('is plain data, the same after a trip through JSON', async () => {
    const stage = await published(rows(), {}, FEW_OF_MANY);
    await settle(stage);
    const shown = await view(stage);
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
    const unit = viewUnit(await theUnit(stage));
    expect(JSON.parse(JSON.stringify(unit))).toEqual(unit);
  });
});

describe('view of what speaks against a run', () => {
  const CAPPED = { capRecords: '5' } as const;

  it('a refused run shows its reasons with the plan that was refused, and nothing published', async () => {
    const stage = await published(accounts(7), CAPPED);
    expect(await view(stage)).toMatchObject({
      ...{ status: 'refused', planned: 7, processed: 0, remaining: 7, closedAt: null, overdue: false },
      refusals: [{ parameter: 'CapRecords', received: '5' }],
      proof: { published: null, holds: false },
    });
  });

  it('refused by preflight when tried again, it does not show the plan of the earlier try', async () => {
    const stage = await published(accounts(7), CAPPED);
    stage.settings = { ...stage.settings, recordsPerRun: 6 };
    await stage.dispatch();
    expect(await view(stage)).toMatchObject({
      ...{ status: 'refused', discovered: null, planned: null, remaining: null, examined: null, planDigest: null },
      refusals: [{ parameter: 'RecordsPerRun' }],
      proof: { planned: null },
    });
  });

  it('a run that went on after it was mended shows no refusal any more', async () => {
    const stage = await published(accounts(7), CAPPED);
    stage.settings = { ...stage.settings, capRecords: 100 };
    await stage.dispatch();
    await settle(stage);
    expect(await view(stage)).toMatchObject({ status: 'complete', refusals: [], processed: 7 });
  });

  it('a report shows as a note what an enforcing run would be refused for', async () => {
    const stage = await published(accounts(7), { ...CAPPED, mode: 'report-only' });
    const { status, refusals, notes } = await view(stage);
    expect([status, refusals]).toEqual(['reported', []]);
    expect(notes.map(({ note }) => note)).toEqual(['first_run', 'cap_would_refuse']);
  });

  it('shows action, window, and what was examined and left over', async () => {
    const settings = { windowDays: '30', recordsPerRun: '2' };
    const recent = accounts(3, { lastActivity: instant(CUTOFF - 1) });
    const stage = await published([...recent, account('old')], settings, FEW_OF_MANY);
    expect(await view(stage)).toMatchObject({
      ...{ action: 'expire', window: { days: 30, from: instant(CUTOFF - 30 * DAY_MILLIS) } },
      ...{ examined: 1004, discovered: 3, planned: 2, overLimit: 1 },
    });
    expect(await view(await published(accounts(1)))).toMatchObject({ window: null });
  });
});

describe('the deadline of a run', () => {
  const HOUR = 3_600_000;

  it('is so many hours after its scheduled time, and is missed by a run that is not closed then', async () => {
    const stage = await published(accounts(3), { runDeadlineHours: '2' });
    stage.world.advance(2 * HOUR);
    expect(await view(stage)).toMatchObject({ deadline: instant(SCHEDULED + 2 * HOUR), overdue: false });
    stage.world.advance(1);
    expect(await view(stage)).toMatchObject({ status: 'draining', overdue: true });
    await settle(stage);
    expect(await view(stage)).toMatchObject({ status: 'complete', overdue: false });
  });

  it('missed, is said at every pass of the reconciler, and no more once the run is closed', async () => {
    const stage = await published(accounts(3), { runDeadlineHours: '2' });
    const overdue = async () => (await reconcile(reconcilePorts(stage), timeLeft())).overdue;
    expect(await overdue()).toBe(0);
    stage.world.advance(3 * HOUR);
    expect([await overdue(), await overdue()]).toEqual([1, 1]);
    const fields = { runId: stage.runId, status: 'draining', hours: 3, runDeadlineHours: 2 };
    const said = stage.log.events.filter(({ name }) => name === 'run_overdue');
    expect(said).toEqual([1, 2].map(() => ({ level: 'error', name: 'run_overdue', fields })));
    await settle(stage);
    stage.log.events.length = 0;
    expect([await overdue(), stage.log.events]).toEqual([0, []]);
  });

  it('is kept by a run that is refused or reported: nobody has work to do for it', async () => {
    const refused = await published(accounts(3), { capRecords: '1' });
    const reported = await published(accounts(3), { mode: 'report-only' });
    for (const stage of [refused, reported]) {
      stage.world.advance(1000 * HOUR);
      expect(await view(stage)).toMatchObject({ overdue: false });
      expect(await reconcile(reconcilePorts(stage), timeLeft())).toMatchObject({ overdue: 0 });
    }
  });
});

const NO_STANDING = new StandingCount({ status: 'draining' }).standing();

describe('views of parts', () => {
  it('a unit says why it waits, and where its time stands', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0001', { class: 'permanent', error: 'Denied', requestId: 'req-1' });
    await deliverAll(stage);
    expect(viewUnit(await theUnit(stage))).toMatchObject({ state: 'committed', split: [1], outcomes: { expired: 2 } });
    expect(viewUnit(await theUnit(stage, '0.1'))).toMatchObject({
      ...{ unit: '0.1', tenant: 't1', state: 'quarantined', records: 1, attempts: 1, generation: 0 },
      ...{ reason: 'permanent_failure', errorClass: 'Denied', requestId: 'req-1', notBefore: null, outcomes: {} },
    });
  });

  it('a tenant’s counts add up', () => {
    const counts = { discovered: 7, held: 1, planned: 4, overLimit: 2 };
    const report = { runId: 'r', tenant: 't', epoch: 1, ...counts, oldest: CUTOFF - 1 };
    expect(viewTenant(report, { ...NO_STANDING, outcomes: { expired: 2, held: 1 } }, 'draining')).toMatchObject({
      ...{ tenant: 't', ...counts, processed: 2, skipped: 1, remaining: 1 },
      oldest: instant(CUTOFF - 1),
    });
  });
});
