import type { RunItem } from '../ledger/items.ts';
import type { Settings } from '../policy/settings.ts';
import type { Deadline, RecordSource } from '../ports/index.ts';
import { type PublishPorts, publishRun } from '../publish/publish.ts';
import { discover, type PlanPorts } from './discover.ts';
import { freeze } from './freeze.ts';
import { LEASE_MILLIS } from './lease.ts';
import { newRun } from './new-run.ts';
import type { DispatchRequest } from './request.ts';

export interface DispatchPorts extends Omit<PlanPorts, 'source'>, PublishPorts {
  /** The records of a policy as the run's own snapshot describes it. */
  readonly sourceFor: (run: Pick<RunItem, 'settings' | 'cutoff'>) => Promise<RecordSource>;
  /** Makes the lease recognisable in the ledger, such as the invocation's request id. */
  readonly owner: string;
}

/**
 * How a dispatch ended. `dispatched`: the plan is reported or fully published. `joined`: another attempt has done or
 * is doing it. `out-of-time`: saved, to be resumed. `lease-lost`: another dispatcher took over.
 */
export interface DispatchResult {
  readonly kind: 'dispatched' | 'joined' | 'out-of-time' | 'lease-lost';
  readonly runId: string;
  readonly status: RunItem['status'];
}

type Claim =
  | { readonly kind: 'claimed'; readonly run: RunItem }
  | { readonly kind: 'joined'; readonly runId: string; readonly status: RunItem['status'] };

async function claim(ports: DispatchPorts, settings: Settings, request: DispatchRequest): Promise<Claim> {
  const { ledger, clock } = ports;
  const fresh = newRun(settings, request, clock.now());
  const created = await ledger.createRun(fresh);
  const run = created.kind === 'exists' ? created.run : fresh;
  const joined = { kind: 'joined', runId: run.runId, status: run.status } as const;
  if (run.status !== 'planning' && run.status !== 'publishing') return joined;
  const now = clock.now();
  if (run.lease.until > now) return joined;
  const taken = await ledger.takeLease(run.runId, run.lease, ports.owner, now, now + LEASE_MILLIS);
  return taken.kind === 'moved' ? { kind: 'claimed', run: taken.run } : joined;
}

async function giveBack(ports: DispatchPorts, run: RunItem): Promise<DispatchResult> {
  const edge = run.status === 'planning' ? 'checkpoint' : 'advance';
  await ports.ledger.moveRun(run.runId, edge, run.lease.epoch, { leaseUntil: 0 });
  return { kind: 'out-of-time', runId: run.runId, status: run.status };
}

/**
 * Creates the run of a scheduled time or joins the one that exists, and takes it as far as time allows: discovery,
 * freeze, publish. Resuming after a crash and going on after a timeout are this same path.
 */
export async function dispatch(
  ports: DispatchPorts,
  settings: Settings,
  request: DispatchRequest,
  deadline: Deadline,
): Promise<DispatchResult> {
  const claimed = await claim(ports, settings, request);
  if (claimed.kind === 'joined') return claimed;
  let run = claimed.run;
  const lost: DispatchResult = { kind: 'lease-lost', runId: run.runId, status: run.status };
  if (run.status === 'planning') {
    const planning = { ...ports, source: await ports.sourceFor(run) };
    const discovered = await discover(planning, run, deadline);
    if (discovered.kind === 'lease-lost') return lost;
    if (discovered.kind === 'out-of-time') return giveBack(ports, discovered.run);
    const frozen = await freeze(planning, discovered.run);
    if (frozen === undefined) return lost;
    run = frozen;
  }
  if (run.status === 'publishing') {
    const published = await publishRun(ports, run, deadline);
    if (published.kind === 'lease-lost') return lost;
    if (published.kind === 'out-of-time') return giveBack(ports, published.run);
    run = published.run;
  }
  return { kind: 'dispatched', runId: run.runId, status: run.status };
}
