import { formatInstant } from '../identity/instant.ts';
import type { AuditEntry, AuditHead } from '../ledger/items.ts';
import { NO_AUDIT } from '../plan/new-run.ts';
import type { AuditScope, Ledger } from '../ports/index.ts';
import { auditHash, headOf, NO_REQUEST, scopeName } from '../redrive/audit.ts';
import { selectionDigest } from '../redrive/selection.ts';
import type { AuditEntryView, AuditFault, AuditView } from '../redrive/views.ts';
import { everyItem } from './pages.ts';

/** When an entry says that its act was; null where it no longer says so. */
export function auditedAt({ at, damaged = [] }: AuditEntry): string | null {
  return damaged.includes('at') ? null : formatInstant(at);
}

export function viewEntry(entry: AuditEntry): AuditEntryView {
  const { number, act, actor, reason, requestId, units, selection, hash, damaged = [] } = entry;
  return {
    number: Number.isNaN(number) ? null : number,
    act,
    actor,
    reason,
    at: auditedAt(entry),
    requestId,
    units,
    selection: selection ?? null,
    hash,
    damaged,
    confirmedBy:
      requestId === NO_REQUEST
        ? { event: 'StartMessageMoveTask', requestId: null }
        : { event: 'Invoke', requestId: damaged.includes('requestId') ? null : requestId },
  };
}

function fault(number: number | null, kind: AuditFault['fault'], message: string): AuditFault {
  return { number, fault: kind, message };
}

/**
 * What is wrong with a trail. Each entry's hash covers its content and the hash before it, and the head, which is kept
 * apart from the entries, says how many there are and how the last one hashes: so an entry that was edited, removed or
 * cut off shows, and so does one that was put in.
 */
export function verifyTrail(entries: readonly AuditEntry[], head: AuditHead): readonly AuditFault[] {
  const faults: AuditFault[] = [];
  let expected = 0;
  let previous: string | undefined = NO_AUDIT.hash;
  for (const entry of entries) {
    if (Number.isNaN(entry.number)) {
      faults.push(fault(null, 'altered', 'An item stands in the trail under a key that is no entry’s.'));
      continue;
    }
    for (; expected < entry.number; expected += 1) {
      faults.push(fault(expected, 'missing', `Entry ${expected} is missing.`));
      previous = undefined;
    }
    const { hash, damaged, ...content } = entry;
    if (damaged !== undefined) {
      const message = `Entry ${entry.number} is not what was written: not by its ${damaged.join(', ')}.`;
      faults.push(fault(entry.number, 'altered', message));
    } else if (auditHash(content) !== hash) {
      faults.push(fault(entry.number, 'altered', `Entry ${entry.number} is not what was written.`));
    } else if (previous !== undefined && entry.previousHash !== previous) {
      faults.push(fault(entry.number, 'not-chained', `Entry ${entry.number} does not follow the one before it.`));
    }
    if (entry.number >= head.count) {
      faults.push(fault(entry.number, 'beyond-head', `Entry ${entry.number} is beyond the ${head.count} of the head.`));
    }
    previous = hash;
    expected = entry.number + 1;
  }
  if (expected < head.count) {
    const lost = head.count - expected;
    faults.push(fault(null, 'cut-off', `The head counts ${head.count} entries; the last ${lost} are missing.`));
  } else if (expected === head.count && previous !== undefined && previous !== head.hash) {
    faults.push(fault(null, 'altered', 'The last entry is not the one that the head knows.'));
  }
  return faults;
}

/** Selections that entries name must still be there, and be what their digest says. */
async function verifySelections(
  ledger: Ledger,
  policyId: string,
  entries: readonly AuditEntry[],
): Promise<readonly AuditFault[]> {
  const faults: AuditFault[] = [];
  const known = new Map<string, AuditFault['fault'] | 'whole'>();
  for (const { number, selection } of entries) {
    if (selection === undefined) continue;
    let verdict = known.get(selection);
    if (verdict === undefined) {
      const found = await ledger.readSelection(policyId, selection);
      const whole = found !== undefined && selectionDigest(found) === selection;
      verdict = found === undefined ? 'selection-missing' : whole ? 'whole' : 'selection-altered';
      known.set(selection, verdict);
    }
    if (verdict === 'whole') continue;
    const what = verdict === 'selection-missing' ? 'is no longer in the ledger' : 'is not what its digest says';
    faults.push(fault(number, verdict, `The selection of entry ${number} ${what}.`));
  }
  return faults;
}

const READ_TRIES = 5;

interface Trail {
  readonly head: AuditHead;
  readonly entries: readonly AuditEntry[];
}

/** Head and entries of one moment: what is appended between the two reads would look like tampering. */
async function readTrail(ledger: Ledger, scope: AuditScope): Promise<Trail | undefined> {
  let head = await headOf(ledger, scope);
  for (let tries = 1; head !== undefined; tries += 1) {
    const entries: AuditEntry[] = [];
    for await (const entry of everyItem((cursor) => ledger.auditTrail(scope, cursor))) entries.push(entry);
    const after: AuditHead | undefined = await headOf(ledger, scope);
    if (after === undefined || after.count === head.count || tries === READ_TRIES) return { head, entries };
    head = after;
  }
  return undefined;
}

/** A run's or a policy's trail, verified. Undefined where there is no such run. */
export async function readAudit(ledger: Ledger, scope: AuditScope): Promise<AuditView | undefined> {
  const trail = await readTrail(ledger, scope);
  if (trail === undefined) return undefined;
  const { head, entries } = trail;
  const policyId = scope.kind === 'policy' ? scope.policyId : ((await ledger.readRun(scope.runId))?.policyId ?? '');
  const faults = [...verifyTrail(entries, head), ...(await verifySelections(ledger, policyId, entries))];
  return { scope: scopeName(scope), head, entries: entries.map(viewEntry), faults, verified: faults.length === 0 };
}
