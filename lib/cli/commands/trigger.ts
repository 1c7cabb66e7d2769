import { type Command, Option } from 'commander';
import { type EpochMillis, formatInstant } from '../../core/identity/instant.ts';
import { runIdOf } from '../../core/identity/keys.ts';
import type { RunItem } from '../../core/ledger/items.ts';
import { RefusedRequest, readDispatchRequest } from '../../core/plan/request.ts';
import { standingOf } from '../../core/reconcile/batches.ts';
import { type RunView, type TriggerView, viewRun } from '../../core/views.ts';
import { checkOnly } from '../check-only.ts';
import { assertConfirmable, confirm } from '../confirm.ts';
import { CliError, EXIT, type ExitCode } from '../exit.ts';
import { isOnItsWay, waitForPlan } from '../follow.ts';
import { renderTrigger } from '../render/run.ts';
import { type Cli, defineAction, type Session } from '../session.ts';
import type { Pipeline } from '../world.ts';

interface Options {
  readonly scheduledTime?: string;
  readonly now?: true;
  readonly preflight?: true;
  readonly yes?: true;
  readonly wait: boolean;
}

const REFUSED_HELP = `
A run that is refused has changed nothing and published nothing. When the cause is mended, trigger the same scheduled
time again.`;

export function addTrigger(program: Command, cli: Cli): void {
  const command = program
    .command('trigger')
    .description('Start the run of a scheduled time, or join it where it exists, and wait until it is planned.')
    .addOption(
      new Option('--scheduled-time <instant>', 'time that the run counts from, like 2026-01-01T00:00:00Z').conflicts(
        'now',
      ),
    )
    .option('--now', 'count from this second')
    .option('--preflight', 'start nothing: only say what a run of that time, or of now, would be refused for')
    .option('--yes', 'do not ask where the run will change records')
    .option('--no-wait', 'return when the dispatcher is started')
    .addHelpText('after', REFUSED_HELP);
  defineAction(command, cli, (session) => trigger(session, command.opts<Options>()));
}

async function trigger(session: Session, options: Options): Promise<ExitCode> {
  const scheduledTime = readScheduledTime(options, session.world.clock.now());
  const pipeline = await session.pipeline();
  const { policyId, policyVersion, dispatcherFunctionName } = pipeline.outputs;
  const runId = runIdOf(policyId, policyVersion, scheduledTime);
  if (options.preflight) return checkOnly(session, pipeline, { runId, scheduledTime });
  const existing = await pipeline.ledger.readRun(runId);
  const startedBy = await pipeline.caller();
  const started = { runId, scheduledTime: formatInstant(scheduledTime), startedBy };
  if (existing?.status === 'cancelled') {
    return finish(session, { ...started, run: await viewed(session, pipeline, existing) });
  }
  if (!options.yes) await confirmEnforcement(session, pipeline, runId, existing);
  const event = { scheduledTime: started.scheduledTime, startedBy };
  await pipeline.functions.start(dispatcherFunctionName, event);
  session.say(sayStarted(runId, existing));
  if (!options.wait) return finish(session, { ...started, run: null });
  const run = await waitForPlan(session, pipeline, runId, existing);
  return finish(session, { ...started, run: await viewed(session, pipeline, run) });
}

async function viewed(session: Session, { ledger }: Pipeline, run: RunItem): Promise<RunView> {
  return viewRun(run, await standingOf(ledger, run), session.world.clock.now());
}

function sayStarted(runId: string, existing: RunItem | undefined): string {
  if (existing === undefined) return `Started run ${runId}.`;
  const what = existing.status === 'refused' ? 'is tried again' : 'joined';
  return `Run ${runId} exists (${existing.status}): ${what}.`;
}

function readScheduledTime({ scheduledTime, now, preflight }: Options, millis: EpochMillis): EpochMillis {
  if (now || (preflight && scheduledTime === undefined)) return Math.floor(millis / 1000) * 1000;
  if (scheduledTime === undefined) {
    throw new CliError(EXIT.usage, 'Say which run: --scheduled-time 2026-01-01T00:00:00Z (UTC), or --now.');
  }
  try {
    return readDispatchRequest({ scheduledTime }, millis).scheduledTime;
  } catch (error) {
    if (error instanceof RefusedRequest) throw new CliError(EXIT.usage, error.message, error);
    throw error;
  }
}

async function confirmEnforcement(
  session: Session,
  { outputs }: Pipeline,
  runId: string,
  existing: RunItem | undefined,
): Promise<void> {
  // A refused run begins anew, with the settings of now.
  const going = existing?.status === 'refused' ? undefined : existing;
  const changesNothing = going !== undefined && !isOnItsWay(going);
  if (changesNothing || (going?.settings.mode ?? outputs.mode) !== 'enforce') return;
  const action = going?.settings.action ?? outputs.action;
  const does = action === 'delete' ? 'deletes' : 'changes';
  assertConfirmable(session, `A run that ${does} records`);
  const { recordTableName, policyId, policyVersion } = outputs;
  const what = `Run ${runId} ${does} the records of table ${recordTableName}`;
  await confirm(session, `${what} that policy ${policyId}, version ${policyVersion}, finds due: its mode is enforce.`);
}

function finish(session: Session, view: TriggerView): ExitCode {
  session.print(view, renderTrigger);
  const { run } = view;
  if (run?.status !== 'refused' && run?.status !== 'cancelled') return EXIT.done;
  session.say(run.status === 'refused' ? sayRefused(run) : CANCELLED);
  return EXIT.refused;
}

const CANCELLED =
  'The run was cancelled and does not come back: the next scheduled time finds what it left, unless a window is set. ' +
  'To start another now: sweep trigger --now.';

function sayRefused({ scheduledTime }: RunView): string {
  return (
    'The run is refused: nothing was published, nothing was changed. ' +
    `Mend what it says and trigger ${scheduledTime} again: the same scheduled time may be tried until it is not refused.`
  );
}
