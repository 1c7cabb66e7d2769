import type { EpochMillis } from '../identity/instant.ts';
import { operationKey } from '../identity/keys.ts';
import type { RunItem } from '../ledger/items.ts';
import type { DiscoveredRecord, Ledger } from '../ports/index.ts';

/** An earlier run of the policy, as far as a later one looks at it. */
export type EarlierRun = Pick<
  RunItem,
  'runId' | 'policyVersion' | 'scheduledTime' | 'cutoff' | 'kind' | 'status' | 'createdAt'
> & {
  readonly closedAt: EpochMillis | undefined;
  readonly planned: number;
  readonly examined: number | null;
};

const IDS_PER_PAGE = 100;

function summary(run: RunItem): EarlierRun {
  const { runId, policyVersion, scheduledTime, cutoff, kind, status, createdAt, plan, closing } = run;
  return {
    runId,
    policyVersion,
    scheduledTime,
    cutoff,
    kind,
    status,
    createdAt,
    closedAt: closing?.closedAt,
    planned: (plan?.records ?? 0) + (plan?.overLimit ?? 0),
    examined: plan?.examined ?? null,
  };
}

/** The policy's runs of an earlier scheduled time, newest first, at most `most`; those without a frozen plan left out. */
export async function earlierRuns(
  ledger: Ledger,
  run: Pick<RunItem, 'policyId' | 'scheduledTime'>,
  most: number,
): Promise<readonly EarlierRun[]> {
  const earlier: EarlierRun[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.runIds(run.policyId, IDS_PER_PAGE, cursor);
    for (const runId of page.items) {
      const found = await ledger.readRun(runId);
      if (found === undefined || found.scheduledTime >= run.scheduledTime || found.frozenAt === undefined) continue;
      earlier.push(summary(found));
      if (earlier.length >= most) return earlier;
    }
    cursor = page.next;
  } while (cursor !== undefined);
  return earlier;
}

/** A host's clock may be off by so much when it writes the time of expiry. */
const CLOCK_TOLERANCE_MILLIS = 15 * 60_000;

/**
 * Tells whether a record was expired by one of these runs: it carries the operation key that the run gave it. Only runs
 * that were at work at the record's time of expiry are tried.
 */
export function expiredByUs(policyId: string, runs: readonly EarlierRun[]): (record: DiscoveredRecord) => boolean {
  const expiring = runs.filter((run) => run.kind === 'expire');
  return ({ key, operationKey: carried, timestamp }) => {
    if (carried === undefined || timestamp.kind === 'unreadable') return false;
    const at = timestamp.millis;
    return expiring.some(
      ({ policyVersion, cutoff, createdAt, closedAt }) =>
        at >= createdAt - CLOCK_TOLERANCE_MILLIS &&
        at <= (closedAt ?? Number.POSITIVE_INFINITY) + CLOCK_TOLERANCE_MILLIS &&
        operationKey({ policyId, policyVersion, recordKey: key, cutoff, kind: 'expire' }) === carried,
    );
  };
}
