import type { EpochMillis } from '../identity/instant.ts';
import type { UnitItem } from '../ledger/items.ts';
import type { Deadline, Ledger, LoadedUnit, OpenUnit } from '../ports/index.ts';
import { isPaused, noteUnconfirmed, PUBLISH_MARGIN_MILLIS, type PublishPorts } from './publish.ts';
import { type BatchReference, referenceTo } from './reference.ts';
import { sendReferences } from './send.ts';

const LOAD_AT_ONCE = 10;

/**
 * Units that are due within this time are sent now and held back by the queue until then: passes of the reconciler are
 * minutes apart, and a rate is kept to the second. Under the queue's own limit of fifteen minutes.
 */
export const AHEAD_MILLIS = 10 * 60_000;

/**
 * A run that closed around its quarantine is open again once one of its units is planned. Done here and not in the act:
 * a crash between the two would leave nobody to do it.
 */
async function reopenRuns(ledger: Ledger, loaded: readonly LoadedUnit[]): Promise<void> {
  const closed = loaded.flatMap(({ run }) => (run?.status === 'complete_with_quarantine' ? [run.runId] : []));
  for (const runId of new Set(closed)) await ledger.moveRun(runId, 'reopen', undefined, { emptyPasses: 0 });
}

/** Remembers for the length of one call which policies are paused. */
class Pauses {
  readonly #ledger: Ledger;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  of(policyId: string): Promise<boolean> {
    const known = this.#known.get(policyId) ?? isPaused(this.#ledger, policyId);
    this.#known.set(policyId, known);
    return known;
  }
}

async function dueOf(
  loaded: readonly LoadedUnit[],
  pauses: Pauses,
  dueAt: EpochMillis,
): Promise<Map<BatchReference, UnitItem>> {
  const due = new Map<BatchReference, UnitItem>();
  for (const { run, unit } of loaded) {
    if (run === undefined || unit === undefined || unit.state !== 'planned') continue;
    const waits = run.status === 'cancelled' || unit.notBefore === undefined || unit.notBefore > dueAt;
    if (!waits && !(await pauses.of(run.policyId))) due.set(referenceTo(run, unit), unit);
  }
  return due;
}

async function publishLoaded(ports: PublishPorts, pauses: Pauses, open: readonly OpenUnit[]): Promise<number> {
  const { ledger, clock } = ports;
  const loaded = await ledger.load(open);
  const due = await dueOf(loaded, pauses, clock.now() + AHEAD_MILLIS);
  if (due.size === 0) return 0;
  const units = new Set(due.values());
  await reopenRuns(
    ledger,
    loaded.filter(({ unit }) => unit !== undefined && units.has(unit)),
  );
  const now = clock.now();
  const delayOf = (reference: BatchReference) =>
    Math.max(0, Math.ceil(((due.get(reference)?.notBefore ?? now) - now) / 1000));
  const unconfirmed = await sendReferences(ports, [...due.keys()], delayOf);
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

/**
 * Publishes planned units whose time has come or comes shortly: long retries, redrives, resumed and lost messages.
 * Nothing of a paused policy. Returns how many.
 */
export async function publishDue(ports: PublishPorts, deadline: Deadline): Promise<number> {
  const pauses = new Pauses(ports.ledger);
  let published = 0;
  let cursor: string | undefined;
  do {
    const page = await ports.ledger.openUnits({ state: 'planned', dueAt: ports.clock.now() + AHEAD_MILLIS }, cursor);
    for (let start = 0; start < page.items.length; start += LOAD_AT_ONCE) {
      if (deadline.remainingMillis() < PUBLISH_MARGIN_MILLIS) return published;
      published += await publishLoaded(ports, pauses, page.items.slice(start, start + LOAD_AT_ONCE));
    }
    cursor = page.next;
  } while (cursor !== undefined);
  return published;
}
