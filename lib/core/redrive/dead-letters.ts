import type { UnitItem } from '../ledger/items.ts';
import { isTerminalUnit } from '../ledger/lifecycle.ts';
import type { DeadLetter, Ledger, LoadedUnit, Queue, Signer } from '../ports/index.ts';
import { type BatchReference, parseReference, verifyReference } from '../publish/reference.ts';

/** A message of the dead-letter queue and what the ledger says of its unit. */
export type SortedLetter =
  | { readonly kind: 'unreadable'; readonly letter: DeadLetter; readonly reason: string }
  /** Its unit is done, or came back under a newer generation: the copy has no further use. */
  | { readonly kind: 'stale'; readonly letter: DeadLetter; readonly reference: BatchReference }
  | {
      readonly kind: 'waiting';
      readonly letter: DeadLetter;
      readonly reference: BatchReference;
      readonly loaded: LoadedUnit;
      /** `quarantined` by a consumer, or moved here by SQS while the ledger still thinks it is under way. */
      readonly ledgerState: 'quarantined' | 'under-way';
    };

function isStale(reference: BatchReference, unit: UnitItem | undefined): boolean {
  if (unit === undefined) return false;
  return isTerminalUnit(unit.state) || reference.generation < unit.generation;
}

function sortLoaded(letter: DeadLetter, reference: BatchReference, loaded: LoadedUnit): SortedLetter {
  const { run, slice, unit } = loaded;
  if (run === undefined || slice === undefined) return { kind: 'unreadable', letter, reason: 'unknown_run' };
  if (run.status === 'cancelled' || isStale(reference, unit)) return { kind: 'stale', letter, reference };
  const ledgerState = unit?.state === 'quarantined' ? 'quarantined' : 'under-way';
  return { kind: 'waiting', letter, reference, loaded, ledgerState };
}

/** Sorts one page of dead letters by what the ledger knows; trusts no body that is not signed. */
export async function sortLetters(
  ports: { readonly ledger: Ledger; readonly signer: Signer },
  letters: readonly DeadLetter[],
): Promise<readonly SortedLetter[]> {
  const sorted: SortedLetter[] = [];
  const valid: { readonly letter: DeadLetter; readonly reference: BatchReference }[] = [];
  for (const letter of letters) {
    const parsed = parseReference(letter.body);
    if (parsed.kind === 'bad') {
      sorted.push({ kind: 'unreadable', letter, reason: parsed.reason });
      continue;
    }
    const verified = await verifyReference(parsed, ports.signer);
    if (verified === 'valid') valid.push({ letter, reference: parsed.reference });
    else sorted.push({ kind: 'unreadable', letter, reason: verified === 'forged' ? 'bad_signature' : 'unknown_key' });
  }
  if (valid.length === 0) return sorted;
  const loaded = await ports.ledger.load(valid.map(({ reference }) => reference));
  for (const [index, { letter, reference }] of valid.entries()) {
    sorted.push(sortLoaded(letter, reference, loaded[index] ?? { run: undefined, slice: undefined, unit: undefined }));
  }
  return sorted;
}

/** How long a look at the dead-letter queue hides its messages from another look, in seconds. */
export const LOOK_SECONDS = 120;

/**
 * Goes once over the dead-letter queue, a page at a time, and stops after as many messages as it held at the
 * beginning: what arrives meanwhile is for the next time, so a consumer that keeps failing cannot keep it busy.
 */
export async function* deadLetterPages(queue: Queue): AsyncGenerator<readonly DeadLetter[]> {
  const { deadLetter } = await queue.depth();
  let emptyReceives = 0;
  for (let seen = 0; seen < deadLetter && emptyReceives < 3; ) {
    const page = await queue.receiveDeadLetters(LOOK_SECONDS);
    seen += page.length;
    // SQS may answer a receive with nothing while messages are there.
    emptyReceives = page.length === 0 ? emptyReceives + 1 : 0;
    if (page.length > 0) yield page;
  }
}
