import pMap from 'p-map';
import { addCost } from '../cost/cost.ts';
import { quoteOf, RECORDS_PER_TARGET_CALL } from '../cost/quote.ts';
import { type DigestChain, EMPTY_CHAIN, extendChain } from '../identity/digests.ts';
import type { PlanTotals, RunItem, RunNote } from '../ledger/items.ts';
import type { Problem } from '../policy/parse.ts';
import { capProblems, historyNotes, unreadableProblems } from './caps.ts';
import type { PlanPorts } from './discover.ts';
import { earlierRuns } from './history.ts';
import { digestOfSlice } from './open-slices.ts';
import { versionProblem } from './preflight.ts';
import { RunningTally } from './tally.ts';

/** The slices in the ledger are not what discovery counted: nothing may be published from them. */
export class PlanMismatch extends Error {
  constructor(runId: string, what: string) {
    super(`Run ${runId}: ${what}. Nothing was published.`);
    this.name = 'PlanMismatch';
  }
}

const PUTS_AT_ONCE = 8;

async function readTallies(ports: PlanPorts, run: RunItem): Promise<RunningTally> {
  const sum = new RunningTally();
  let next = 0;
  while (next < run.checkpoint.nextTally) {
    const page = await ports.ledger.tallies(run.runId, next, run.checkpoint.nextTally);
    for (const tally of page) {
      if (tally.number !== next) break;
      sum.merge(tally);
      next += 1;
    }
    if (page[0] === undefined || next === page[0].number) throw new PlanMismatch(run.runId, `tally ${next} is missing`);
  }
  return sum;
}

type Frozen = DigestChain & { readonly quotedWriteUnits: number };

async function readSlices(
  ports: PlanPorts,
  run: RunItem,
): Promise<{ readonly frozen: Frozen; readonly targetCalls: number }> {
  const { nextOrdinal } = run.checkpoint;
  let chain = EMPTY_CHAIN;
  let quotedWriteUnits = 0;
  let targetCalls = 0;
  while (chain.batches < nextOrdinal) {
    const page = await ports.ledger.slices(run.runId, chain.batches, nextOrdinal);
    if (page.length === 0) throw new PlanMismatch(run.runId, `slice ${chain.batches} is missing`);
    for (const slice of page) {
      if (slice.ordinal !== chain.batches) throw new PlanMismatch(run.runId, `slice ${chain.batches} is missing`);
      if (digestOfSlice(slice) !== slice.digest) {
        throw new PlanMismatch(run.runId, `slice ${slice.ordinal} does not match its digest`);
      }
      chain = extendChain(chain, slice.entries.length, slice.keysDigest);
      targetCalls += Math.ceil(slice.entries.length / RECORDS_PER_TARGET_CALL);
      quotedWriteUnits += slice.entries.reduce((sum, entry) => sum + entry.writeUnits, 0);
    }
  }
  return { frozen: { ...chain, quotedWriteUnits }, targetCalls };
}

export type FreezeEnd =
  | { readonly kind: 'frozen' | 'refused'; readonly run: RunItem }
  | { readonly kind: 'lease-lost' };

/** Earlier runs that a plan is compared with. */
const RUNS_TO_COMPARE = 20;

interface Judged {
  readonly refusals: readonly Problem[];
  readonly notes: readonly RunNote[];
}

/** What speaks against the plan. In report-only a cap stops nothing: the report is there to show it. */
async function judgePlan(ports: PlanPorts, run: RunItem, plan: PlanTotals): Promise<Judged> {
  const earlier = await earlierRuns(ports.ledger, run, RUNS_TO_COMPARE);
  const notes = historyNotes(plan, run, earlier);
  const caps = capProblems(plan, run, earlier);
  const unreadable = unreadableProblems(plan, run.settings);
  if (run.settings.mode !== 'report-only') return { refusals: [...unreadable, ...caps], notes };
  const would = caps.map(({ message }): RunNote => ({ note: 'cap_would_refuse', message }));
  return { refusals: unreadable, notes: [...notes, ...would] };
}

/**
 * Freezes the plan: reads the slices below the checkpoint back, digests those, and writes the totals with the status.
 * From here on the plan never changes. A plan that trips a cap is refused instead, with its totals to look at.
 */
export async function freeze(ports: PlanPorts, run: RunItem): Promise<FreezeEnd> {
  const { ledger, clock } = ports;
  const tally = await readTallies(ports, run);
  const { discovered, held, planned, overLimit, oldest } = tally.total();
  const { frozen, targetCalls } = await readSlices(ports, run);
  if (frozen.records !== planned) {
    throw new PlanMismatch(run.runId, `the slices hold ${frozen.records} records where discovery counted ${planned}`);
  }
  const writes = await pMap(
    tally.tenants(),
    ([tenant, counts]) => ledger.putTenant({ ...counts, runId: run.runId, tenant, epoch: run.lease.epoch }),
    { concurrency: PUTS_AT_ONCE },
  );
  if (!writes.every((write) => write === 'written')) return { kind: 'lease-lost' };
  const plan: PlanTotals = {
    ...frozen,
    discovered,
    held,
    overLimit,
    examined: ports.source.seesAll ? tally.examined : null,
    unreadable: ports.source.seesUnreadable ? tally.unreadable() : null,
    tenants: tally.tenantCount,
    oldest,
  };
  const judged = await judgePlan(ports, run, plan);
  if (judged.refusals.length > 0) return refusePlan(ports, run, plan, judged);
  const { policyId, policyVersion } = run;
  if ((await ledger.claimVersion(policyId, policyVersion, run.policyDigest)) === 'other') {
    return refusePlan(ports, run, plan, { ...judged, refusals: [versionProblem(run.settings)] });
  }
  const edge = run.settings.mode === 'report-only' ? 'report' : 'freeze';
  const cost = addCost(run.cost, ports.meter.take());
  const rate = run.settings.recordsPerSecond === null ? 'unlimited' : 'paced';
  const size = { batches: plan.batches, targetCalls, recordWriteUnits: plan.quotedWriteUnits, rate } as const;
  const moved = await ledger.moveRun(run.runId, edge, run.lease.epoch, {
    plan,
    quote: quoteOf(size, cost),
    notes: judged.notes,
    frozenAt: clock.now(),
    published: EMPTY_CHAIN,
    ...(edge === 'report' ? { leaseUntil: 0 } : {}),
    cost,
  });
  return moved.kind === 'moved' ? { kind: 'frozen', run: moved.run } : { kind: 'lease-lost' };
}

async function refusePlan(ports: PlanPorts, run: RunItem, plan: PlanTotals, judged: Judged): Promise<FreezeEnd> {
  const moved = await ports.ledger.moveRun(run.runId, 'refuse', run.lease.epoch, {
    ...judged,
    plan,
    leaseUntil: 0,
    cost: addCost(run.cost, ports.meter.take()),
  });
  return moved.kind === 'moved' ? { kind: 'refused', run: moved.run } : { kind: 'lease-lost' };
}
