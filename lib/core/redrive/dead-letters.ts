import type { UnitItem } from '../ledger/items.ts';
import { isTerminalUnit } from '../ledger/lifecycle.ts';
import type { DeadLetter, Ledger, LoadedUnit, Signer } from '../ports/index.ts';
import { type BatchReference, parseReference, verifyReference } from '../publish/reference.ts';

/** A message of the dead-letter queue and what the ledger says of its unit. */
export type SortedLetter =
  | { readonly kind: 'unreadable'; readonly letter: DeadLetter; readonly reason: string }
  /** Its unit is done, was given up, or is to be sent again anyway: the copy has no further use. */
  | { readonly kind: 'stale'; readonly letter: DeadLetter }
  | { readonly kind: 'waiting'; readonly letter: DeadLetter; readonly unit: UnitItem }
  /** Moved here by SQS while the ledger still thinks that its unit is under way. */
  | {
      readonly kind: 'under-way';
      readonly letter: DeadLetter;
      readonly reference: BatchReference;
      readonly loaded: LoadedUnit;
    };

function isStale(reference: BatchReference, unit: UnitItem | undefined): boolean {
  if (unit === undefined) return false;
  // A planned unit is sent by the publisher when it is due, whatever became of an earlier message.
  return isTerminalUnit(unit.state) || unit.state === 'planned' || reference.generation < unit.generation;
}

function sortLoaded(letter: DeadLetter, reference: BatchReference, loaded: LoadedUnit): SortedLetter {
  const { run, slice, unit } = loaded;
  if (run === undefined) return { kind: 'unreadable', letter, reason: 'unknown_run' };
  if (unit === undefined && slice === undefined) return { kind: 'unreadable', letter, reason: 'unknown_unit' };
  if (isStale(reference, unit)) return { kind: 'stale', letter };
  if (unit?.state === 'quarantined' || unit?.state === 'uncertain') return { kind: 'waiting', letter, unit };
  if (run.status === 'cancelled') return { kind: 'stale', letter };
  return { kind: 'under-way', letter, reference, loaded };
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
