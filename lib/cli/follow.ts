import type { RunItem } from '../core/ledger/items.ts';
import { CliError, EXIT } from './exit.ts';
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

/** Waits until planning and publishing are over, saying how far they are. Throws a CliError where it takes too long. */
export async function waitForPlan(session: Session, { ledger, outputs }: Pipeline, runId: string): Promise<RunItem> {
  const { clock } = session.world;
  const start = clock.now();
  let said = '';
  for (;;) {
    const run = await ledger.readRun(runId);
    if (run !== undefined && !isOnItsWay(run)) return run;
    const waited = clock.now() - start;
    if (run === undefined && waited >= APPEAR_MILLIS) throw neverMade(runId, outputs.dispatcherFunctionName);
    if (waited >= PLANNED_MILLIS) throw stillOnItsWay(runId, outputs.stackName);
    const progress = describeProgress(run);
    if (progress !== said) session.say(progress);
    said = progress;
    await clock.sleep(POLL_MILLIS);
  }
}

function describeProgress(run: RunItem | undefined): string {
  if (run === undefined) return 'waiting for the dispatcher';
  const { status, plan, published, checkpoint } = run;
  return status === 'planning'
    ? `planning: ${checkpoint.nextOrdinal} batches saved`
    : `publishing: ${published?.batches ?? 0} of ${plan?.batches ?? 0} batches sent`;
}

function neverMade(runId: string, dispatcher: string): CliError {
  return new CliError(
    EXIT.failed,
    `Run ${runId} was not made within ${APPEAR_MILLIS / 60_000} minutes: the dispatcher refused its configuration or ` +
      `failed. The log of function ${dispatcher} says why.`,
  );
}

function stillOnItsWay(runId: string, stackName: string): CliError {
  return new CliError(
    EXIT.partly,
    `Run ${runId} is still being planned after ${PLANNED_MILLIS / 60_000} minutes. ` +
      `It goes on by itself; look at it with: sweep show ${runId} --stack ${stackName}`,
  );
}
