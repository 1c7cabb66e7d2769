import { type EpochMillis, formatInstant } from '../identity/instant.ts';
import type { BadMessage } from '../ledger/items.ts';
import { DEAD_LETTER_RETENTION_DAYS } from '../policy/budget.ts';
import type { Clock, Ledger, OpenUnit, Queue } from '../ports/index.ts';
import type { UnitFilter } from '../redrive/request.ts';
import { matches } from '../redrive/selection.ts';
import { viewPause } from '../redrive/switch.ts';
import type { BadMessageView, OpenUnitView, QuarantineGroup, QuarantineView } from '../redrive/views.ts';
import { everyItem } from './pages.ts';

const HOUR_MILLIS = 3_600_000;
const RETENTION_MILLIS = DEAD_LETTER_RETENTION_DAYS * 24 * HOUR_MILLIS;

/** Units that are counted; beyond it the answer says that there are more. */
const COUNTED = 100_000;
const BAD_MESSAGES_LISTED = 100;

/** When the dead-letter queue drops a unit's message at the latest, for a purge leaves no trace in the ledger: its retention counts from the sending of the labelled copy. */
export function messageExpiresAt({
  generation,
  copiedAt,
  copiedGeneration,
}: Pick<OpenUnit, 'generation' | 'copiedAt' | 'copiedGeneration'>): EpochMillis | undefined {
  return copiedAt === undefined || copiedGeneration !== generation ? undefined : copiedAt + RETENTION_MILLIS;
}

function instantOrNull(millis: EpochMillis | undefined): string | null {
  return millis === undefined ? null : formatInstant(millis);
}

/** Hours to one decimal place. */
export function ageHours(since: EpochMillis, now: EpochMillis): number {
  return Math.round((now - since) / (HOUR_MILLIS / 10)) / 10;
}

function viewOpenUnit(unit: OpenUnit, state: OpenUnitView['state'], now: EpochMillis): OpenUnitView {
  const { runId, tenant, records, attempts, generation, reason, errorClass, failureClass, since } = unit;
  return {
    runId,
    unit: unit.unit,
    tenant,
    state,
    records,
    attempts,
    generation,
    reason: reason ?? null,
    errorClass: errorClass ?? null,
    failureClass: failureClass ?? null,
    since: formatInstant(since),
    ageHours: ageHours(since, now),
    messageExpiresAt: instantOrNull(messageExpiresAt(unit)),
  };
}

/** One group while it is counted. */
class Group {
  readonly #first: OpenUnit;
  #units = 0;
  #records = 0;
  #oldest: EpochMillis;
  #newest: EpochMillis;
  #expires: EpochMillis | undefined;

  constructor(first: OpenUnit) {
    this.#first = first;
    this.#oldest = first.since;
    this.#newest = first.since;
  }

  add(unit: OpenUnit): void {
    this.#units += 1;
    this.#records += unit.records;
    this.#oldest = Math.min(this.#oldest, unit.since);
    this.#newest = Math.max(this.#newest, unit.since);
    const expires = messageExpiresAt(unit);
    if (expires !== undefined) this.#expires = Math.min(this.#expires ?? expires, expires);
  }

  view(): QuarantineGroup {
    const { reason, errorClass, failureClass } = this.#first;
    return {
      reason: reason ?? null,
      errorClass: errorClass ?? null,
      failureClass: failureClass ?? null,
      units: this.#units,
      records: this.#records,
      oldest: formatInstant(this.#oldest),
      newest: formatInstant(this.#newest),
      firstMessageExpiresAt: instantOrNull(this.#expires),
    };
  }
}

/** Counts what waits, in memory bounded by the kinds of failures and the units listed. */
class Count {
  readonly #groups = new Map<string, Group>();
  readonly #listed: OpenUnitView[] = [];
  readonly #limit: number;
  readonly #now: EpochMillis;
  units = 0;
  records = 0;

  constructor(limit: number, now: EpochMillis) {
    this.#limit = limit;
    this.#now = now;
  }

  add(unit: OpenUnit, state: OpenUnitView['state']): void {
    this.units += 1;
    this.records += unit.records;
    const name = JSON.stringify([unit.reason, unit.errorClass, unit.failureClass]);
    const group = this.#groups.get(name) ?? new Group(unit);
    this.#groups.set(name, group);
    group.add(unit);
    this.#list(viewOpenUnit(unit, state, this.#now));
  }

  /** Keeps the oldest: shards of the index come one after another, each in its own order. */
  #list(view: OpenUnitView): void {
    this.#listed.push(view);
    if (this.#listed.length < 2 * this.#limit + 2) return;
    this.#trim();
  }

  #trim(): void {
    this.#listed.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
    this.#listed.length = Math.min(this.#listed.length, this.#limit);
  }

  get groups(): readonly QuarantineGroup[] {
    return [...this.#groups.values()].map((group) => group.view()).sort((a, b) => b.units - a.units);
  }

  get listed(): readonly OpenUnitView[] {
    this.#trim();
    return this.#listed;
  }
}

function viewMessage({ digest, reason, at, abandonedAt }: BadMessage): BadMessageView {
  return { digest, reason, at: formatInstant(at), abandonedAt: instantOrNull(abandonedAt) };
}

type BadMessages = Pick<QuarantineView, 'badMessages' | 'badMessagesTruncated'>;

/** Messages that wait for a person; those that were given up are no longer listed. */
async function openMessages(ledger: Ledger, policyId: string): Promise<BadMessages> {
  const badMessages: BadMessageView[] = [];
  for await (const message of everyItem((cursor) => ledger.badMessages(policyId, cursor))) {
    if (message.abandonedAt !== undefined) continue;
    if (badMessages.length >= BAD_MESSAGES_LISTED) return { badMessages, badMessagesTruncated: true };
    badMessages.push(viewMessage(message));
  }
  return { badMessages, badMessagesTruncated: false };
}

/** What waits for a person, from the ledger alone; of the queues only their depths are read. Changes nothing. */
export async function readQuarantine(
  ports: { readonly ledger: Ledger; readonly clock: Clock; readonly queue: Pick<Queue, 'depth'> },
  policyId: string,
  filter: UnitFilter,
  limit: number,
): Promise<QuarantineView> {
  const { ledger, clock, queue } = ports;
  const now = clock.now();
  const count = new Count(limit, now);
  let truncated = false;
  for (const state of ['quarantined', 'uncertain'] as const) {
    for await (const unit of everyItem((cursor) => ledger.openUnits({ state }, cursor))) {
      if (!matches(unit, filter, now)) continue;
      truncated = count.units >= COUNTED;
      if (truncated) break;
      count.add(unit, state);
    }
  }
  const { pause } = await ledger.readControl(policyId);
  return {
    paused: viewPause(pause),
    units: count.units,
    records: count.records,
    groups: count.groups,
    listed: count.listed,
    truncated,
    queues: await queue.depth(),
    ...(await openMessages(ledger, policyId)),
  };
}
