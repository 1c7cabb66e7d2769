import { digestOf } from '../identity/encode.ts';
import { type EpochMillis, formatInstant } from '../identity/instant.ts';
import type { UnitId } from '../identity/keys.ts';
import type { AuditEntry, AuditHead } from '../ledger/items.ts';
import type { Ledger } from '../ports/index.ts';

/** Who does something and why; both are required of every act. */
export interface Act {
  readonly act: 'redrive';
  readonly actor: string;
  readonly reason: string;
  /** Of the invocation, so that CloudTrail can confirm it. */
  readonly requestId: string;
}

type Unhashed = Omit<AuditEntry, 'hash'>;

/** The hash that an entry must have; it covers the hash of the entry before it. */
export function auditHash(entry: Unhashed): string {
  const { number, act, actor, reason, requestId, units, at, previousHash } = entry;
  return digestOf(['audit', String(number), act, actor, reason, requestId, formatInstant(at), previousHash, ...units]);
}

export function auditEntry(head: AuditHead, act: Act, units: readonly UnitId[], at: EpochMillis): AuditEntry {
  const unhashed: Unhashed = { ...act, number: head.count, units, at, previousHash: head.hash };
  return { ...unhashed, hash: auditHash(unhashed) };
}

const APPEND_TRIES = 10;

/**
 * Appends an act to a run's trail before the act takes effect. Another person's entry may come first; then the next
 * number is taken.
 */
export async function auditOnRun(
  ledger: Ledger,
  runId: string,
  act: Act,
  units: readonly UnitId[],
  at: EpochMillis,
): Promise<void> {
  for (let tries = 0; tries < APPEND_TRIES; tries += 1) {
    const run = await ledger.readRun(runId);
    if (run === undefined) throw new Error(`Run ${runId} is not in the ledger.`);
    const entry = auditEntry(run.auditHead, act, units, at);
    if ((await ledger.appendAudit({ kind: 'run', runId }, entry)) === 'appended') return;
  }
  throw new Error(`The audit trail of run ${runId} moved on ${APPEND_TRIES} times; try again.`);
}
