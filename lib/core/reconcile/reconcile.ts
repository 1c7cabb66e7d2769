import type { RunItem } from '../ledger/items.ts';
import type { Deadline, Ledger, Log, QueueDepth, Resumer } from '../ports/index.ts';
import { type PublishPorts, publishDue } from '../publish/publish.ts';
import { type Standing, StandingCount, verdict } from './closing.ts';
import { EMPTY_PASSES, recoverLostMessages } from './lost.ts';
import { HOUR_MILLIS, isOverdue } from './overdue.ts';

export interface ReconcilePorts extends PublishPorts {
  readonly resumer: Resumer;
  readonly log: Log;
}

/** What one pass did, in runs and units. */
export interface ReconcileResult {
  readonly openRuns: number;
  readonly resumed: number;
  readonly closed: number;
  readonly recovered: number;
  readonly published: number;
  /** Runs whose proof does not hold; each is also logged as an error. */
  readonly mismatched: number;
  /** Runs past their deadline and not closed when the pass began with them; each is also logged as an error. */
  readonly overdue: number;
}

const NOTHING: ReconcileResult = {
  openRuns: 0,
  resumed: 0,
  closed: 0,
  recovered: 0,
  published: 0,
  mismatched: 0,
  overdue: 0,
};
const MARGIN_MILLIS = 20_000;

/** Where a run stands, from its batch items. */
export async function standingOf(ledger: Ledger, run: RunItem): Promise<Standing> {
  const count = new StandingCount(run);
  let cursor: string | undefined;
  do {
    const page = await ledger.units(run.runId, cursor);
    for (const unit of page.items) count.add(unit);
    cursor = page.next;
  } while (cursor !== undefined);
  return count.standing();
}

async function watchQueues(ports: ReconcilePorts, run: RunItem, depth: QueueDepth): Promise<number> {
  // While dead letters wait, a missing message may be among them; bringing it back is a person's act.
  const emptyPasses = depth.work === 0 && depth.deadLetter === 0 ? run.emptyPasses + 1 : 0;
  if (emptyPasses === run.emptyPasses) return 0;
  if (emptyPasses < EMPTY_PASSES) {
    await ports.ledger.moveRun(run.runId, 'watch', undefined, { emptyPasses });
    return 0;
  }
  const recovered = await recoverLostMessages(ports, run);
  await ports.ledger.moveRun(run.runId, 'watch', undefined, { emptyPasses: 0 });
  ports.log.event('warn', 'messages_recovered', { runId: run.runId, units: recovered });
  return recovered;
}

async function tryToClose(
  ports: ReconcilePorts,
  run: RunItem,
  depth: () => Promise<QueueDepth>,
): Promise<Partial<ReconcileResult>> {
  const judged = verdict(run, await standingOf(ports.ledger, run), ports.clock.now());
  switch (judged.kind) {
    case 'open':
      return { recovered: await watchQueues(ports, run, await depth()) };
    case 'mismatch':
      ports.log.event('error', 'proof_mismatch', { runId: run.runId, what: judged.what });
      return { mismatched: 1 };
    case 'complete':
    case 'complete-with-quarantine': {
      const edge = judged.kind === 'complete' ? 'complete' : 'completeWithQuarantine';
      const moved = await ports.ledger.moveRun(run.runId, edge, undefined, { closing: judged.closing });
      ports.log.event('info', 'run_closed', { runId: run.runId, status: moved.run?.status ?? 'unknown' });
      return { closed: moved.kind === 'moved' ? 1 : 0 };
    }
  }
}

/** A unit that a person brought back while the run was being closed is under way in a closed run: open it again. */
async function reopenIfMoved(ports: ReconcilePorts, run: RunItem): Promise<Partial<ReconcileResult>> {
  const { activeUnits, unresolvedUnits, quarantinedUnits } = await standingOf(ports.ledger, run);
  // A unit without an item is none that moved: the ledger's retention may have taken what was committed long ago.
  const finished = unresolvedUnits === 0 && quarantinedUnits === 0;
  if (activeUnits === 0 && !finished) return {};
  await ports.ledger.moveRun(run.runId, 'reopen', undefined, { emptyPasses: 0 });
  return {};
}

/** Says so at every pass: whoever missed the first time is told again. */
function watchDeadline({ log, clock }: ReconcilePorts, run: RunItem): Partial<ReconcileResult> {
  const now = clock.now();
  if (!isOverdue(run, now)) return {};
  const hours = Math.floor((now - run.scheduledTime) / HOUR_MILLIS);
  const { runDeadlineHours } = run.settings;
  log.event('error', 'run_overdue', { runId: run.runId, status: run.status, hours, runDeadlineHours });
  return { overdue: 1 };
}

async function advanceRun(
  ports: ReconcilePorts,
  run: RunItem,
  depth: () => Promise<QueueDepth>,
): Promise<Partial<ReconcileResult>> {
  if (run.status === 'draining') return tryToClose(ports, run, depth);
  if (run.status === 'complete_with_quarantine') return reopenIfMoved(ports, run);
  const lapsed = run.lease.until <= ports.clock.now();
  if ((run.status === 'planning' || run.status === 'publishing') && lapsed) {
    await ports.resumer.resume(run.scheduledTime);
    return { resumed: 1 };
  }
  return {};
}

async function reconcileRun(
  ports: ReconcilePorts,
  runId: string,
  depth: () => Promise<QueueDepth>,
): Promise<Partial<ReconcileResult>> {
  const run = await ports.ledger.readRun(runId);
  if (run === undefined) return {};
  const overdue = watchDeadline(ports, run);
  return { ...(await advanceRun(ports, run, depth)), ...overdue };
}

function add(sum: ReconcileResult, part: Partial<ReconcileResult>): ReconcileResult {
  const keys = Object.keys(sum) as (keyof ReconcileResult)[];
  return Object.fromEntries(keys.map((key) => [key, sum[key] + (part[key] ?? 0)])) as unknown as ReconcileResult;
}

/**
 * One pass over the runs that are not finished: resumes what lapsed, publishes what is planned and due, recreates
 * what vanished, closes what is done. One run's failure does not keep the others from being looked at.
 */
export async function reconcile(ports: ReconcilePorts, deadline: Deadline): Promise<ReconcileResult> {
  let result = NOTHING;
  let depth: Promise<QueueDepth> | undefined;
  const readDepth = () => {
    depth ??= ports.queue.depth();
    return depth;
  };
  const failures: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await ports.ledger.openRuns(cursor);
    for (const runId of page.items) {
      if (deadline.remainingMillis() < MARGIN_MILLIS) return result;
      try {
        result = add(result, { openRuns: 1, ...(await reconcileRun(ports, runId, readDepth)) });
      } catch (error) {
        failures.push(error);
      }
    }
    cursor = page.next;
  } while (cursor !== undefined);
  result = add(result, { published: await publishDue(ports, deadline) });
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} runs could not be reconciled`);
  return result;
}
