import type { UnitItem } from '../ledger/items.ts';
import type { Clock } from '../ports/index.ts';
import { type AuditPorts, audit, NO_REQUEST, UNATTRIBUTED } from './audit.ts';
import { mayHaveNext } from './generations.ts';

const REASON =
  'Its message came back to the work queue with the label of a dead letter: somebody moved it in the SQS console. ' +
  'CloudTrail has StartMessageMoveTask of about this time.';

/**
 * A quarantined unit whose labelled message was moved back to the work queue by hand: audited, then planned under its
 * next generation, for the publisher to send. Nobody may pass the cap of generations in this way.
 */
export async function redriveByHand(
  ports: AuditPorts & { readonly clock: Clock },
  unit: UnitItem,
  redriveGenerations: number,
): Promise<'redriven' | 'refused'> {
  const { runId, generation } = unit;
  if (!mayHaveNext(generation, redriveGenerations)) return 'refused';
  const act = { act: 'redrive', actor: UNATTRIBUTED, reason: REASON, requestId: NO_REQUEST } as const;
  const now = ports.clock.now();
  await audit(ports, { kind: 'run', runId }, act, { units: [unit.unit] }, now);
  await ports.ledger.moveUnit(unit, 'redrive', { generation }, nextGeneration(generation, now));
  return 'redriven';
}

/** What a unit is under its next generation; `dueAt` is when the publisher may send it. */
export function nextGeneration(generation: number, now: number, dueAt: number = now) {
  return { since: now, notBefore: dueAt, generation: generation + 1, attempts: 0, bornAt: dueAt };
}
