import { formatInstant } from '../identity/instant.ts';
import type { UnitId } from '../identity/keys.ts';
import type { BadMessage, UnitItem } from '../ledger/items.ts';
import type { Deadline } from '../ports/index.ts';
import { type PublishPorts, publishDue } from '../publish/publish.ts';
import { everyItem } from '../read/pages.ts';
import { type UnitView, viewUnit } from '../views.ts';
import { type Act, auditOnRun } from './audit.ts';
import { deadLetterPages, type SortedLetter, sortLetters } from './dead-letters.ts';

/** What waits for a person. */
export interface QuarantineList {
  readonly units: readonly UnitView[];
  readonly deadLetters: {
    readonly quarantined: number;
    /** Moved by SQS itself: the ledger still has their units under way. */
    readonly movedByQueue: number;
    readonly stale: number;
    readonly unreadable: Readonly<Record<string, number>>;
  };
  readonly badMessages: readonly { readonly digest: string; readonly reason: string; readonly at: string }[];
  /** True where there was more than one answer may hold. */
  readonly truncated: boolean;
}

export interface RedriveResult {
  readonly redriven: readonly { readonly runId: string; readonly unit: UnitId; readonly generation: number }[];
  readonly published: number;
  readonly deleted: number;
  /** Messages that no redrive can help: malformed, forged, of no known run. They stay in the dead-letter queue. */
  readonly left: number;
  readonly truncated: boolean;
}

/** Units that one act may take; a further act takes the next. */
const UNITS_PER_ACT = 1_000;
const UNITS_PER_ENTRY = 50;
const BAD_MESSAGES_LISTED = 100;

async function quarantinedUnits(ports: PublishPorts): Promise<{ units: readonly UnitItem[]; truncated: boolean }> {
  const units: UnitItem[] = [];
  let cursor: string | undefined;
  do {
    const page = await ports.ledger.openUnits({ state: 'quarantined' }, cursor);
    for (const open of page.items) {
      const unit = await ports.ledger.readUnit(open);
      if (unit?.state === 'quarantined') units.push(unit);
      if (units.length >= UNITS_PER_ACT) return { units, truncated: true };
    }
    cursor = page.next;
  } while (cursor !== undefined);
  return { units, truncated: false };
}

async function firstBadMessages(ports: PublishPorts, policyId: string) {
  const messages: BadMessage[] = [];
  for await (const message of everyItem((cursor) => ports.ledger.badMessages(policyId, cursor))) {
    if (messages.length >= BAD_MESSAGES_LISTED) return { messages, truncated: true };
    messages.push(message);
  }
  return { messages, truncated: false };
}

/** Lists quarantined units, what lies in the dead-letter queue, and messages that could not be read. Changes nothing. */
export async function listQuarantine(ports: PublishPorts, policyId: string): Promise<QuarantineList> {
  const { units, truncated } = await quarantinedUnits(ports);
  const counts = { quarantined: 0, movedByQueue: 0, stale: 0 };
  const unreadable: Record<string, number> = {};
  const seen: SortedLetter[] = [];
  try {
    for await (const page of deadLetterPages(ports.queue)) {
      for (const sorted of await sortLetters(ports, page)) {
        seen.push(sorted);
        if (sorted.kind === 'unreadable') unreadable[sorted.reason] = (unreadable[sorted.reason] ?? 0) + 1;
        else if (sorted.kind === 'stale') counts.stale += 1;
        else if (sorted.ledgerState === 'quarantined') counts.quarantined += 1;
        else counts.movedByQueue += 1;
      }
    }
  } finally {
    for (const { letter } of seen) await ports.queue.releaseDeadLetter(letter.handle);
  }
  const bad = await firstBadMessages(ports, policyId);
  return {
    units: units.map(viewUnit),
    deadLetters: { ...counts, unreadable },
    badMessages: bad.messages.map(({ digest, reason, at }) => ({ digest, reason, at: formatInstant(at) })),
    truncated: truncated || bad.truncated,
  };
}

/** Marks a unit whose message SQS dead-lettered by itself, so that bringing it back is a redrive like any other. */
async function labelMoved(
  ports: PublishPorts,
  sorted: Extract<SortedLetter, { kind: 'waiting' }>,
): Promise<UnitItem | undefined> {
  const { reference, loaded } = sorted;
  const now = ports.clock.now();
  const moved = await ports.ledger.moveUnit(
    reference,
    'quarantine',
    {
      generation: reference.generation,
      make: { tenant: reference.tenant, records: loaded.slice?.entries.length ?? 0 },
    },
    { since: now, finishedAt: now, reason: 'dead_lettered', errorClass: 'ReceivesSpent' },
  );
  return moved.unit?.state === 'quarantined' ? moved.unit : undefined;
}

async function bringBack(
  ports: PublishPorts,
  units: readonly UnitItem[],
  act: Act,
): Promise<RedriveResult['redriven']> {
  const { ledger, clock } = ports;
  const byRun = Map.groupBy(units, (unit) => unit.runId);
  const redriven: { runId: string; unit: UnitId; generation: number }[] = [];
  for (const [runId, ofRun] of byRun) {
    for (let start = 0; start < ofRun.length; start += UNITS_PER_ENTRY) {
      const chunk = ofRun.slice(start, start + UNITS_PER_ENTRY);
      const names = chunk.map((unit) => unit.unit);
      // The record of the act comes before the act.
      await auditOnRun(ledger, runId, act, names, clock.now());
      for (const { unit, generation } of chunk) {
        const now = clock.now();
        const change = { since: now, notBefore: now, generation: generation + 1, attempts: 0, bornAt: now };
        const moved = await ledger.moveUnit({ runId, unit }, 'redrive', { generation }, change);
        if (moved.kind === 'moved') redriven.push({ runId, unit, generation: generation + 1 });
      }
    }
  }
  return redriven;
}

/**
 * Brings back everything that is quarantined: each unit under its next generation, its old message deleted only after
 * the new one is planned in the ledger. Killed anywhere, a rerun finishes; run twice, the second finds nothing to do.
 */
export async function redriveAll(ports: PublishPorts, act: Act, deadline: Deadline): Promise<RedriveResult> {
  const letters: SortedLetter[] = [];
  const labelled: UnitItem[] = [];
  for await (const page of deadLetterPages(ports.queue)) {
    for (const sorted of await sortLetters(ports, page)) {
      letters.push(sorted);
      if (sorted.kind !== 'waiting' || sorted.ledgerState === 'quarantined') continue;
      const unit = await labelMoved(ports, sorted);
      if (unit !== undefined) labelled.push(unit);
    }
    if (letters.length >= UNITS_PER_ACT) break;
  }
  const { units, truncated } = await quarantinedUnits(ports);
  // The sparse index may lag behind what was labelled a moment ago.
  const known = new Set(units.map(({ runId, unit }) => `${runId}/${unit}`));
  const fresh = labelled.filter(({ runId, unit }) => !known.has(`${runId}/${unit}`));
  const redriven = await bringBack(ports, [...units, ...fresh], act);
  const published = await publishDue(ports, deadline);
  const { deleted, left } = await sweepLetters(ports, letters);
  return { redriven, published, deleted, left, truncated: truncated || letters.length >= UNITS_PER_ACT };
}

/** Deletes the copies whose unit has moved on and lets the rest be seen again. */
async function sweepLetters(
  ports: PublishPorts,
  letters: readonly SortedLetter[],
): Promise<{ readonly deleted: number; readonly left: number }> {
  let deleted = 0;
  for (const sorted of letters) {
    if (await isSuperseded(ports, sorted)) {
      await ports.queue.deleteDeadLetter(sorted.letter.handle);
      deleted += 1;
    } else {
      await ports.queue.releaseDeadLetter(sorted.letter.handle);
    }
  }
  return { deleted, left: letters.length - deleted };
}

async function isSuperseded(ports: PublishPorts, sorted: SortedLetter): Promise<boolean> {
  if (sorted.kind === 'unreadable') return false;
  if (sorted.kind === 'stale') return true;
  const unit = await ports.ledger.readUnit(sorted.reference);
  return unit !== undefined && unit.generation > sorted.reference.generation;
}
