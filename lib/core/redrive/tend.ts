import { GENERATION_LABEL, sendCopy } from '../consume/copies.ts';
import { messageDigest, quarantineMessage } from '../consume/quarantine.ts';
import type { UnitItem } from '../ledger/items.ts';
import type { DeadLetter, Deadline } from '../ports/index.ts';
import type { PublishPorts } from '../publish/publish.ts';
import { encodeReference, referenceTo } from '../publish/reference.ts';
import { type SortedLetter, sortLetters } from './dead-letters.ts';

export interface TendPorts extends PublishPorts {
  readonly policyId: string;
}

/** What one look over the dead-letter queue did, in messages. */
export interface Tended {
  readonly seen: number;
  /** False where not everything could be looked at, for want of time or because somebody else is looking. */
  readonly complete: boolean;
  /** Moved here by SQS itself, and now labelled like the rest. */
  readonly labelled: number;
  readonly deleted: number;
  /** Units whose labelled copy was seen. */
  readonly waiting: number;
}

/** How long a look hides the messages from another look, in seconds. */
const LOOK_SECONDS = 120;
const MARGIN_MILLIS = 15_000;
const CALL_LIMIT = 10;
/** Receives in a row that brought nothing new, after which a look ends. */
const IDLE_RECEIVES = 3;

function inCalls<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / CALL_LIMIT) }, (_, call) =>
    items.slice(call * CALL_LIMIT, (call + 1) * CALL_LIMIT),
  );
}

type Verdict = 'delete' | 'stay';

/** One look over the dead-letter queue. */
class Look {
  readonly #ports: TendPorts;
  /** By message id. Received again, a message is no second one: deleting it would delete the one that is kept. */
  readonly #verdicts = new Map<string, Verdict>();
  /** The latest handles of what stays, by message id. */
  readonly #staying = new Map<string, string>();
  /** What is kept, by what it is a message of: a second message of the same is deleted. */
  readonly #kept = new Set<string>();
  readonly #keptUnits = new Set<string>();
  readonly #replaced = new Set<string>();
  labelled = 0;
  deleted = 0;
  /** Copies that this look itself had put there: they were not among what it set out to see. */
  ownCopies = 0;

  constructor(ports: TendPorts) {
    this.#ports = ports;
  }

  get waiting(): number {
    return this.#keptUnits.size;
  }

  get seen(): number {
    return this.#verdicts.size;
  }

  async page(letters: readonly DeadLetter[]): Promise<void> {
    const unseen = letters.filter(({ messageId }) => !this.#verdicts.has(messageId));
    const fresh = new Map(unseen.map((letter) => [letter.messageId, letter]));
    for (const sorted of await sortLetters(this.#ports, [...fresh.values()])) {
      this.#verdicts.set(sorted.letter.messageId, await this.#judge(sorted));
    }
    const useless: string[] = [];
    for (const { messageId, handle } of letters) {
      if (this.#verdicts.get(messageId) === 'delete') useless.push(handle);
      else this.#staying.set(messageId, handle);
    }
    for (const handles of inCalls(useless)) {
      const unconfirmed = await this.#ports.queue.deleteDeadLetters(handles);
      this.deleted += handles.length - unconfirmed.length;
    }
  }

  /** Lets everything that stays be seen again. */
  async release(): Promise<void> {
    for (const handles of inCalls([...this.#staying.values()])) {
      await this.#ports.queue.releaseDeadLetters(handles);
    }
  }

  async #judge(sorted: SortedLetter): Promise<Verdict> {
    switch (sorted.kind) {
      case 'stale':
        return 'delete';
      case 'unreadable':
        return this.#judgeUnreadable(sorted);
      case 'waiting':
        return this.#judgeWaiting(sorted.letter, sorted.unit);
      case 'under-way':
        return this.#labelMoved(sorted);
    }
  }

  #keep(name: string): Verdict {
    if (this.#kept.has(name)) return 'delete';
    this.#kept.add(name);
    return 'stay';
  }

  async #judgeUnreadable({ letter, reason }: Extract<SortedLetter, { kind: 'unreadable' }>): Promise<Verdict> {
    const digest = messageDigest(letter.body);
    const { ledger, policyId } = this.#ports;
    const known = await ledger.readBadMessage(policyId, digest);
    if (known?.abandonedAt !== undefined) return 'delete';
    const name = `message ${digest}`;
    if (known !== undefined && letter.labels.digest === digest) {
      if (this.#replaced.has(name)) this.ownCopies += 1;
      return this.#keep(name);
    }
    if (this.#kept.has(name) || this.#replaced.has(name)) return 'delete';
    await quarantineMessage(this.#ports, policyId, letter.body, known?.reason ?? reason);
    this.#ports.log.event('warn', 'message_quarantined', { errorClass: reason, digest });
    this.#replaced.add(name);
    this.labelled += 1;
    return 'delete';
  }

  /**
   * Keeps one labelled copy for each unit. A message without the label was moved here by SQS: its place is taken by a
   * copy with it, once; that copy may come to this very look, and is then the one that is kept.
   */
  async #judgeWaiting(letter: DeadLetter, unit: UnitItem): Promise<Verdict> {
    const name = `${unit.runId}/${unit.unit}@${unit.generation}`;
    if (letter.labels[GENERATION_LABEL] === String(unit.generation)) {
      this.#keptUnits.add(name);
      if (this.#replaced.has(name)) this.ownCopies += 1;
      return this.#keep(name);
    }
    if (!this.#kept.has(name) && !this.#replaced.has(name)) {
      await sendCopy(this.#ports, letter.body, unit);
      this.#replaced.add(name);
      this.#keptUnits.add(name);
      this.labelled += 1;
    }
    return 'delete';
  }

  /** Marks a unit whose message SQS dead-lettered by itself, so that bringing it back is a redrive like any other. */
  async #labelMoved({ letter, reference, loaded }: Extract<SortedLetter, { kind: 'under-way' }>): Promise<Verdict> {
    const { ledger, clock, signer, log } = this.#ports;
    const { errorClass = 'ReceivesSpent', failureClass = 'transient' } = loaded.unit ?? {};
    const now = clock.now();
    const { unit } = await ledger.moveUnit(
      reference,
      'quarantine',
      {
        generation: reference.generation,
        make: { tenant: reference.tenant, records: loaded.slice?.entries.length ?? 0 },
      },
      { since: now, finishedAt: now, reason: 'dead_lettered', errorClass, failureClass },
    );
    // It went on while we looked; what became of it is judged at the next look.
    if (unit?.state !== 'quarantined' || loaded.run === undefined) return 'stay';
    const { runId, policyVersion } = loaded.run;
    const fields = { runId, policyVersion, unit: unit.unit, generation: unit.generation, attempt: unit.attempts };
    log.event('warn', 'unit_quarantined', { ...fields, reason: 'dead_lettered', errorClass, failureClass });
    const body = await encodeReference(referenceTo(loaded.run, unit), signer);
    return this.#judgeWaiting({ ...letter, body, labels: {} }, unit);
  }
}

/**
 * Goes once over the dead-letter queue, a page at a time, and stops after as many messages as it held at the beginning:
 * what arrives meanwhile is for the next time, so a consumer that keeps failing cannot keep it busy (pitfall P61).
 * Labels what SQS moved here, deletes what has no further use, and changes nothing else.
 */
export async function tendDeadLetters(ports: TendPorts, deadline: Deadline, limit: number): Promise<Tended> {
  const { deadLetter } = await ports.queue.depth();
  const look = new Look(ports);
  const seen = () => look.seen - look.ownCopies;
  try {
    for (let idle = 0; seen() < Math.min(deadLetter, limit) && idle < IDLE_RECEIVES; ) {
      if (deadline.remainingMillis() < MARGIN_MILLIS) break;
      const before = look.seen;
      const page = await ports.queue.receiveDeadLetters(LOOK_SECONDS);
      if (page.length > 0) await look.page(page);
      // SQS may answer a receive with nothing while messages are there; a long look meets its first messages again.
      idle = look.seen === before ? idle + 1 : 0;
    }
  } finally {
    await look.release();
  }
  const { labelled, deleted, waiting } = look;
  return { seen: look.seen, complete: seen() >= deadLetter, labelled, deleted, waiting };
}
