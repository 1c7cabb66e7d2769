import { type Command, InvalidArgumentError } from 'commander';
import { recentRuns } from '../../core/read/recent-runs.ts';
import { standingOf } from '../../core/reconcile/batches.ts';
import { type RunView, viewRun } from '../../core/views.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderRuns } from '../render/run.ts';
import { type Cli, defineAction, type Session } from '../session.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;

export function addRuns(program: Command, cli: Cli): void {
  const command = program
    .command('runs')
    .description("List the policy's runs, newest scheduled time first.")
    .option('--limit <n>', `runs to list, 1 to ${MAX_LIMIT}`, readLimit, DEFAULT_LIMIT);
  defineAction(command, cli, (session) => listRuns(session, command.opts<{ limit: number }>().limit));
}

function readLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_LIMIT}.`);
  return limit;
}

async function listRuns(session: Session, limit: number): Promise<ExitCode> {
  const { ledger, outputs } = await session.pipeline();
  const runs = await recentRuns(ledger, outputs.policyId, limit);
  const views: RunView[] = [];
  for (const run of runs) views.push(viewRun(run, await standingOf(ledger, run), session.world.clock.now()));
  if (views.length === 0) session.say(`Policy ${outputs.policyId} of stack ${outputs.stackName} has no runs yet.`);
  session.print(views, renderRuns);
  return EXIT.done;
}
