import type { ChainView, RunDetailView, RunView, TenantView, TriggerView, WindowView } from '../../core/views.ts';
import { quoteFields } from './quote.ts';
import { reasons, sayProblem } from './reasons.ts';
import { type Column, table } from './table.ts';
import { counts, fields, orDash } from './text.ts';

/** Tenants in the text of a run; JSON has all of them. */
const TENANTS_SHOWN = 50;

const RUN_COLUMNS: readonly Column<RunView>[] = [
  { title: 'RUN', value: (run) => run.runId },
  { title: 'KIND', value: (run) => run.kind },
  { title: 'STATUS', value: (run) => run.status },
  { title: 'SCHEDULED', value: (run) => run.scheduledTime },
  { title: 'PLANNED', value: (run) => run.planned },
  { title: 'PROCESSED', value: (run) => run.processed },
  { title: 'SKIPPED', value: (run) => run.skipped },
  { title: 'REMAINING', value: (run) => run.remaining },
  { title: 'HELD', value: (run) => run.held },
  { title: 'OVER LIMIT', value: (run) => run.overLimit },
  { title: 'REMARKS', value: (run) => remarks(run) },
];

const TENANT_COLUMNS: readonly Column<TenantView>[] = [
  { title: 'TENANT', value: (row) => row.tenant },
  { title: 'DISCOVERED', value: (row) => row.discovered },
  { title: 'HELD', value: (row) => row.held },
  { title: 'PLANNED', value: (row) => row.planned },
  { title: 'OVER LIMIT', value: (row) => row.overLimit },
  { title: 'PROCESSED', value: (row) => row.processed },
  { title: 'SKIPPED', value: (row) => row.skipped },
  { title: 'REMAINING', value: (row) => row.remaining },
  { title: 'OLDEST', value: (row) => row.oldest },
  { title: 'OUTCOMES', value: (row) => counts(row.outcomes) },
];

interface ProofRow {
  readonly what: string;
  readonly chain: ChainView | null;
}

const PROOF_COLUMNS: readonly Column<ProofRow>[] = [
  { title: '', value: (row) => row.what },
  { title: 'BATCHES', value: (row) => row.chain?.batches ?? null },
  { title: 'RECORDS', value: (row) => row.chain?.records ?? null },
  { title: 'DIGEST', value: (row) => row.chain?.digest ?? null },
];

export function renderRuns(runs: readonly RunView[]): string {
  if (runs.length === 0) return '';
  const refused = runs.filter(({ refusals }) => refusals.length > 0);
  const why = refused.map(({ runId, refusals }) => fields([[runId, refusals.map(sayProblem)]]));
  return [table(RUN_COLUMNS, runs), ...why].join('\n');
}

/** In a word or two each, as a table has room for. */
function remarks({ refusals, notes, overdue }: RunView): string | null {
  const parameters = [...new Set(refusals.map(({ parameter }) => parameter))];
  const words = [
    ...(overdue ? ['overdue'] : []),
    ...(parameters.length > 0 ? [`because of ${parameters.join(', ')}`] : []),
    ...new Set(notes.map(({ note }) => note)),
  ];
  return words.length === 0 ? null : words.join('; ');
}

export function renderRunDetail(run: RunDetailView): string {
  return `${renderRun(run)}\n${renderTenants(run.tenantReports)}`;
}

export function renderTrigger({ runId, run }: TriggerView): string {
  return run === null ? `${runId}\n` : renderRun(run);
}

function renderRun(run: RunView): string {
  return [facts(run), numbers(run), proof(run), cost(run)].join('\n');
}

function facts(run: RunView): string {
  return fields([
    ['Run', run.runId],
    ['Status', run.status],
    ...reasons(run),
    ['Policy', `${run.policyId}, version ${run.policyVersion}`],
    ['Kind', `${run.kind}, mode ${run.mode}`],
    ['Scheduled', run.scheduledTime],
    ['Cutoff', `${run.cutoff} (exclusive: a record exactly at it is kept${sayMeasured(run)})`],
    ...(run.window === null ? [] : [sayWindow(run.window)]),
    ['Started by', run.startedBy],
    ['Created', run.createdAt],
    ['Closed', orDash(run.closedAt)],
    ['Deadline', run.overdue ? `${run.deadline}: OVERDUE` : run.deadline],
  ]);
}

/** What a deletion measures by is not what its policy expires by. */
export function sayMeasured({ kind }: Pick<RunView, 'kind'>): string {
  return kind === 'delete' ? '; on the time of expiry' : '';
}

export function sayWindow({ days, from }: WindowView): readonly [string, string] {
  return ['Window', `${days} days: not before ${from}`];
}

function numbers(run: RunView): string {
  const n = orDash;
  const byReason = run.unreadableByReason === null ? '' : `: ${counts(run.unreadableByReason)}`;
  const unreadable = run.unreadable === null ? 'not seen: discovery goes through an index' : `${run.unreadable}`;
  return fields([
    ...(run.examined === null ? [] : [['Examined', `${run.examined} in the state that the run looks for`] as const]),
    [
      'Discovered',
      `${n(run.discovered)} = planned ${n(run.planned)} + held ${n(run.held)} + over limit ${n(run.overLimit)}`,
    ],
    [
      'Planned',
      `${n(run.planned)} = processed ${run.processed} + skipped ${run.skipped} + remaining ${n(run.remaining)}`,
    ],
    ['Outcomes', counts(run.outcomes)],
    ['Unreadable', run.planned === null ? '-' : unreadable + (run.unreadable ? byReason : '')],
    ...(run.abandoned + run.cancelled === 0
      ? []
      : [['Given up', `records abandoned ${run.abandoned}, cancelled ${run.cancelled} (part of skipped)`] as const]),
    ['Quarantined', `units ${run.quarantinedUnits}, records ${run.quarantinedRecords}`],
    ['Oldest', orDash(run.oldest)],
  ]);
}

/** What a proof that does not hold means depends on whether the run is over. */
function verdict({ status, proof: { holds } }: RunView): string {
  if (holds) return 'holds: planned, published and accounted for are the same';
  if (status === 'reported') return 'not asked for: a report publishes nothing';
  if (status === 'refused') return 'not asked for: the run was refused and publishes nothing';
  return status === 'complete' ? 'DOES NOT HOLD: look into it' : 'does not hold yet';
}

function proof(run: RunView): string {
  const { planned, published, terminal } = run.proof;
  const rows = [
    { what: 'planned', chain: planned },
    { what: 'published', chain: published },
    { what: 'terminal', chain: terminal },
  ];
  return fields([['Proof', [verdict(run), ...table(PROOF_COLUMNS, rows).trimEnd().split('\n')]]]);
}

function cost(run: RunView): string {
  const { calls, readUnits, writeUnits, quotedWriteUnits } = run.cost;
  const quoted = quotedWriteUnits === null ? '' : ` (the plan expects ${quotedWriteUnits} on the record table)`;
  const units = [readUnits, writeUnits].map((value) => Math.round(value * 10) / 10);
  const spent = `${calls} calls, ${units[0]} read units, ${units[1]} write units${quoted}`;
  return fields([['Cost', spent], ...quoteFields(run)]);
}

function renderTenants(tenants: readonly TenantView[]): string {
  if (tenants.length === 0) return 'No tenants.\n';
  const shown = [...tenants].sort((a, b) => b.discovered - a.discovered).slice(0, TENANTS_SHOWN);
  const more = tenants.length - shown.length;
  return table(TENANT_COLUMNS, shown) + (more > 0 ? `and ${more} smaller tenants: --json has all\n` : '');
}
