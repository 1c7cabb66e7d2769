import { digestOf } from '../identity/encode.ts';
import { type EpochMillis, formatInstant } from '../identity/instant.ts';
import type { UnitId } from '../identity/keys.ts';
import type { AuditEntry, AuditHead } from '../ledger/items.ts';
import { NO_AUDIT } from '../plan/new-run.ts';
import type { AuditScope, Ledger, Log } from '../ports/index.ts';
import { everyItem } from '../read/pages.ts';

/** Who does something and why; both are required of every act. */
export interface Act {
  readonly act: 'redrive' | 'abandon' | 'pause' | 'resume' | 'cancel';
  readonly actor: string;
  readonly reason: string;
  /** Of the invocation, so that CloudTrail can confirm it; `NO_REQUEST` where there was none. */
  readonly requestId: string;
}

/** Of an act that did not come through the redrive function. */
export const NO_REQUEST = 'none';

/** Who acted where only CloudTrail knows. */
export const UNATTRIBUTED = 'unattributed';

/** What an act is done to. */
export interface Subject {
  readonly units: readonly UnitId[];
  /** Digest of the selection that the units are from. */
  readonly selection?: string | undefined;
}

type Unhashed = Omit<AuditEntry, 'hash'>;

/** The hash that an entry must have; it covers the hash of the entry before it. */
export function auditHash(entry: Unhashed): string {
  const { number, act, actor, reason, requestId, units, selection, at, previousHash } = entry;
  const parts = [String(number), act, actor, reason, requestId, formatInstant(at), previousHash, selection ?? ''];
  return digestOf(['audit', ...parts, ...units]);
}

export function auditEntry(head: AuditHead, act: Act, { units, selection }: Subject, at: EpochMillis): AuditEntry {
  const unhashed: Unhashed = {
    ...act,
    number: head.count,
    units,
    ...(selection === undefined ? {} : { selection }),
    at,
    previousHash: head.hash,
  };
  return { ...unhashed, hash: auditHash(unhashed) };
}

export interface AuditPorts {
  readonly ledger: Ledger;
  readonly log: Log;
}

const APPEND_TRIES = 10;

/** Nothing can be appended to the trail: what the message names is in the way. */
export class JammedTrail extends Error {
  override readonly name = 'JammedTrail';
}

/** The head that a trail has now; undefined where there is no such run. A policy's trail begins with its first entry. */
export async function headOf(ledger: Ledger, scope: AuditScope): Promise<AuditHead | undefined> {
  if (scope.kind === 'run') return (await ledger.readRun(scope.runId))?.auditHead;
  return (await ledger.readControl(scope.policyId)).auditHead ?? NO_AUDIT;
}

export function scopeName(scope: AuditScope): string {
  return scope.kind === 'run' ? scope.runId : scope.policyId;
}

/**
 * Appends an act to a trail before the act takes effect. Another person's entry may come first; then the next number is
 * taken. An item that the head does not know may be in the way: the entry goes behind it, so that nothing put into a
 * trail can keep people from acting, and the trail no longer verifies. The hash also goes to the log: whoever can rewrite
 * the ledger cannot rewrite that.
 */
export async function audit(
  { ledger, log }: AuditPorts,
  scope: AuditScope,
  act: Act,
  subject: Subject,
  at: EpochMillis,
): Promise<AuditEntry> {
  let behind = 0;
  let end: Awaited<ReturnType<Ledger['appendAudit']>> = 'moved-on';
  for (let tries = 0; tries < APPEND_TRIES; tries += 1) {
    const head = await headOf(ledger, scope);
    if (head === undefined) throw new Error(`Run ${scopeName(scope)} is not in the ledger.`);
    const entry = auditEntry({ ...head, count: Math.max(head.count, behind) }, act, subject, at);
    end = await ledger.appendAudit(scope, entry, head.count);
    if (end === 'occupied') {
      behind = await endOf(ledger, scope);
      log.event('error', 'audit_foreign_entry', { scope: scopeName(scope), number: entry.number });
    }
    if (end !== 'appended') continue;
    const { number, hash, requestId } = entry;
    const units = subject.units.length;
    log.event('info', 'audit', { scope: scopeName(scope), number, act: act.act, requestId, units, hash });
    return entry;
  }
  const why =
    end === 'moved-on'
      ? 'others appended to it all the time: try again'
      : 'items that it does not know stand at its end: `sweep audit` names them';
  throw new JammedTrail(`Nothing could be appended to the audit trail of ${scopeName(scope)}: ${why}.`);
}

/** The number behind every item of a trail, known to its head or not. */
async function endOf(ledger: Ledger, scope: AuditScope): Promise<number> {
  let end = 0;
  for await (const { number } of everyItem((cursor) => ledger.auditTrail(scope, cursor))) {
    if (number >= end) end = number + 1;
  }
  return end;
}
