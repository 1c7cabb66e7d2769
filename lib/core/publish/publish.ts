import { addCost } from '../cost/cost.ts';
import { EMPTY_CHAIN, extendChain } from '../identity/digests.ts';
import { batchUnit } from '../identity/keys.ts';
import type { RunItem } from '../ledger/items.ts';
import { LEASE_MILLIS } from '../plan/lease.ts';
import type { Deadline, Ledger, Log, Meter, UnitGuard } from '../ports/index.ts';
import { referenceTo } from './reference.ts';
import { type SendPorts, sendReferences, type Unconfirmed } from './send.ts';

export interface PublishPorts extends SendPorts {
  readonly ledger: Ledger;
  readonly meter: Meter;
  readonly log: Log;
}

export type PublishEnd =
  | { readonly kind: 'published'; readonly run: RunItem }
  | { readonly kind: 'out-of-time' | 'paused'; readonly run: RunItem }
  | { readonly kind: 'lease-lost' };

/** Time that publishing keeps back to save its place, in milliseconds. */
export const PUBLISH_MARGIN_MILLIS = 20_000;

/** Wait before a unit that the queue would not take is tried again. */
const UNCONFIRMED_WAIT_MILLIS = 5 * 60_000;

/** The ledger lacks a slice that the plan counts: nothing may be published over a gap. */
export class MissingSlice extends Error {
  constructor(runId: string, ordinal: number) {
    super(
      `Run ${runId}: slice ${ordinal} of the frozen plan is not in the ledger. Restore the ledger before going on.`,
    );
    this.name = 'MissingSlice';
  }
}

/**
 * Puts into the ledger what the queue did not take: to be tried again later or, where the fault is in the message and
 * trying again cannot help, for a person. Refused where a consumer has it: an unconfirmed message may have arrived.
 */
export async function noteUnconfirmed(ports: PublishPorts, { reference, failure }: Unconfirmed, guard: UnitGuard) {
  const now = ports.clock.now();
  const failureClass = failure.fault === 'sender' ? ('permanent' as const) : ('transient' as const);
  const noted = { since: now, errorClass: failure.code, failureClass };
  if (failure.fault === 'service') {
    const change = { ...noted, notBefore: now + UNCONFIRMED_WAIT_MILLIS, reason: 'not_published' };
    await ports.ledger.moveUnit(reference, 'postpone', guard, change);
    return;
  }
  const change = { ...noted, finishedAt: now, reason: 'not_publishable' };
  const moved = await ports.ledger.moveUnit(reference, 'quarantine', guard, change);
  if (moved.kind !== 'moved') return;
  const { runId, policyVersion, unit, generation } = reference;
  const why = { reason: 'not_publishable', errorClass: failure.code, failureClass };
  ports.log.event('warn', 'unit_quarantined', { runId, policyVersion, unit, generation, ...why });
}

/** While a policy is paused nothing is put into its queue: there it would wait on the queue's clock, not on ours. */
export async function isPaused(ledger: Ledger, policyId: string): Promise<boolean> {
  return (await ledger.readControl(policyId)).pause !== undefined;
}

async function publishPage(ports: PublishPorts, run: RunItem): Promise<RunItem | undefined> {
  const { ledger, clock } = ports;
  let published = run.published ?? EMPTY_CHAIN;
  const slices = await ledger.sliceHeads(run.runId, published.batches, run.plan?.batches ?? 0);
  if (slices.length === 0) throw new MissingSlice(run.runId, published.batches);
  for (const [place, { ordinal }] of slices.entries()) {
    if (ordinal !== published.batches + place) throw new MissingSlice(run.runId, published.batches + place);
  }
  const units = slices.map((slice) => ({ unit: batchUnit(slice.ordinal), tenant: slice.tenant, generation: 0 }));
  const unconfirmed = await sendReferences(
    ports,
    units.map((unit) => referenceTo(run, unit)),
  );
  for (const entry of unconfirmed) {
    const { unit, tenant } = entry.reference;
    const records = slices.find((slice) => batchUnit(slice.ordinal) === unit)?.records ?? 0;
    await noteUnconfirmed(ports, entry, { generation: 0, attempts: 0, make: { tenant, records } });
  }
  for (const slice of slices) published = extendChain(published, slice.records, slice.keysDigest);
  const moved = await ledger.moveRun(run.runId, 'advance', run.lease.epoch, {
    published,
    leaseUntil: clock.now() + LEASE_MILLIS,
    cost: addCost(run.cost, ports.meter.take()),
  });
  return moved.kind === 'moved' ? moved.run : undefined;
}

/**
 * Publishes a frozen plan from where the queue's confirmations ended. A crash between a send and the moved cursor
 * sends the same references again: a duplicate delivery, not new work.
 */
export async function publishRun(ports: PublishPorts, frozen: RunItem, deadline: Deadline): Promise<PublishEnd> {
  const batches = frozen.plan?.batches ?? 0;
  let run = frozen;
  while ((run.published?.batches ?? 0) < batches) {
    if (deadline.remainingMillis() < PUBLISH_MARGIN_MILLIS) return { kind: 'out-of-time', run };
    if (await isPaused(ports.ledger, run.policyId)) return { kind: 'paused', run };
    const next = await publishPage(ports, run);
    if (next === undefined) return { kind: 'lease-lost' };
    run = next;
  }
  const moved = await ports.ledger.moveRun(run.runId, 'drain', run.lease.epoch, {
    publishedAt: ports.clock.now(),
    leaseUntil: 0,
  });
  return moved.kind === 'moved' ? { kind: 'published', run: moved.run } : { kind: 'lease-lost' };
}
