import pMap from 'p-map';
import type { UnitItem } from '../ledger/items.ts';
import { RUN_EDGES, type UnitState } from '../ledger/lifecycle.ts';
import { RefusedRequest } from '../plan/request.ts';
import { everyItem } from '../read/pages.ts';
import { audit } from './audit.ts';
import { sayReceived } from './received.ts';
import type { Named } from './request.ts';
import type { TendPorts } from './tend.ts';
import type { CancelView } from './views.ts';

const MOVES_AT_ONCE = 8;

function refuse(run: string, message: string): never {
  const received = sayReceived(run);
  throw new RefusedRequest([{ parameter: 'run', received, message: `${message} Received ${received}.` }]);
}

/** Units that nobody has in hand; the others are closed by their consumers, for as long as those can be at work. */
const NOT_IN_HAND: readonly UnitState[] = ['planned', 'published'];

/** Closes the units of a cancelled run that stand in one of these states. Returns how many. */
export async function closeUnits(
  ports: Pick<TendPorts, 'ledger' | 'clock'>,
  runId: string,
  states = NOT_IN_HAND,
): Promise<number> {
  const close = async (unit: UnitItem): Promise<number> => {
    const now = ports.clock.now();
    const { generation, attempts } = unit;
    const reason = unit.startedAt === undefined ? 'cancelled' : 'cancelled_after_start';
    const change = { since: now, finishedAt: now, reason };
    return (await ports.ledger.moveUnit(unit, 'cancel', { generation, attempts }, change)).kind === 'moved' ? 1 : 0;
  };
  let closed = 0;
  let page: UnitItem[] = [];
  const flush = async () => {
    const done = await pMap(page, close, { concurrency: MOVES_AT_ONCE });
    closed += done.reduce((sum, one) => sum + one, 0);
    page = [];
  };
  for await (const unit of everyItem((cursor) => ports.ledger.units(runId, cursor))) {
    if (states.includes(unit.state)) page.push(unit);
    if (page.length >= 100) await flush();
  }
  await flush();
  return closed;
}

/**
 * Cancels a run: what is finished stays, what is under way stops before its next target call, what was not started
 * never is. Done again, it closes what an earlier call did not come to.
 */
export async function cancel(
  ports: TendPorts,
  { actor, reason, run: runId }: Named & { readonly run: string },
  requestId: string,
): Promise<CancelView> {
  const { ledger, clock, policyId } = ports;
  const run = await ledger.readRun(runId);
  if (run === undefined || run.policyId !== policyId) return refuse(runId, 'No run of this id is in the ledger.');
  if (run.status === 'cancelled') {
    return { act: 'cancel', runId, result: 'already', closedUnits: await closeUnits(ports, runId) };
  }
  const from: readonly string[] = RUN_EDGES.cancel.from;
  if (!from.includes(run.status)) {
    return refuse(runId, `The run is ${run.status}: only a run that is ${from.join(', ')} can be cancelled.`);
  }
  const act = { act: 'cancel', actor, reason, requestId } as const;
  await audit(ports, { kind: 'run', runId }, act, { units: [] }, clock.now());
  const now = clock.now();
  const moved = await ledger.moveRun(runId, 'cancel', undefined, { cancelledAt: now, leaseUntil: 0 });
  if (moved.run?.status !== 'cancelled') {
    return refuse(runId, `The run is ${moved.run?.status ?? 'gone'} by now and was not cancelled.`);
  }
  ports.log.event('warn', 'run_cancelled', { runId, requestId });
  return { act: 'cancel', runId, result: 'done', closedUnits: await closeUnits(ports, runId) };
}
