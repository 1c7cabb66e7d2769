import type { RunItem } from '../../core/ledger/items.ts';
import { isFinishedRun } from '../../core/ledger/lifecycle.ts';
import type { RunDetailView } from '../../core/views.ts';
import type { Progress } from '../cdk.ts';
import { type Item, readRecords } from '../records.ts';
import { fireScheduleAndWait } from '../schedule.ts';
import { compareEnd, compareRows, compareTotals, type Span } from './check.ts';
import { disturb } from './disturb.ts';
import { expectedRows } from './expected.ts';
import { close, startRun, viewOf, waitForUnits } from './follow.ts';
import type { RunOrder } from './order.ts';
import { outputOf, type Pipeline } from './pipeline.ts';
import { runIdAt } from './policy.ts';
import { type Case, caseOf } from './verdict.ts';

/** How a local run ended. */
export interface Ended {
  readonly run: RunDetailView;
  /** What is not as it must be, one sentence each; empty where all is well. */
  readonly differences: readonly string[];
  readonly rowsChecked: number;
  /** Of several runs: all of them, `run` being the last, and what became of each in a text. */
  readonly rollout?: { readonly runs: readonly RunDetailView[]; readonly summary: string };
  /** What was done to the run and how it bore it, in sentences. */
  readonly remarks: readonly string[];
}

/** Carries an order out on a pipeline that has the order's records as they were loaded. */
export async function runFresh(pipeline: Pipeline, order: RunOrder, progress: Progress): Promise<Ended> {
  const { kind } = order.subject;
  const from = Date.now();
  const disturbed = kind === 'example' && order.settings.mode === 'enforce';
  const { run, differences, remarks } = disturbed
    ? await runDisturbed(pipeline, order, progress)
    : { run: await runPlainly(pipeline, order, progress), differences: [], remarks: [] };
  const touched = disturbed && run.status !== 'refused';
  const cases = touched ? order.subject.cases : order.subject.cases.map(leftAlone);
  const checked = await check(pipeline, run, cases, { from, until: Date.now() }, progress);
  const totals = run.status === 'refused' ? [] : compareTotals(checked.run, cases, effectOf(run));
  return { ...checked, differences: [...differences, ...totals, ...checked.differences], remarks };
}

/** Nobody touches the record between plan and write. */
function leftAlone({ loaded, verdict }: Case): Case {
  return { loaded, left: loaded, verdict };
}

/**
 * Carries an order out on a pipeline that was left up: records that an earlier run changed must stay as they are.
 * `known` is the run of this scheduled time where there is one.
 */
export async function runAgain(
  pipeline: Pipeline,
  order: RunOrder,
  known: RunItem | undefined,
  progress: Progress,
): Promise<Ended> {
  const before: Item[] = [];
  for await (const item of readRecords(pipeline.dynamo, order.settings.recordTableName)) before.push(item);
  const finished = known !== undefined && isFinishedRun(known.status) && known.status !== 'refused';
  if (finished) return joinFinished(pipeline, order, known, before, progress);
  const cases = before.map((item) => caseOf(item, order.cutoff));
  const from = Date.now();
  const run = await runPlainly(pipeline, order, progress);
  const checked = await check(pipeline, run, cases, { from, until: Date.now() }, progress);
  // A run that went on from where it was has counts from before.
  const comparable = run.status !== 'refused' && (known === undefined || known.status === 'refused');
  const totals = comparable ? compareTotals(checked.run, cases, effectOf(run)) : [];
  return { ...checked, differences: [...totals, ...checked.differences], remarks: [] };
}

async function joinFinished(
  pipeline: Pipeline,
  order: RunOrder,
  known: RunItem,
  items: readonly Item[],
  progress: Progress,
): Promise<Ended> {
  const { runId } = known;
  const before = await viewOf(pipeline, runId);
  const cases = items.map((item): Case => ({ loaded: item, left: item, verdict: 'not_due' }));
  progress(`run ${runId} is ${known.status} already; firing the schedule all the same`);
  const answer = (await fireScheduleAndWait(pipeline.aws, firingOf(pipeline, order))) as { kind?: string };
  const now = Date.now();
  const checked = await check(pipeline, known, cases, { from: now, until: now }, progress);
  const joined = answer.kind === 'joined' ? [] : [`the dispatcher says ${answer.kind} and should say joined`];
  const changed = JSON.stringify(checked.run) === JSON.stringify(before) ? [] : [`run ${runId} was changed`];
  const remarks = ['this joined the run that was finished before, and nothing was to change'];
  if (known.settings.mode !== order.settings.mode) {
    remarks.push(
      `the run was made in mode ${known.settings.mode} and stays so; the next scheduled time may have another`,
    );
  }
  return { ...checked, differences: [...joined, ...changed, ...checked.differences], remarks };
}

async function runPlainly(pipeline: Pipeline, order: RunOrder, progress: Progress): Promise<RunItem> {
  const planned = await plan(pipeline, order, progress);
  if (planned.status !== 'draining') return planned;
  await waitForUnits(pipeline, planned, progress);
  return close(pipeline, planned.runId);
}

async function runDisturbed(
  pipeline: Pipeline,
  order: RunOrder,
  progress: Progress,
): Promise<Pick<Ended, 'differences' | 'remarks'> & { readonly run: RunItem }> {
  const disturbance = await disturb(pipeline, order.subject.cases, () => plan(pipeline, order, progress), progress);
  if (disturbance.run.status !== 'draining') return { run: disturbance.run, ...(await disturbance.aftermath()) };
  await waitForUnits(pipeline, disturbance.run, progress);
  const run = await close(pipeline, disturbance.run.runId);
  return { run, ...(await disturbance.aftermath()) };
}

async function plan(pipeline: Pipeline, order: RunOrder, progress: Progress): Promise<RunItem> {
  const runId = runIdAt(order.settings, order.scheduledTime);
  progress(`firing the schedule's target for run ${runId}`);
  const run = await startRun(pipeline, runId, firingOf(pipeline, order), progress);
  const { discovered, records, batches, held } = run.plan ?? {};
  progress(`planned: ${records} records in ${batches} batches; discovered ${discovered}, held ${held}`);
  return run;
}

function firingOf({ outputs }: Pipeline, { scheduledTime }: RunOrder) {
  return { scheduleName: outputOf(outputs, 'ScheduleName'), scheduledTime: new Date(scheduledTime) };
}

function effectOf(run: RunItem): 'carried-out' | 'none' {
  return run.settings.mode === 'enforce' && run.status !== 'refused' ? 'carried-out' : 'none';
}

async function check(
  pipeline: Pipeline,
  run: RunItem,
  cases: readonly Case[],
  span: Span,
  progress: Progress,
): Promise<Omit<Ended, 'remarks'>> {
  progress('comparing every row of the table with what must be in it');
  const expected = expectedRows(cases, run, effectOf(run));
  const rows = await compareRows(readRecords(pipeline.dynamo, run.settings.recordTableName), expected, span);
  const view = await viewOf(pipeline, run.runId);
  const end = compareEnd(view, await pipeline.sending.queue.depth());
  return { run: view, differences: [...end, ...rows], rowsChecked: expected.size };
}
