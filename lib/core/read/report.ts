import { formatInstant } from '../identity/instant.ts';
import type { RunItem, TenantReport } from '../ledger/items.ts';
import type { Ledger } from '../ports/index.ts';
import { type RunView, sumOrNull, viewWindow } from '../views.ts';
import { planOf } from './plan-of.ts';
import { tenantReportsOf } from './tenant-reports.ts';

/** Counts at the freeze of a plan, in records. `discovered` = `planned` + `held` + `overLimit`. */
export interface FoundView {
  readonly discovered: number;
  readonly held: number;
  readonly planned: number;
  readonly overLimit: number;
  /** Timestamp of the oldest due record. */
  readonly oldest: string | null;
}

/**
 * What one run found, as `report --json` prints it. Nothing in it changes once the plan is frozen, but for the invoice,
 * which comes with the close.
 */
export interface ReportView
  extends Pick<
    RunView,
    | 'runId'
    | 'policyId'
    | 'policyVersion'
    | 'kind'
    | 'mode'
    | 'status'
    | 'scheduledTime'
    | 'cutoff'
    | 'window'
    | 'refusals'
    | 'notes'
    | 'quote'
    | 'invoice'
  > {
  /** Null where no plan was made: the run is being planned, or its preflight refused it. */
  readonly totals:
    | (FoundView & {
        /** In the state that the run looks for, due or not; null where discovery sees due records only. */
        readonly examined: number | null;
        /** Null where discovery goes through an index that leaves unreadable records out. */
        readonly unreadable: number | null;
        readonly tenants: number;
        /** Write units that carrying out the plan should take on the record table. */
        readonly quotedWriteUnits: number;
      })
    | null;
  readonly unreadableByReason: Readonly<Record<string, number>> | null;
  /** Of a report-only run: what an enforcing run over the same records would be refused for. */
  readonly wouldRefuse: readonly string[];
  readonly tenantReports: readonly (FoundView & { readonly tenant: string })[];
}

/** Reads what a run found. Memory grows with tenants. */
export async function readReport(ledger: Ledger, run: RunItem): Promise<ReportView> {
  const { runId, policyId, policyVersion, kind, settings, status, scheduledTime, cutoff, refusals, notes } = run;
  const reports = await tenantReportsOf(ledger, run);
  return {
    runId,
    policyId,
    policyVersion,
    kind,
    mode: settings.mode,
    status,
    scheduledTime: formatInstant(scheduledTime),
    cutoff: formatInstant(cutoff),
    window: viewWindow(run),
    refusals,
    notes,
    quote: run.quote ?? null,
    invoice: run.invoice ?? null,
    totals: viewTotals(run),
    unreadableByReason: planOf(run)?.unreadable ?? null,
    wouldRefuse: notes.flatMap(({ note, message }) => (note === 'cap_would_refuse' ? [message] : [])),
    tenantReports: reports.map((report) => ({ tenant: report.tenant, ...viewFound(report) })),
  };
}

function viewTotals(run: RunItem): ReportView['totals'] {
  const plan = planOf(run);
  if (plan === undefined) return null;
  const { records: planned, examined, unreadable, tenants, quotedWriteUnits } = plan;
  return { ...viewFound({ ...plan, planned }), examined, unreadable: sumOrNull(unreadable), tenants, quotedWriteUnits };
}

function viewFound({
  discovered,
  held,
  planned,
  overLimit,
  oldest,
}: Omit<TenantReport, 'runId' | 'tenant' | 'epoch'>): FoundView {
  return { discovered, held, planned, overLimit, oldest: oldest === null ? null : formatInstant(oldest) };
}
