import type { EpochMillis } from '../identity/instant.ts';
import type { RunItem } from '../ledger/items.ts';
import type { Ledger } from '../ports/index.ts';
import { StandingCount } from '../reconcile/closing.ts';
import { type RunDetailView, viewRun, viewTenant } from '../views.ts';
import { everyItem } from './pages.ts';
import { tenantReportsOf } from './tenant-reports.ts';

/** One run with what became of each tenant, tenants in the ledger's order. Memory grows with tenants, not with units. */
export async function readRunDetail(ledger: Ledger, run: RunItem, now: EpochMillis): Promise<RunDetailView> {
  const reports = await tenantReportsOf(ledger, run);
  const whole = new StandingCount(run);
  const byTenant = new Map(reports.map(({ tenant }) => [tenant, new StandingCount(run)]));
  for await (const unit of everyItem((cursor) => ledger.units(run.runId, cursor))) {
    whole.add(unit);
    byTenant.get(unit.tenant)?.add(unit);
  }
  return {
    ...viewRun(run, whole.standing(), now),
    tenantReports: reports.map((report) => viewTenant(report, byTenant.get(report.tenant)?.standing().outcomes ?? {})),
  };
}
