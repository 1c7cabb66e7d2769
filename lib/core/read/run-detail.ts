import type { EpochMillis } from '../identity/instant.ts';
import type { RunItem } from '../ledger/items.ts';
import type { Ledger } from '../ports/index.ts';
import { batchesOf } from '../reconcile/batches.ts';
import { StandingCount } from '../reconcile/closing.ts';
import { type RunDetailView, viewRun, viewTenant } from '../views.ts';
import { tenantReportsOf } from './tenant-reports.ts';

/** One run with what became of each tenant, tenants in the ledger's order. Memory grows with tenants, not with units. */
export async function readRunDetail(ledger: Ledger, run: RunItem, now: EpochMillis): Promise<RunDetailView> {
  const reports = await tenantReportsOf(ledger, run);
  const whole = new StandingCount(run);
  const byTenant = new Map(reports.map(({ tenant }) => [tenant, new StandingCount(run)]));
  for await (const batch of batchesOf(ledger, run)) {
    whole.add(batch);
    byTenant.get(batch.units[0]?.tenant ?? '')?.add(batch);
  }
  return {
    ...viewRun(run, whole.standing(), now),
    tenantReports: reports.map((report) => viewTenant(report, byTenant.get(report.tenant)?.standing(), run.status)),
  };
}
