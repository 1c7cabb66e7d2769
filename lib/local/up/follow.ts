import { systemClock } from '../../aws/system.ts';
import type { RunItem } from '../../core/ledger/items.ts';
import { isFinishedRun } from '../../core/ledger/lifecycle.ts';
import { TIME_BUDGETS } from '../../core/policy/budget.ts';
import { readRunDetail } from '../../core/read/run-detail.ts';
import { standingOf } from '../../core/reconcile/batches.ts';
import type { RunDetailView } from '../../core/views.ts';
import type { Progress } from '../cdk.ts';
import { type Firing, fireSchedule, fireScheduleAndWait } from '../schedule.ts';
import { NotInTime, waitFor, waitWhileMoving } from '../wait.ts';
import { invoke, outputOf, type Pipeline } from './pipeline.ts';

/** A dispatcher makes its run within seconds; where none is made in this time, it refused or failed. */
const APPEAR_MILLIS = 30_000;
/** The reconciler resumes a lapsed dispatcher in its pass every five minutes. */
const RECONCILER_MILLIS = 5 * 60_000;
const CLOSE_DEADLINE_MILLIS = 60_000;

/**
 * Fires the schedule and waits until its run is planned and published. Where no run begins, asks the dispatcher again
 * in a way that gives its answer: it throws with the reason.
 */
export async function startRun(
  { aws, ledger }: Pipeline,
  runId: string,
  firing: Firing,
  progress: Progress,
): Promise<RunItem> {
  const before = await ledger.readRun(runId);
  // A refused run is tried again under a new epoch.
  const begun = (run: RunItem) => before?.status !== 'refused' || run.lease.epoch > before.lease.epoch;
  await fireSchedule(aws, firing);
  try {
    await waitFor(`run ${runId} to begin`, APPEAR_MILLIS, async () => {
      const run = await ledger.readRun(runId);
      return run !== undefined && begun(run) ? run : undefined;
    });
  } catch (error) {
    if (!(error instanceof NotInTime)) throw error;
    await fireScheduleAndWait(aws, firing);
  }
  return waitWhileMoving('the plan', 2 * RECONCILER_MILLIS, progress, async () => {
    const run = await ledger.readRun(runId);
    if (run === undefined) return { kind: 'at', place: 'no run' };
    if (run.status !== 'planning' && run.status !== 'publishing') return { kind: 'done', answer: run };
    const { status, checkpoint, plan, published } = run;
    const place =
      status === 'planning'
        ? `planning: ${checkpoint.nextOrdinal} batches saved`
        : `publishing: ${published?.batches ?? 0} of ${plan?.batches ?? 0} batches sent`;
    return { kind: 'at', place };
  });
}

/** Waits until no unit of a published run is unresolved and the work queue is empty. */
export async function waitForUnits({ ledger, sending }: Pipeline, run: RunItem, progress: Progress): Promise<void> {
  const batches = run.plan?.batches ?? 0;
  const { visibilityTimeoutSeconds } = TIME_BUDGETS[run.settings.batchTimeBudgetSeconds];
  const stallMillis = visibilityTimeoutSeconds * 1_000 + RECONCILER_MILLIS;
  await waitWhileMoving('the batches', stallMillis, progress, async () => {
    // The local AWS judges every item of the run for each page of its units: not while it has better things to do.
    const { work } = await sending.queue.depth();
    if (work > 0) return { kind: 'at', place: `${work} messages are in the work queue` };
    const { unresolvedUnits } = await standingOf(ledger, run);
    if (unresolvedUnits === 0) return { kind: 'done', answer: undefined };
    return { kind: 'at', place: `${unresolvedUnits} of ${batches} batches are not done` };
  });
}

/**
 * Has the deployed reconciler close a run whose units are resolved, now rather than at its next pass. Gives the run
 * as it then stands; it stays open where its proof does not hold.
 */
export async function close({ aws, ledger, outputs }: Pipeline, runId: string): Promise<RunItem> {
  const reconciler = outputOf(outputs, 'ReconcilerFunctionName');
  return waitFor(`the reconciler to judge run ${runId}`, CLOSE_DEADLINE_MILLIS, async () => {
    const { mismatched } = (await invoke(aws, reconciler, {})) as { mismatched?: number };
    const run = await ledger.readRun(runId);
    if (run === undefined) return undefined;
    return isFinishedRun(run.status) || (mismatched ?? 0) > 0 ? run : undefined;
  });
}

export async function viewOf({ ledger }: Pipeline, runId: string): Promise<RunDetailView> {
  const run = await ledger.readRun(runId);
  if (run === undefined) throw new Error(`Run ${runId} is gone from the ledger.`);
  return readRunDetail(ledger, run, systemClock.now());
}
