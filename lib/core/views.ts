import { addCost, type Cost } from './cost/cost.ts';
import type { Quote } from './cost/quote.ts';
import { sameChain } from './identity/digests.ts';
import { DAY_MILLIS, type EpochMillis, formatInstant } from './identity/instant.ts';
import type { RunItem, RunNote, TenantReport, UnitItem } from './ledger/items.ts';
import { isFinishedRun } from './ledger/lifecycle.ts';
import { type OutcomeCounts, processedCount, skippedCount } from './ledger/outcomes.ts';
import type { Problem } from './policy/parse.ts';
import { planOf } from './read/plan-of.ts';
import type { Standing } from './reconcile/closing.ts';
import { deadlineOf, isOverdue } from './reconcile/overdue.ts';

/** A number of batches and records with their digest. */
export interface ChainView {
  readonly batches: number;
  readonly records: number;
  readonly digest: string;
}

/** How far back due records are looked for. */
export interface WindowView {
  readonly days: number;
  /** Inclusive: an older record is not due yet, however old. */
  readonly from: string;
}

/** One run as every `--json` prints it. Instants are ISO-8601 in UTC; counts are records unless the name says else. */
export interface RunView {
  readonly runId: string;
  readonly policyId: string;
  readonly policyVersion: string;
  /** What the run does to a record. */
  readonly kind: string;
  /** What the policy's runs do by themselves. */
  readonly action: string;
  readonly mode: string;
  readonly status: string;
  readonly scheduledTime: string;
  /** Exclusive; on the time of expiry where the run deletes. */
  readonly cutoff: string;
  /** Null where everything before the cutoff is due. */
  readonly window: WindowView | null;
  readonly startedBy: string;
  readonly createdAt: string;
  readonly closedAt: string | null;
  readonly deadline: string;
  /** True where the run is past its deadline and not closed. */
  readonly overdue: boolean;
  /** Why the run is refused; empty otherwise. */
  readonly refusals: readonly Problem[];
  readonly notes: readonly RunNote[];
  /** Records in the state that the run looks for, due or not; null also where discovery sees due records only. */
  readonly examined: number | null;
  /** Null before the plan is frozen. */
  readonly discovered: number | null;
  readonly planned: number | null;
  readonly held: number | null;
  readonly overLimit: number | null;
  readonly processed: number;
  /** `abandoned` and `cancelled` included. */
  readonly skipped: number;
  /** Records of units that a person gave up. */
  readonly abandoned: number;
  /** Records that a cancelled run left undone. */
  readonly cancelled: number;
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
  /** What the run was to cost in all; null before the plan is frozen. */
  readonly quote: Quote | null;
  /** What it did cost; null before it is closed. */
  readonly invoice: Quote | null;
}

function chainView(chain: ChainView | undefined): ChainView | null {
  if (chain === undefined) return null;
  const { batches, records, digest } = chain;
  return { batches, records, digest };
}

function instantOrNull(millis: number | null | undefined): string | null {
  return millis === null || millis === undefined ? null : formatInstant(millis);
}

/** Where a window is set, its length and its first instant. */
export function viewWindow({ cutoff, settings }: Pick<RunItem, 'cutoff' | 'settings'>): WindowView | null {
  const { windowDays } = settings;
  return windowDays === null ? null : { days: windowDays, from: formatInstant(cutoff - windowDays * DAY_MILLIS) };
}

/** Null where there is no count. */
export function sumOrNull(counts: Readonly<Partial<Record<string, number>>> | null): number | null {
  return counts === null ? null : Object.values(counts).reduce((sum: number, count) => sum + (count ?? 0), 0);
}

/** The view of a run and where it stands; `now` decides whether it is overdue. */
export function viewRun(run: RunItem, standing: Standing, now: EpochMillis): RunView {
  const { published, closing } = run;
  const plan = planOf(run);
  const unreadable = plan?.unreadable ?? null;
  const holds =
    plan !== undefined && published !== undefined && sameChain(plan, published) && sameChain(plan, standing.terminal);
  return {
    runId: run.runId,
    policyId: run.policyId,
    policyVersion: run.policyVersion,
    kind: run.kind,
    action: run.settings.action,
    mode: run.settings.mode,
    status: run.status,
    scheduledTime: formatInstant(run.scheduledTime),
    cutoff: formatInstant(run.cutoff),
    window: viewWindow(run),
    startedBy: run.startedBy,
    createdAt: formatInstant(run.createdAt),
    // A run that a person reopened still has the totals of its earlier close.
    closedAt: isFinishedRun(run.status) ? instantOrNull(closing?.closedAt) : null,
    deadline: formatInstant(deadlineOf(run)),
    overdue: isOverdue(run, now),
    refusals: run.refusals,
    notes: run.notes,
    examined: plan?.examined ?? null,
    discovered: plan?.discovered ?? null,
    planned: plan?.records ?? null,
    held: plan?.held ?? null,
    overLimit: plan?.overLimit ?? null,
    processed: standing.processed,
    skipped: standing.skipped,
    abandoned: standing.abandoned,
    cancelled: standing.cancelled,
    remaining: plan === undefined ? null : standing.remaining,
    outcomes: standing.outcomes,
    unreadable: sumOrNull(unreadable),
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
    quote: run.quote ?? null,
    invoice: run.invoice ?? null,
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
  readonly failureClass: string | null;
  readonly requestId: string | null;
  /** Positions of the records that became units of their own. */
  readonly split: readonly number[];
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
    failureClass: unit.failureClass ?? null,
    split: unit.split ?? [],
    requestId: unit.requestId ?? null,
    outcomes: unit.counts ?? {},
  };
}

/**
 * One tenant's plan and what became of it, in records. `discovered` = `planned` + `held` + `overLimit`, and `planned` =
 * `processed` + `skipped` + `remaining`.
 */
export interface TenantView {
  readonly tenant: string;
  readonly discovered: number;
  readonly held: number;
  readonly planned: number;
  readonly overLimit: number;
  readonly processed: number;
  readonly skipped: number;
  readonly remaining: number;
  readonly oldest: string | null;
  readonly outcomes: OutcomeCounts;
}

/** `standing` is of the tenant's own batches; `status` is the run's. */
export function viewTenant(
  report: TenantReport,
  standing: Standing | undefined,
  status: RunItem['status'],
): TenantView {
  const { tenant, discovered, held, planned, overLimit } = report;
  const { outcomes = {}, abandoned = 0, quarantinedRecords = 0 } = standing ?? {};
  const processed = processedCount(outcomes);
  const done = skippedCount(outcomes) + abandoned;
  const left = planned - processed - done;
  const cancelled = status === 'cancelled' ? left - quarantinedRecords : 0;
  return {
    tenant,
    discovered,
    held,
    planned,
    overLimit,
    processed,
    skipped: done + cancelled,
    remaining: left - cancelled,
    oldest: instantOrNull(report.oldest),
    outcomes,
  };
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

/** What a preflight alone found. Nothing was started. */
export interface PreflightView {
  readonly runId: string;
  readonly scheduledTime: string;
  /** Empty where a run of this scheduled time would go on to discovery. */
  readonly problems: readonly Problem[];
}
