import { sendCopy } from '../consume/copies.ts';
import type { EpochMillis } from '../identity/instant.ts';
import { batchUnit, ordinalOf, positionOf } from '../identity/keys.ts';
import type { RunItem, UnitItem } from '../ledger/items.ts';
import { WORK_QUEUE_RETENTION_DAYS } from '../policy/budget.ts';
import type { PublishPorts } from '../publish/publish.ts';
import { encodeReference, referenceTo } from '../publish/reference.ts';
import { everyItem } from '../read/pages.ts';

/** Passes in a row that must find no message of a run anywhere before what is missing counts as lost. */
export const EMPTY_PASSES = 3;

/** Longer than a message can wait in the work queue, in milliseconds: a day more than its retention. */
export const MESSAGE_LIFE_MILLIS = (WORK_QUEUE_RETENTION_DAYS + 1) * 86_400_000;

async function recoverAbsent(ports: PublishPorts, run: RunItem, ordinal: number): Promise<number> {
  const now = ports.clock.now();
  const [slice] = await ports.ledger.slices(run.runId, ordinal, ordinal + 1);
  if (slice === undefined) return 0;
  const make = { tenant: slice.tenant, records: slice.entries.length };
  const change = { since: now, notBefore: now, reason: 'message_lost' };
  const ref = { runId: run.runId, unit: batchUnit(ordinal) };
  const moved = await ports.ledger.moveUnit(ref, 'postpone', { generation: 0, attempts: 0, make }, change);
  return moved.kind === 'moved' ? 1 : 0;
}

/** A unit whose attempts are spent does not run again by itself: it waits for a person. */
async function giveUp(ports: PublishPorts, run: RunItem, unit: UnitItem): Promise<number> {
  const now = ports.clock.now();
  const { generation, attempts, errorClass = 'MessageLost', failureClass = 'transient' } = unit;
  const change = { since: now, finishedAt: now, reason: 'attempts_spent', errorClass, failureClass };
  const moved = await ports.ledger.moveUnit(unit, 'quarantine', { generation, attempts }, change);
  if (moved.kind !== 'moved') return 0;
  const { runId, policyVersion } = run;
  const why = { attempt: attempts, reason: 'attempts_spent', errorClass, failureClass };
  ports.log.event('warn', 'unit_quarantined', { runId, policyVersion, unit: unit.unit, generation, ...why });
  await sendCopy(ports, await encodeReference(referenceTo(run, moved.unit), ports.signer), moved.unit);
  return 1;
}

async function recover(ports: PublishPorts, run: RunItem, unit: UnitItem): Promise<number> {
  if (unit.state !== 'published' && unit.state !== 'in_progress') return 0;
  if (unit.attempts >= run.settings.maxAttempts) return giveUp(ports, run, unit);
  const now = ports.clock.now();
  const { generation, attempts } = unit;
  const change = { since: now, notBefore: now, reason: 'message_lost' };
  const moved = await ports.ledger.moveUnit(unit, 'postpone', { generation, attempts }, change);
  return moved.kind === 'moved' ? 1 : 0;
}

/**
 * Makes every unresolved unit of a run that nobody has touched since `silentSince` planned and due again. The ledger can
 * recreate any message; a message that was only slow is then a duplicate delivery. Returns how many.
 */
export async function recoverLostMessages(
  ports: PublishPorts,
  run: RunItem,
  silentSince: EpochMillis,
): Promise<number> {
  const batches = run.plan?.batches ?? 0;
  const absentAreLost = (run.publishedAt ?? silentSince) <= silentSince;
  let recovered = 0;
  let next = 0;
  const recoverUpTo = async (ordinal: number) => {
    for (; next < Math.min(ordinal, batches); next += 1) {
      if (absentAreLost) recovered += await recoverAbsent(ports, run, next);
    }
  };
  for await (const unit of everyItem((cursor) => ports.ledger.units(run.runId, cursor))) {
    const ordinal = ordinalOf(unit.unit);
    if (positionOf(unit.unit) === undefined) {
      await recoverUpTo(ordinal);
      next = ordinal + 1;
    }
    if (ordinal < batches && unit.since <= silentSince) recovered += await recover(ports, run, unit);
  }
  await recoverUpTo(batches);
  return recovered;
}
