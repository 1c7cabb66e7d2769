import { describe, expect, it } from 'vitest';
import { standingOf } from '../../../lib/core/reconcile/reconcile.ts';
import { type RunView, viewRun, viewTenant, viewUnit } from '../../../lib/core/views.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import { account, accounts, CUTOFF, deploy, instant, OLD, published, SCHEDULED, theRun, theUnit } from './stage.ts';

async function view(stage: Deployment): Promise<RunView> {
  const run = await theRun(stage);
  return viewRun(run, await standingOf(stage.ledger, run));
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
    const stage = await published(rows());
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
    const stage = await published(rows());
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
    const stage = await published(rows());
    await settle(stage);
    const shown = await view(stage);
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
    const unit = viewUnit(await theUnit(stage));
    expect(JSON.parse(JSON.stringify(unit))).toEqual(unit);
  });
});

describe('views of parts', () => {
  it('a unit says why it waits, and where its time stands', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0001', { class: 'permanent', error: 'Denied', requestId: 'req-1' });
    await deliverAll(stage);
    expect(viewUnit(await theUnit(stage))).toMatchObject({
      ...{ unit: '0', tenant: 't1', state: 'quarantined', records: 3, attempts: 1, generation: 0 },
      ...{ reason: 'permanent_failure', errorClass: 'Denied', requestId: 'req-1', notBefore: null, outcomes: {} },
    });
  });

  it('a tenant’s counts add up', () => {
    const report = { runId: 'r', tenant: 't', epoch: 1, discovered: 5, held: 1, planned: 4, oldest: CUTOFF - 1 };
    expect(viewTenant(report, { expired: 2, held: 1 })).toMatchObject({
      ...{ tenant: 't', discovered: 5, held: 1, planned: 4, processed: 2, skipped: 1, remaining: 1 },
      oldest: instant(CUTOFF - 1),
    });
  });
});
