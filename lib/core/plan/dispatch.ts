import { NO_CHECKPOINT, type RunItem } from '../ledger/items.ts';
import type { Problem } from '../policy/parse.ts';
import type { Settings } from '../policy/settings.ts';
import { type Deadline, failureOf, type GrantProbe, type RecordSource } from '../ports/index.ts';
import { type PublishPorts, publishRun } from '../publish/publish.ts';
import { discover, type PlanPorts } from './discover.ts';
import { freeze } from './freeze.ts';
import { earlierRuns, expiredByUs } from './history.ts';
import { LEASE_MILLIS } from './lease.ts';
import { newRun, policyOf } from './new-run.ts';
import { type Preflight, preflight } from './preflight.ts';
import { type DispatchRequest, RefusedRequest } from './request.ts';

export interface DispatchPorts extends Omit<PlanPorts, 'source' | 'eligible'>, PublishPorts {
  /** The records of a policy as the run's own snapshot describes it. */
  readonly sourceFor: (run: Pick<RunItem, 'settings' | 'cutoff' | 'kind'>) => Promise<RecordSource>;
  readonly probe: GrantProbe;
  /** Makes the lease recognisable in the ledger, such as the invocation's request id. */
  readonly owner: string;
}

/**
 * How a dispatch ended. `dispatched`: the plan is reported or fully published. `refused`: nothing was published, and
 * `problems` says why; the same scheduled time may be tried again. `joined`: another attempt has done or is doing it.
 * `out-of-time`: saved, to be resumed. `lease-lost`: another dispatcher took over.
 */
export interface DispatchResult {
  readonly kind: 'dispatched' | 'refused' | 'joined' | 'out-of-time' | 'paused' | 'lease-lost';
  readonly runId: string;
  readonly status: RunItem['status'];
  readonly problems: readonly Problem[];
}

function result(kind: DispatchResult['kind'], run: RunItem): DispatchResult {
  return { kind, runId: run.runId, status: run.status, problems: run.refusals };
}

type Claim = { readonly kind: 'claimed' | 'joined'; readonly run: RunItem };

/** The run that is asked for; one that is only to go on is never made anew. */
async function runOf({ ledger, clock }: DispatchPorts, settings: Settings, request: DispatchRequest): Promise<RunItem> {
  const { runId } = request;
  if (runId === undefined) {
    const fresh = newRun(settings, request, clock.now());
    const created = await ledger.createRun(fresh);
    return created.kind === 'exists' ? created.run : fresh;
  }
  const run = await ledger.readRun(runId);
  if (run !== undefined && run.policyId === settings.policyId) return run;
  const message = `No run of this id is in the ledger. Received ${runId}.`;
  throw new RefusedRequest([{ parameter: 'runId', received: runId, message }]);
}

async function claim(ports: DispatchPorts, settings: Settings, request: DispatchRequest): Promise<Claim> {
  const { ledger, clock } = ports;
  const run = await runOf(ports, settings, request);
  if (run.status === 'refused' && request.runId !== undefined) return { kind: 'joined', run };
  if (run.status !== 'planning' && run.status !== 'publishing' && run.status !== 'refused') {
    return { kind: 'joined', run };
  }
  const now = clock.now();
  if (run.lease.until > now) return { kind: 'joined', run };
  const taken = await ledger.takeLease(run.runId, run.lease, ports.owner, now, now + LEASE_MILLIS);
  if (taken.kind === 'refused') return { kind: 'joined', run };
  return taken.run.status === 'refused' ? tryAgain(ports, settings, taken.run) : { kind: 'claimed', run: taken.run };
}

/** Nothing of a refused run was published, so it begins anew with the settings of now: the cause may be mended. */
async function tryAgain(ports: DispatchPorts, settings: Settings, run: RunItem): Promise<Claim> {
  const moved = await ports.ledger.moveRun(run.runId, 'retry', run.lease.epoch, {
    ...policyOf(settings, run.scheduledTime),
    checkpoint: NO_CHECKPOINT,
    refusals: [],
    notes: [],
  });
  return moved.kind === 'moved' ? { kind: 'claimed', run: moved.run } : { kind: 'joined', run };
}

async function giveBack(
  ports: DispatchPorts,
  run: RunItem,
  because: 'out-of-time' | 'paused' = 'out-of-time',
): Promise<DispatchResult> {
  const edge = run.status === 'planning' ? 'checkpoint' : 'advance';
  await ports.ledger.moveRun(run.runId, edge, run.lease.epoch, { leaseUntil: 0 });
  return result(because, run);
}

async function refuse(ports: DispatchPorts, run: RunItem, problems: readonly Problem[]): Promise<DispatchResult> {
  const moved = await ports.ledger.moveRun(run.runId, 'refuse', run.lease.epoch, { refusals: problems, leaseUntil: 0 });
  return moved.kind === 'moved' ? result('refused', moved.run) : result('lease-lost', run);
}

/** A deletion looks at every run that may have expired its records. */
const RUNS_TO_LOOK_AT = 5_000;

async function planPorts(ports: DispatchPorts, run: RunItem, source: RecordSource): Promise<PlanPorts> {
  if (run.kind !== 'delete') return { ...ports, source, eligible: () => true };
  const runs = await earlierRuns(ports.ledger, run, RUNS_TO_LOOK_AT);
  return { ...ports, source, eligible: expiredByUs(run.policyId, runs) };
}

/** Plans a run as far as time allows; gives the run to publish, or how the dispatch ended. */
async function plan(
  ports: DispatchPorts,
  run: RunItem,
  deadline: Deadline,
): Promise<
  { readonly kind: 'planned'; readonly run: RunItem } | { readonly kind: 'ended'; readonly as: DispatchResult }
> {
  const ended = (as: DispatchResult) => ({ kind: 'ended', as }) as const;
  const checked = await preflight(ports, run);
  if (checked.kind === 'refused') return ended(await refuse(ports, run, checked.problems));
  const planning = await planPorts(ports, run, checked.source);
  const discovered = await discover(planning, run, deadline);
  if (discovered.kind === 'lease-lost') return ended(result('lease-lost', run));
  if (discovered.kind === 'out-of-time') return ended(await giveBack(ports, discovered.run));
  const frozen = await freeze(planning, discovered.run);
  if (frozen.kind === 'lease-lost') return ended(result('lease-lost', run));
  if (frozen.kind === 'refused') return ended(result('refused', frozen.run));
  return { kind: 'planned', run: frozen.run };
}

/**
 * Creates the run of a scheduled time or joins the one that exists, and takes it as far as time allows: preflight,
 * discovery, freeze, publish. Resuming after a crash and going on after a timeout are this same path.
 */
export async function dispatch(
  ports: DispatchPorts,
  settings: Settings,
  request: DispatchRequest,
  deadline: Deadline,
): Promise<DispatchResult> {
  const claimed = await claim(ports, settings, request);
  if (claimed.kind === 'joined') return result('joined', claimed.run);
  try {
    return await carryOn(ports, claimed.run, deadline);
  } catch (error) {
    const refused = await refuseForGood(ports, claimed.run, error);
    if (refused?.kind === 'refused') return refused;
    await letGo(ports, claimed.run);
    throw error;
  }
}

/**
 * Planning that failed in a way no further try can mend, such as a missing right to read, is refused: else the
 * reconciler would start it again for ever. Undefined where it is no such failure, or the ledger does not take it.
 */
async function refuseForGood(ports: DispatchPorts, run: RunItem, error: unknown): Promise<DispatchResult | undefined> {
  const failure = failureOf(error);
  if (!(error instanceof Error) || failure.class !== 'permanent' || run.status !== 'planning') return undefined;
  const problem: Problem = {
    parameter: 'RecordTableName',
    received: run.settings.recordTableName,
    message: `Planning failed for good: ${error.message}. Nothing was published. Check table, index and the dispatcher's permissions. Received ${run.settings.recordTableName}.`,
  };
  try {
    return await refuse(ports, run, [problem]);
  } catch {
    return undefined;
  }
}

/** Gives the lease back after a failure, so that the next try need not wait for it to lapse; the failure counts. */
async function letGo(ports: DispatchPorts, run: RunItem): Promise<void> {
  try {
    // It may have come from planning to publishing before it failed.
    for (const edge of ['checkpoint', 'advance'] as const) {
      await ports.ledger.moveRun(run.runId, edge, run.lease.epoch, { leaseUntil: 0 });
    }
  } catch {
    // The lease lapses by itself.
  }
}

async function carryOn(ports: DispatchPorts, claimed: RunItem, deadline: Deadline): Promise<DispatchResult> {
  let run = claimed;
  if (run.status === 'planning') {
    const planned = await plan(ports, run, deadline);
    if (planned.kind === 'ended') return planned.as;
    run = planned.run;
  }
  if (run.status !== 'publishing') return result('dispatched', run);
  const published = await publishRun(ports, run, deadline);
  if (published.kind === 'lease-lost') return result('lease-lost', run);
  if (published.kind !== 'published') return giveBack(ports, published.run, published.kind);
  return result('dispatched', published.run);
}

/** Runs the preflight of a scheduled time alone: nothing is written, not even a run. */
export function checkOnly(ports: DispatchPorts, settings: Settings, request: DispatchRequest): Promise<Preflight> {
  return preflight(ports, policyOf(settings, request.scheduledTime));
}
