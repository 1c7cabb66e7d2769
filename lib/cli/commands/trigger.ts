import { type Command, Option } from 'commander';
import { type EpochMillis, formatInstant } from '../../core/identity/instant.ts';
import { runIdOf } from '../../core/identity/keys.ts';
import type { RunItem } from '../../core/ledger/items.ts';
import { RefusedRequest, readDispatchRequest } from '../../core/plan/request.ts';
import { standingOf } from '../../core/reconcile/reconcile.ts';
import { type RunView, type TriggerView, viewRun } from '../../core/views.ts';
import { assertConfirmable, confirm } from '../confirm.ts';
import { CliError, EXIT, type ExitCode } from '../exit.ts';
import { isOnItsWay, waitForPlan } from '../follow.ts';
import { renderTrigger } from '../render/run.ts';
import { type Cli, defineAction, type Session } from '../session.ts';
import type { Pipeline } from '../world.ts';

interface Options {
  readonly scheduledTime?: string;
  readonly now?: true;
  readonly yes?: true;
  readonly wait: boolean;
}

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
    .option('--yes', 'do not ask where the run will change records')
    .option('--no-wait', 'return when the dispatcher is started');
  defineAction(command, cli, (session) => trigger(session, command.opts<Options>()));
}

async function trigger(session: Session, options: Options): Promise<ExitCode> {
  const scheduledTime = readScheduledTime(options, session.world.clock.now());
  const pipeline = await session.pipeline();
  const { policyId, policyVersion, dispatcherFunctionName } = pipeline.outputs;
  const runId = runIdOf(policyId, policyVersion, scheduledTime);
  const existing = await pipeline.ledger.readRun(runId);
  if (!options.yes) await confirmEnforcement(session, pipeline, runId, existing);
  const startedBy = await pipeline.caller();
  const started = { runId, scheduledTime: formatInstant(scheduledTime), startedBy };
  const event = { scheduledTime: started.scheduledTime, startedBy };
  await pipeline.functions.start(dispatcherFunctionName, event);
  session.say(existing === undefined ? `Started run ${runId}.` : `Run ${runId} exists (${existing.status}): joined.`);
  if (!options.wait) return finish(session, { ...started, run: null });
  const run = await waitForPlan(session, pipeline, runId);
  return finish(session, { ...started, run: viewRun(run, await standingOf(pipeline.ledger, run)) });
}

function readScheduledTime({ scheduledTime, now }: Options, millis: EpochMillis): EpochMillis {
  if (now) return Math.floor(millis / 1000) * 1000;
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
  const changesNothing = existing !== undefined && !isOnItsWay(existing);
  if (changesNothing || (existing?.settings.mode ?? outputs.mode) !== 'enforce') return;
  assertConfirmable(session, 'A run that changes records');
  const { recordTableName, policyId, policyVersion } = outputs;
  const what = `Run ${runId} changes the records of table ${recordTableName}`;
  await confirm(session, `${what} that policy ${policyId}, version ${policyVersion}, finds due: its mode is enforce.`);
}

function finish(session: Session, view: TriggerView): ExitCode {
  session.print(view, renderTrigger);
  return view.run === null ? EXIT.done : exitOf(view.run);
}

function exitOf({ status }: RunView): ExitCode {
  return status === 'refused' ? EXIT.refused : EXIT.done;
}
