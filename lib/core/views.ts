import { sameChain } from './identity/digests.ts';
import { formatInstant } from './identity/instant.ts';
import { addCost, type Cost } from './ledger/cost.ts';
import type { RunItem, TenantReport, UnitItem } from './ledger/items.ts';
import { isFinishedRun } from './ledger/lifecycle.ts';
import { type OutcomeCounts, processedCount, skippedCount } from './ledger/outcomes.ts';
import type { Standing } from './reconcile/closing.ts';

/** A number of batches and records with their digest. */
export interface ChainView {
  readonly batches: number;
  readonly records: number;
  readonly digest: string;
}

/** One run as every `--json` prints it. Instants are ISO-8601 in UTC; counts are records unless the name says else. */
export interface RunView {
  readonly runId: string;
  readonly policyId: string;
  readonly policyVersion: string;
  readonly kind: string;
  readonly mode: string;
  readonly status: string;
  readonly scheduledTime: string;
  readonly cutoff: string;
  readonly startedBy: string;
  readonly createdAt: string;
  readonly closedAt: string | null;
  /** Null before the plan is frozen. */
  readonly discovered: number | null;
  readonly planned: number | null;
  readonly held: number | null;
  readonly overLimit: number | null;
  readonly processed: number;
  readonly skipped: number;
  readonly remaining: number | null;
  readonly outcomes: OutcomeCounts;
  readonly unreadable: number | null;
  readonly unreadableByReason: Readonly<Record<string, number>> | null;
  readonly tenants: number | null;
  readonly oldest: string | null;
  readonly quarantinedUnits: number;
  readonly quarantinedRecords: number;
  readonly planDigest: string | null;
  readonly proof: {
    readonly planned: ChainView | null;
    readonly published: ChainView | null;
    readonly terminal: ChainView;
    /** True only where the three agree in batches, records and digest. */
    readonly holds: boolean;
  };
  readonly cost: Cost & { readonly quotedWriteUnits: number | null };
}

function chainView(chain: ChainView | undefined): ChainView | null {
  if (chain === undefined) return null;
  const { batches, records, digest } = chain;
  return { batches, records, digest };
}

function instantOrNull(millis: number | null | undefined): string | null {
  return millis === null || millis === undefined ? null : formatInstant(millis);
}

/** The view of a run and where it stands. */
export function viewRun(run: RunItem, standing: Standing): RunView {
  const { plan, published, closing } = run;
  const unreadable = plan?.unreadable ?? null;
  const holds =
    plan !== undefined && published !== undefined && sameChain(plan, published) && sameChain(plan, standing.terminal);
  return {
    runId: run.runId,
    policyId: run.policyId,
    policyVersion: run.policyVersion,
    kind: run.kind,
    mode: run.settings.mode,
    status: run.status,
    scheduledTime: formatInstant(run.scheduledTime),
    cutoff: formatInstant(run.cutoff),
    startedBy: run.startedBy,
    createdAt: formatInstant(run.createdAt),
    // A run that a person reopened still has the totals of its earlier close.
    closedAt: isFinishedRun(run.status) ? instantOrNull(closing?.closedAt) : null,
    discovered: plan?.discovered ?? null,
    planned: plan?.records ?? null,
    held: plan?.held ?? null,
    overLimit: plan?.overLimit ?? null,
    processed: standing.processed,
    skipped: standing.skipped,
    remaining: plan === undefined ? null : standing.remaining,
    outcomes: standing.outcomes,
    unreadable: unreadable === null ? null : Object.values(unreadable).reduce((sum, count) => sum + count, 0),
    unreadableByReason: unreadable,
    tenants: plan?.tenants ?? null,
    oldest: instantOrNull(plan?.oldest),
    quarantinedUnits: standing.quarantinedUnits,
    quarantinedRecords: standing.quarantinedRecords,
    planDigest: plan?.digest ?? null,
    proof: {
      planned: chainView(plan),
      published: chainView(published),
      terminal: chainView(standing.terminal) ?? standing.terminal,
      holds,
    },
    cost: { ...addCost(run.cost, standing.cost), quotedWriteUnits: plan?.quotedWriteUnits ?? null },
  };
}

/** One unit as every `--json` prints it. */
export interface UnitView {
  readonly runId: string;
  readonly unit: string;
  readonly tenant: string;
  readonly state: string;
  readonly records: number;
  readonly attempts: number;
  readonly generation: number;
  /** When it last entered its state. */
  readonly since: string;
  /** Of the last attempt. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly notBefore: string | null;
  readonly reason: string | null;
  readonly errorClass: string | null;
  readonly requestId: string | null;
  readonly outcomes: OutcomeCounts;
}

export function viewUnit(unit: UnitItem): UnitView {
  return {
    runId: unit.runId,
    unit: unit.unit,
    tenant: unit.tenant,
    state: unit.state,
    records: unit.records,
    attempts: unit.attempts,
    generation: unit.generation,
    since: formatInstant(unit.since),
    startedAt: instantOrNull(unit.startedAt),
    finishedAt: instantOrNull(unit.finishedAt),
    notBefore: instantOrNull(unit.notBefore),
    reason: unit.reason ?? null,
    errorClass: unit.errorClass ?? null,
    requestId: unit.requestId ?? null,
    outcomes: unit.counts ?? {},
  };
}

/** One tenant's plan and what became of it, in records. `planned` = `processed` + `skipped` + `remaining`. */
export interface TenantView {
  readonly tenant: string;
  readonly discovered: number;
  readonly held: number;
  readonly planned: number;
  readonly processed: number;
  readonly skipped: number;
  readonly remaining: number;
  readonly oldest: string | null;
  readonly outcomes: OutcomeCounts;
}

export function viewTenant(report: TenantReport, outcomes: OutcomeCounts): TenantView {
  const { tenant, discovered, held, planned, oldest } = report;
  const processed = processedCount(outcomes);
  const skipped = skippedCount(outcomes);
  const remaining = planned - processed - skipped;
  return { tenant, discovered, held, planned, processed, skipped, remaining, oldest: instantOrNull(oldest), outcomes };
}

/** One run with each of its tenants. */
export interface RunDetailView extends RunView {
  readonly tenantReports: readonly TenantView[];
}

/** What a person's trigger started or joined. */
export interface TriggerView {
  readonly runId: string;
  readonly scheduledTime: string;
  readonly startedBy: string;
  /** Null where nobody waited for it. */
  readonly run: RunView | null;
}
