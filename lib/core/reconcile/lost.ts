import { batchUnit } from '../identity/keys.ts';
import type { RunItem, UnitItem } from '../ledger/items.ts';
import type { Clock, Ledger } from '../ports/index.ts';

/** Passes in a row that must find both queues empty before a message counts as lost. */
export const EMPTY_PASSES = 3;

async function recover(
  ports: { readonly ledger: Ledger; readonly clock: Clock },
  run: RunItem,
  unit: UnitItem | undefined,
  ordinal: number,
): Promise<number> {
  const ref = { runId: run.runId, unit: batchUnit(ordinal) };
  const now = ports.clock.now();
  if (unit === undefined) {
    const [slice] = await ports.ledger.slices(run.runId, ordinal, ordinal + 1);
    if (slice === undefined) return 0;
    const make = { tenant: slice.tenant, records: slice.entries.length };
    const change = { since: now, notBefore: now, reason: 'message_lost' };
    const moved = await ports.ledger.moveUnit(ref, 'postpone', { generation: 0, attempts: 0, make }, change);
    return moved.kind === 'moved' ? 1 : 0;
  }
  if (unit.state !== 'published' && unit.state !== 'in_progress') return 0;
  // A unit whose attempts are spent does not run again by itself: it waits for a person.
  const spent = unit.attempts >= run.settings.maxAttempts;
  const guard = { generation: unit.generation, attempts: unit.attempts };
  const moved = spent
    ? await ports.ledger.moveUnit(ref, 'quarantine', guard, {
        since: now,
        finishedAt: now,
        reason: 'attempts_spent',
        errorClass: 'MessageLost',
      })
    : await ports.ledger.moveUnit(ref, 'postpone', guard, { since: now, notBefore: now, reason: 'message_lost' });
  return moved.kind === 'moved' ? 1 : 0;
}

/**
 * Makes every unresolved unit of a run planned and due again, because both queues were found empty for several passes.
 * The ledger can recreate any message; a message that was only slow is then a duplicate delivery. Returns how many.
 */
export async function recoverLostMessages(
  ports: { readonly ledger: Ledger; readonly clock: Clock },
  run: RunItem,
): Promise<number> {
  const batches = run.plan?.batches ?? 0;
  let recovered = 0;
  let next = 0;
  let cursor: string | undefined;
  do {
    const page = await ports.ledger.units(run.runId, cursor);
    for (const unit of page.items) {
      const ordinal = Number(unit.unit);
      for (; next < Math.min(ordinal, batches); next += 1) recovered += await recover(ports, run, undefined, next);
      if (ordinal < batches) recovered += await recover(ports, run, unit, ordinal);
      next = ordinal + 1;
    }
    cursor = page.next;
  } while (cursor !== undefined);
  for (; next < batches; next += 1) recovered += await recover(ports, run, undefined, next);
  return recovered;
}
