import { addCost } from '../cost/cost.ts';
import { largeDifference, priced, type Quote } from '../cost/quote.ts';
import type { RunChange, RunItem } from '../ledger/items.ts';
import type { Resumer } from '../ports/index.ts';
import { closeUnits } from '../redrive/cancel.ts';
import type { TendPorts } from '../redrive/tend.ts';
import { standingOf } from './batches.ts';
import { closingOf, type Standing, verdict } from './closing.ts';
import { EMPTY_PASSES, MESSAGE_LIFE_MILLIS, recoverLostMessages } from './lost.ts';
import { HOUR_MILLIS, isOverdue } from './overdue.ts';

export interface AdvancePorts extends TendPorts {
  readonly resumer: Resumer;
}

/** What a pass found before it looked at the runs. */
export interface Surroundings {
  readonly policy: 'open' | 'paused';
  /** `silent`: the work queue is empty, and whatever the dead-letter queue holds is accounted for. */
  readonly queues: 'silent' | 'busy';
}

/** What was done for one run, in runs and units. */
export interface Advanced {
  readonly resumed?: number;
  readonly closed?: number;
  readonly recovered?: number;
  readonly mismatched?: number;
  readonly overdue?: number;
}

/** What was under way when a run was cancelled has ended after this: the longest timeout of a function. */
const CANCELLED_SETTLES_MILLIS = 15 * 60_000;

async function recover(ports: AdvancePorts, run: RunItem, silentSince: number): Promise<Advanced> {
  const recovered = await recoverLostMessages(ports, run, silentSince);
  if (recovered > 0) ports.log.event('warn', 'messages_recovered', { runId: run.runId, units: recovered });
  return { recovered };
}

/** Looks for messages that vanished; never while paused, when nobody would take them. */
async function watchQueues(ports: AdvancePorts, run: RunItem, around: Surroundings): Promise<Advanced> {
  if (around.policy === 'paused') return {};
  const emptyPasses = around.queues === 'silent' ? run.emptyPasses + 1 : 0;
  const now = ports.clock.now();
  if (emptyPasses >= EMPTY_PASSES) {
    const advanced = await recover(ports, run, now);
    await ports.ledger.moveRun(run.runId, 'watch', undefined, { emptyPasses: 0 });
    return advanced;
  }
  if (emptyPasses !== run.emptyPasses) await ports.ledger.moveRun(run.runId, 'watch', undefined, { emptyPasses });
  const silentSince = now - MESSAGE_LIFE_MILLIS;
  return (run.publishedAt ?? now) <= silentSince ? recover(ports, run, silentSince) : {};
}

function costOf(
  { meter }: AdvancePorts,
  run: RunItem,
  standing: Standing,
): Pick<RunChange, 'cost'> & { invoice: Quote } {
  const cost = addCost(run.cost, meter.take());
  return { cost, invoice: priced(addCost(cost, standing.cost), run.published?.batches ?? 0) };
}

/** What a run cost up to now, and a note where that is far from what it was to cost. */
function invoiceOf(ports: AdvancePorts, run: RunItem, standing: Standing): RunChange {
  const change = costOf(ports, run, standing);
  const percent = run.quote === undefined ? undefined : largeDifference(run.quote, change.invoice);
  if (percent === undefined) return change;
  const quoted = Math.round(run.quote?.writeUnits ?? 0);
  const invoiced = Math.round(change.invoice.writeUnits);
  ports.log.event('warn', 'cost_off_quote', { runId: run.runId, quoted, invoiced, percent: Math.round(percent) });
  const message = `The run took ${invoiced} write units where ${quoted} were quoted.`;
  // A run that was opened again says it of its last close.
  const notes = run.notes.filter(({ note }) => note !== 'cost_off_quote');
  return { ...change, notes: [...notes, { note: 'cost_off_quote', message }] };
}

async function tryToClose(ports: AdvancePorts, run: RunItem, around: Surroundings): Promise<Advanced> {
  const standing = await standingOf(ports.ledger, run);
  const judged = verdict(run, standing, ports.clock.now());
  switch (judged.kind) {
    case 'open':
      return watchQueues(ports, run, around);
    case 'mismatch': {
      // A run that was cancelled since is no draining run any more: its units ended otherwise, and nobody need be woken.
      const now = await ports.ledger.readRun(run.runId);
      if (now?.status !== run.status) return {};
      ports.log.event('error', 'proof_mismatch', { runId: run.runId, what: judged.what });
      return { mismatched: 1 };
    }
    case 'complete':
    case 'complete-with-quarantine': {
      const edge = judged.kind === 'complete' ? 'complete' : 'completeWithQuarantine';
      const { closing } = judged;
      const moved = await ports.ledger.moveRun(run.runId, edge, undefined, {
        closing,
        ...invoiceOf(ports, run, standing),
      });
      ports.log.event('info', 'run_closed', { runId: run.runId, status: moved.run?.status ?? 'unknown' });
      return { closed: moved.kind === 'moved' ? 1 : 0 };
    }
  }
}

/**
 * A unit that a person brought back while the run was being closed is under way in a closed run, and one that was given
 * up since no longer remains: open it again, so that it closes with what is true now.
 */
async function reopenIfMoved(ports: AdvancePorts, run: RunItem): Promise<Advanced> {
  const { activeUnits, unresolvedUnits, quarantinedRecords } = await standingOf(ports.ledger, run);
  // A unit without an item is none that moved: the ledger's retention may have taken what was committed long ago.
  const settledSince = unresolvedUnits === 0 && quarantinedRecords !== run.closing?.remaining;
  if (activeUnits === 0 && !settledSince) return {};
  await ports.ledger.moveRun(run.runId, 'reopen', undefined, { emptyPasses: 0 });
  return {};
}

/** Writes the totals of a cancelled run once nothing of it can be under way, and again where what waited was given up. */
async function settleCancelled(ports: AdvancePorts, run: RunItem): Promise<Advanced> {
  const now = ports.clock.now();
  if (now - (run.cancelledAt ?? run.createdAt) < CANCELLED_SETTLES_MILLIS) return {};
  // Where the act did not come to it, or its consumer died and its message is gone, a unit would stay so for ever.
  await closeUnits(ports, run.runId, ['planned', 'published', 'in_progress']);
  const standing = await standingOf(ports.ledger, run);
  const closing = closingOf(standing, now);
  // Totals of an earlier close, before a redrive opened the run again, are not those of its end.
  const counted = run.closing !== undefined && run.closing.closedAt > (run.cancelledAt ?? 0);
  if (standing.quarantinedUnits > 0 && counted && run.closing?.remaining === closing.remaining) return {};
  const edge = standing.quarantinedUnits > 0 ? 'count' : 'settle';
  const moved = await ports.ledger.moveRun(run.runId, edge, undefined, { closing, ...costOf(ports, run, standing) });
  return { closed: moved.kind === 'moved' ? 1 : 0 };
}

/** Says so at every pass: whoever missed the first time is told again. */
function watchDeadline({ log, clock }: AdvancePorts, run: RunItem): Advanced {
  const now = clock.now();
  if (!isOverdue(run, now)) return {};
  const hours = Math.floor((now - run.scheduledTime) / HOUR_MILLIS);
  const { runDeadlineHours } = run.settings;
  log.event('error', 'run_overdue', { runId: run.runId, status: run.status, hours, runDeadlineHours });
  return { overdue: 1 };
}

async function advanceByStatus(ports: AdvancePorts, run: RunItem, around: Surroundings): Promise<Advanced> {
  switch (run.status) {
    case 'draining':
      return tryToClose(ports, run, around);
    case 'complete_with_quarantine':
      return reopenIfMoved(ports, run);
    case 'cancelled':
      return settleCancelled(ports, run);
    case 'planning':
    case 'publishing': {
      const waits = run.status === 'publishing' && around.policy === 'paused';
      if (waits || run.lease.until > ports.clock.now()) return {};
      await ports.resumer.resume(run);
      return { resumed: 1 };
    }
    default:
      return {};
  }
}

/** Takes one open run as far as it can go by itself. */
export async function advanceRun(ports: AdvancePorts, runId: string, around: Surroundings): Promise<Advanced> {
  const run = await ports.ledger.readRun(runId);
  if (run === undefined) return {};
  const overdue = watchDeadline(ports, run);
  return { ...(await advanceByStatus(ports, run, around)), ...overdue };
}
