import type { RunItem, UnitItem } from '../ledger/items.ts';
import type { Clock, Ledger, Queue, Signer, UnitRef } from '../ports/index.ts';
import { encodeReference, groupOf, referenceTo } from '../publish/reference.ts';

export interface CopyPorts {
  readonly ledger: Ledger;
  readonly queue: Queue;
  readonly signer: Signer;
  readonly clock: Clock;
}

/** The label that says of which generation a dead letter is. */
export const GENERATION_LABEL = 'generation';

/** True where a person finds the message of this generation in the dead-letter queue, as far as the ledger knows. */
export function hasCopy(unit: Pick<UnitItem, 'generation' | 'copiedGeneration'>): boolean {
  return unit.copiedGeneration === unit.generation;
}

/**
 * Puts the labelled message of a quarantined unit into the dead-letter queue, and then notes it. A crash between the
 * two makes a second copy, never none.
 */
export async function sendCopy(ports: Omit<CopyPorts, 'signer'>, body: string, unit: UnitItem): Promise<void> {
  const { tenant, reason = 'unknown', errorClass = 'unknown', generation } = unit;
  const labels = { reason, errorClass, [GENERATION_LABEL]: String(generation) };
  await ports.queue.sendDeadLetter(body, labels, groupOf(tenant));
  if (unit.state !== 'quarantined') return;
  const now = ports.clock.now();
  const change = { since: unit.since, copiedAt: now, copiedGeneration: generation };
  await ports.ledger.moveUnit(unit, 'copy', { generation }, change);
}

const LOAD_AT_ONCE = 10;

/** Sees to it that those of a run's units which wait for a person have their messages. */
export async function ensureCopies(ports: CopyPorts, run: RunItem, units: readonly string[]): Promise<void> {
  const refs: readonly UnitRef[] = units.map((unit) => ({ runId: run.runId, unit }));
  for (let start = 0; start < refs.length; start += LOAD_AT_ONCE) {
    for (const { unit } of await ports.ledger.load(refs.slice(start, start + LOAD_AT_ONCE))) {
      const waits = unit?.state === 'quarantined' || unit?.state === 'uncertain';
      if (!waits || hasCopy(unit)) continue;
      await sendCopy(ports, await encodeReference(referenceTo(run, unit), ports.signer), unit);
    }
  }
}
