import { type EpochMillis, formatInstant } from '../core/identity/instant.ts';
import type { RunItem } from '../core/ledger/items.ts';
import type { Ledger } from '../core/ports/ledger.ts';
import { CliError, EXIT } from './exit.ts';
import type { PipelineOutputs } from './outputs.ts';
import type { Session } from './session.ts';
import type { Pipeline } from './world.ts';

const POLL_MILLIS = 2_000;
/** A dispatcher makes its run within seconds; where none is made in this time, it refused or failed. */
const APPEAR_MILLIS = 2 * 60_000;
/** Two full invocations of the dispatcher and the reconciler's pass between them. */
const PLANNED_MILLIS = 40 * 60_000;

/** True while a dispatcher has work to do for the run. */
export function isOnItsWay({ status }: RunItem): boolean {
  return status === 'planning' || status === 'publishing';
}

/**
 * Waits until planning and publishing are over, saying how far they are. `before` is the run as it was when the
 * dispatcher was started: a refused one counts only when it has been tried again. Throws a CliError where it takes too
 * long.
 */
export async function waitForPlan(
  session: Session,
  { ledger, outputs }: Pipeline,
  runId: string,
  before: RunItem | undefined,
): Promise<RunItem> {
  const { clock } = session.world;
  const start = clock.now();
  let said = '';
  let begun = before !== undefined && before.status !== 'refused';
  for (;;) {
    const run = await ledger.readRun(runId);
    begun ||= isBegun(run, before);
    if (run !== undefined && begun && !isOnItsWay(run) && !isTakenUp(run, clock.now())) return run;
    if (begun && run?.status === 'publishing' && (await isHeldBack(session, ledger, run))) return run;
    const waited = clock.now() - start;
    if (!begun && waited >= APPEAR_MILLIS) throw neverBegun(runId, outputs, run);
    if (waited >= PLANNED_MILLIS) throw stillOnItsWay(runId, outputs.stackName);
    const progress = describeProgress(begun ? run : undefined);
    if (progress !== said) session.say(progress);
    said = progress;
    await clock.sleep(POLL_MILLIS);
  }
}

/** A paused policy publishes nothing, for days if need be: nobody is to wait for that. */
async function isHeldBack(session: Session, ledger: Ledger, { policyId }: RunItem): Promise<boolean> {
  const { pause } = await ledger.readControl(policyId);
  if (pause === undefined) return false;
  const since = formatInstant(pause.at);
  session.say(
    `The policy is paused since ${since} by ${pause.actor}: the run is planned, and sent once it is resumed.`,
  );
  return true;
}

/** True where a dispatcher has made the run, or taken up again the one that was refused. */
function isBegun(run: RunItem | undefined, before: RunItem | undefined): boolean {
  if (run === undefined || before === undefined) return run !== undefined;
  return run.status !== 'refused' || run.lease.epoch > before.lease.epoch;
}

/** A refused run under a lease is about to be tried again. */
function isTakenUp({ status, lease }: RunItem, now: EpochMillis): boolean {
  return status === 'refused' && lease.until > now;
}

function describeProgress(run: RunItem | undefined): string {
  if (run === undefined) return 'waiting for the dispatcher';
  const { status, plan, published, checkpoint } = run;
  return status === 'planning'
    ? `planning: ${checkpoint.nextOrdinal} batches saved`
    : `publishing: ${published?.batches ?? 0} of ${plan?.batches ?? 0} batches sent`;
}

function neverBegun(runId: string, outputs: PipelineOutputs, run: RunItem | undefined): CliError {
  const { dispatcherFunctionName, stackName } = outputs;
  const what = run === undefined ? 'made' : 'tried again';
  return new CliError(
    EXIT.failed,
    `Run ${runId} was not ${what} within ${APPEAR_MILLIS / 60_000} minutes: the dispatcher refused its configuration or ` +
      `failed. The log of function ${dispatcherFunctionName} says why, and for a configuration so does: ` +
      `sweep trigger --preflight --stack ${stackName}`,
  );
}

function stillOnItsWay(runId: string, stackName: string): CliError {
  return new CliError(
    EXIT.partly,
    `Run ${runId} is still being planned after ${PLANNED_MILLIS / 60_000} minutes. ` +
      `It goes on by itself; look at it with: sweep show ${runId} --stack ${stackName}`,
  );
}
