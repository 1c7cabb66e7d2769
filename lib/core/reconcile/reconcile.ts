import { ensureCopies, hasCopy } from '../consume/copies.ts';
import { followControl, repeatedly } from '../control/intake.ts';
import { type Deadline, failureOf, type Intake, type OpenUnit } from '../ports/index.ts';
import { publishDue } from '../publish/due.ts';
import { everyItem } from '../read/pages.ts';
import { type Tended, tendDeadLetters } from '../redrive/tend.ts';
import { type AdvancePorts, advanceRun, type Surroundings } from './advance.ts';

export interface ReconcilePorts extends AdvancePorts {
  readonly intake: Intake;
}

/** What one pass did, in runs, units and messages. */
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
  /** Messages that SQS had moved to the dead-letter queue and that are now labelled. */
  readonly labelled: number;
  /** Messages of the dead-letter queue that had no further use. */
  readonly swept: number;
  /** Quarantined units whose message is no longer in the dead-letter queue; also logged as an error. */
  readonly missing: number;
}

const NOTHING: ReconcileResult = {
  openRuns: 0,
  resumed: 0,
  closed: 0,
  recovered: 0,
  published: 0,
  mismatched: 0,
  overdue: 0,
  labelled: 0,
  swept: 0,
  missing: 0,
};
const MARGIN_MILLIS = 20_000;

/** Messages of the dead-letter queue that one pass looks at. */
const LETTERS_PER_PASS = 2_000;

/** Copies that one pass makes up for. */
const COPIES_PER_PASS = 100;

/** A copy that was sent so shortly before may not be seen yet. */
const COPY_SHOWS_MILLIS = 10 * 60_000;

function add(sum: ReconcileResult, part: Partial<ReconcileResult>): ReconcileResult {
  const keys = Object.keys(sum) as (keyof ReconcileResult)[];
  return Object.fromEntries(keys.map((key) => [key, sum[key] + (part[key] ?? 0)])) as unknown as ReconcileResult;
}

/** A queue that refuses one message is no reason to leave the rest of the pass undone. */
async function makeUpForCopy(ports: ReconcilePorts, { runId, unit }: OpenUnit): Promise<void> {
  try {
    const run = await ports.ledger.readRun(runId);
    if (run !== undefined) await ensureCopies(ports, run, [unit]);
  } catch (error) {
    ports.log.event('warn', 'copy_failed', { runId, unit, errorClass: failureOf(error).error });
  }
}

/**
 * Compares the copies that should lie in the dead-letter queue with those that do. Messages expire and queues are
 * purged; the ledger keeps the units all the same, and a redrive makes their messages anew. A unit that never got its
 * copy, because whoever gave it up died before, gets it here. Returns how many are missing.
 */
async function missingLetters(ports: ReconcilePorts, tended: Tended): Promise<number> {
  const { ledger, clock, log } = ports;
  const before = clock.now() - COPY_SHOWS_MILLIS;
  let copied = 0;
  const without: OpenUnit[] = [];
  for await (const unit of everyItem((cursor) => ledger.openUnits({ state: 'quarantined' }, cursor))) {
    if (hasCopy(unit)) copied += (unit.copiedAt ?? 0) < before ? 1 : 0;
    else if (unit.since < before && without.length < COPIES_PER_PASS) without.push(unit);
  }
  for (const unit of without) await makeUpForCopy(ports, unit);
  const missing = tended.complete ? Math.max(0, copied - tended.waiting) : 0;
  if (missing > 0) log.event('error', 'dead_letters_missing', { units: missing, quarantined: copied });
  return missing;
}

interface Found {
  readonly queues: Surroundings['queues'];
  readonly part: Partial<ReconcileResult>;
}

async function tendQueues(ports: ReconcilePorts, deadline: Deadline): Promise<Found> {
  // The work queue first: what leaves it for the dead-letter queue in between is then seen there.
  const { work } = await ports.queue.depth();
  const tended = await tendDeadLetters(ports, deadline, LETTERS_PER_PASS);
  const missing = await missingLetters(ports, tended);
  return {
    queues: work === 0 && tended.complete ? 'silent' : 'busy',
    part: { labelled: tended.labelled, swept: tended.deleted, missing },
  };
}

/**
 * One pass: makes the event source mapping follow the control item, tends the dead letters, looks at the runs that are
 * not finished, and publishes what is planned and due. One run's failure does not keep the others from being looked at.
 */
export async function reconcile(ports: ReconcilePorts, deadline: Deadline): Promise<ReconcileResult> {
  const { ledger, policyId } = ports;
  // What earlier passes cost belongs to no run that this one closes.
  ports.meter.take();
  const control = await ledger.readControl(policyId);
  await followControl(ports, policyId, repeatedly(control, ports.clock.now()));
  const failures: unknown[] = [];
  const found = await tendQueues(ports, deadline).catch((error: unknown): Found => {
    failures.push(error);
    return { queues: 'busy', part: {} };
  });
  const around: Surroundings = { policy: control.pause === undefined ? 'open' : 'paused', queues: found.queues };
  let result = add(NOTHING, found.part);
  for await (const runId of everyItem((cursor) => ledger.openRuns(cursor))) {
    if (deadline.remainingMillis() < MARGIN_MILLIS) return result;
    try {
      result = add(result, { openRuns: 1, ...(await advanceRun(ports, runId, around)) });
    } catch (error) {
      failures.push(error);
    }
  }
  result = add(result, { published: await publishDue(ports, deadline) });
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} parts of the pass failed`);
  return result;
}
