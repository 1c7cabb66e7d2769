import { EMPTY_CHAIN, extendChain } from '../identity/digests.ts';
import { batchUnit } from '../identity/keys.ts';
import { addCost } from '../ledger/cost.ts';
import type { RunItem, UnitItem } from '../ledger/items.ts';
import { LEASE_MILLIS } from '../plan/lease.ts';
import type { Deadline, Ledger, LoadedUnit, Meter, OpenUnit, UnitGuard } from '../ports/index.ts';
import type { BatchReference } from './reference.ts';
import { type SendPorts, sendReferences, type Unconfirmed } from './send.ts';

export interface PublishPorts extends SendPorts {
  readonly ledger: Ledger;
  readonly meter: Meter;
}

export type PublishEnd =
  | { readonly kind: 'published'; readonly run: RunItem }
  | { readonly kind: 'out-of-time'; readonly run: RunItem }
  | { readonly kind: 'lease-lost' };

/** Time that publishing keeps back to save its place, in milliseconds. */
const MARGIN_MILLIS = 20_000;

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

export function referenceTo(run: RunItem, unit: Pick<UnitItem, 'unit' | 'tenant' | 'generation'>): BatchReference {
  return {
    runId: run.runId,
    tenant: unit.tenant,
    cutoff: run.cutoff,
    policyVersion: run.policyVersion,
    unit: unit.unit,
    generation: unit.generation,
  };
}

/**
 * Puts into the ledger what the queue did not take: to be tried again later or, where the fault is in the message and
 * trying again cannot help, for a person. Refused where a consumer has it: an unconfirmed message may have arrived.
 */
async function noteUnconfirmed(ports: PublishPorts, { reference, failure }: Unconfirmed, guard: UnitGuard) {
  const now = ports.clock.now();
  const noted = { since: now, errorClass: failure.code };
  await (failure.fault === 'sender'
    ? ports.ledger.moveUnit(reference, 'quarantine', guard, { ...noted, finishedAt: now, reason: 'not_publishable' })
    : ports.ledger.moveUnit(reference, 'postpone', guard, {
        ...noted,
        notBefore: now + UNCONFIRMED_WAIT_MILLIS,
        reason: 'not_published',
      }));
}

async function publishPage(ports: PublishPorts, run: RunItem): Promise<RunItem | undefined> {
  const { ledger, clock } = ports;
  let published = run.published ?? EMPTY_CHAIN;
  const slices = await ledger.slices(run.runId, published.batches, run.plan?.batches ?? 0);
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
    const records = slices.find((slice) => batchUnit(slice.ordinal) === unit)?.entries.length ?? 0;
    await noteUnconfirmed(ports, entry, { generation: 0, attempts: 0, make: { tenant, records } });
  }
  for (const slice of slices) published = extendChain(published, slice.entries.length, slice.keysDigest);
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
    if (deadline.remainingMillis() < MARGIN_MILLIS) return { kind: 'out-of-time', run };
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

const LOAD_AT_ONCE = 10;

/**
 * A run that closed around its quarantine is open again once one of its units is planned. Done here and not in the act:
 * a crash between the two would leave nobody to do it.
 */
async function reopenRuns(ledger: Ledger, loaded: readonly LoadedUnit[]): Promise<void> {
  const closed = loaded.flatMap(({ run }) => (run?.status === 'complete_with_quarantine' ? [run.runId] : []));
  for (const runId of new Set(closed)) await ledger.moveRun(runId, 'reopen', undefined, { emptyPasses: 0 });
}

async function publishLoaded(ports: PublishPorts, open: readonly OpenUnit[]): Promise<number> {
  const { ledger, clock } = ports;
  const loaded = await ledger.load(open);
  const due = new Map<BatchReference, UnitItem>();
  for (const { run, unit } of loaded) {
    if (run === undefined || unit === undefined || unit.state !== 'planned') continue;
    const waits = run.status === 'cancelled' || unit.notBefore === undefined || unit.notBefore > clock.now();
    if (!waits) due.set(referenceTo(run, unit), unit);
  }
  if (due.size === 0) return 0;
  await reopenRuns(
    ledger,
    loaded.filter(({ unit }) => unit?.state === 'planned'),
  );
  const unconfirmed = await sendReferences(ports, [...due.keys()]);
  for (const entry of unconfirmed) {
    const { generation } = entry.reference;
    await noteUnconfirmed(ports, entry, { generation, attempts: due.get(entry.reference)?.attempts ?? 0 });
    due.delete(entry.reference);
  }
  for (const [reference, { generation }] of due) {
    // Refused where the consumer was faster.
    await ledger.moveUnit(reference, 'publish', { generation }, { since: clock.now() });
  }
  return due.size;
}

/** Publishes planned units whose time has come: long retries, redrives and lost messages. Returns how many. */
export async function publishDue(ports: PublishPorts, deadline: Deadline): Promise<number> {
  let published = 0;
  let cursor: string | undefined;
  do {
    const page = await ports.ledger.openUnits({ state: 'planned', dueAt: ports.clock.now() }, cursor);
    for (let start = 0; start < page.items.length; start += LOAD_AT_ONCE) {
      if (deadline.remainingMillis() < MARGIN_MILLIS) return published;
      published += await publishLoaded(ports, page.items.slice(start, start + LOAD_AT_ONCE));
    }
    cursor = page.next;
  } while (cursor !== undefined);
  return published;
}
