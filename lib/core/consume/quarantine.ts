import { digestOf } from '../identity/encode.ts';
import type { Clock, Failure, Ledger, Meter, Queue } from '../ports/index.ts';
import { groupOf } from '../publish/reference.ts';
import type { Decision } from './delivery.ts';
import type { Work } from './judge.ts';

export interface QuarantinePorts {
  readonly ledger: Ledger;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly meter: Meter;
}

/**
 * Gives up on a unit: the state in the ledger first, then the labelled copy in the dead-letter queue, then the
 * acknowledgement. A crash in between brings the message back, and the missing steps are done then.
 */
export async function quarantineUnit(
  ports: QuarantinePorts,
  work: Work,
  body: string,
  reason: string,
  failure: Failure,
): Promise<Decision> {
  const { reference, slice } = work;
  const now = ports.clock.now();
  const moved = await ports.ledger.moveUnit(
    reference,
    'quarantine',
    { generation: reference.generation, make: { tenant: slice.tenant, records: slice.entries.length } },
    {
      since: now,
      finishedAt: now,
      reason,
      errorClass: failure.error,
      cost: ports.meter.take(),
      ...(failure.requestId === undefined ? {} : { requestId: failure.requestId }),
    },
  );
  const unit = moved.unit;
  // Somebody else settled it meanwhile; whoever did has seen to the message of that state.
  if (moved.kind === 'refused' && unit?.state !== 'quarantined') return { kind: 'acknowledge', why: 'stale' };
  await sendCopy(ports, body, slice.tenant, {
    reason: unit?.reason ?? reason,
    errorClass: unit?.errorClass ?? failure.error,
    generation: String(reference.generation),
  });
  return { kind: 'acknowledge', why: 'quarantined' };
}

/** Sees to it that a person finds the message of a quarantined unit in the dead-letter queue. */
export async function sendCopy(
  ports: Pick<QuarantinePorts, 'queue'>,
  body: string,
  tenant: string,
  labels: { readonly reason: string; readonly errorClass: string; readonly generation: string },
): Promise<void> {
  await ports.queue.sendDeadLetter(body, labels, groupOf(tenant));
}

/** Quarantines a body that cannot be trusted, under the digest of what was received. It is never stored or logged. */
export async function quarantineMessage(
  ports: QuarantinePorts,
  policyId: string,
  body: string,
  reason: string,
): Promise<Decision> {
  const digest = digestOf(['message', body]);
  await ports.ledger.recordBadMessage({ policyId, digest, reason, at: ports.clock.now() });
  await ports.queue.sendDeadLetter(body, { reason, digest }, groupOf(digest));
  return { kind: 'acknowledge', why: 'bad_message' };
}
