import type { RunItem, TenantReport } from '../ledger/items.ts';
import type { Ledger } from '../ports/index.ts';
import { everyItem } from './pages.ts';
import { planOf } from './plan-of.ts';

/**
 * The reports of a run's tenants, in the ledger's order. A run that was refused and tried again may still have reports
 * of the earlier try, of tenants that are in its plan no more: whoever froze last wrote all of its own, under the
 * highest epoch.
 */
export async function tenantReportsOf(ledger: Ledger, run: RunItem): Promise<readonly TenantReport[]> {
  const tenants = planOf(run)?.tenants ?? 0;
  if (tenants === 0) return [];
  const reports: TenantReport[] = [];
  for await (const report of everyItem((cursor) => ledger.tenants(run.runId, cursor))) reports.push(report);
  const epoch = reports.reduce((highest, report) => Math.max(highest, report.epoch), 0);
  return reports.filter((report) => report.epoch === epoch);
}
