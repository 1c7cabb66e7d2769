import type { Command } from 'commander';
import type { QuarantineList, RedriveResult } from '../../core/redrive/redrive.ts';
import { askRedrive } from '../answers.ts';
import { assertConfirmable, confirm } from '../confirm.ts';
import { CliError, EXIT, type ExitCode } from '../exit.ts';
import { renderQuarantine, renderRedrive } from '../render/quarantine.ts';
import { type Cli, defineAction, type Session } from '../session.ts';
import type { Pipeline } from '../world.ts';

interface Options {
  readonly all: true;
  readonly reason?: string;
  readonly yes?: true;
  readonly dryRun?: true;
}

export function addRedrive(program: Command, cli: Cli): void {
  const command = program
    .command('redrive')
    .description('Bring quarantined units back. You and your reason go into the audit trail first.')
    .requiredOption('--all', 'everything that is quarantined')
    .option('--reason <text>', 'why, for the audit trail')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only list what would come back');
  defineAction(command, cli, (session) => redrive(session, command.opts<Options>()));
}

async function redrive(session: Session, { reason = '', yes, dryRun }: Options): Promise<ExitCode> {
  if (!dryRun && reason.trim() === '') throw new CliError(EXIT.usage, 'A redrive needs a reason: --reason "…".');
  if (!dryRun && !yes) assertConfirmable(session, 'A redrive');
  const pipeline = await session.pipeline();
  if (dryRun) return listOnly(session, pipeline);
  if (!yes) await showAndConfirm(session, pipeline);
  const actor = await pipeline.caller();
  const result = await askRedrive<RedriveResult>(pipeline, { act: 'redrive', actor, reason, all: true });
  session.print(result, renderRedrive);
  return judge(session, result);
}

async function listOnly(session: Session, pipeline: Pipeline): Promise<ExitCode> {
  const list = await askRedrive<QuarantineList>(pipeline, { act: 'list' });
  session.print(list, renderQuarantine);
  return isEmpty(list) ? EXIT.nothing : EXIT.done;
}

async function showAndConfirm(session: Session, pipeline: Pipeline): Promise<void> {
  const list = await askRedrive<QuarantineList>(pipeline, { act: 'list' });
  if (isEmpty(list)) throw new CliError(EXIT.nothing, 'Nothing is quarantined: there is nothing to redrive.');
  session.say(renderQuarantine(list).trimEnd());
  await confirm(session, 'All of this comes back and is tried again.');
}

/** True where no unit and no message would move. */
function isEmpty({ units, deadLetters: { quarantined, movedByQueue, stale } }: QuarantineList): boolean {
  return units.length + quarantined + movedByQueue + stale === 0;
}

function judge(session: Session, { redriven, deleted, published, left, truncated }: RedriveResult): ExitCode {
  if (truncated) session.say('There is more: run it again.');
  if (left > 0) session.say(`${left} messages stay in the dead-letter queue: see \`sweep quarantine\`.`);
  const unsent = published < redriven.length;
  if (unsent) session.say('Not all of it is in the work queue yet: the reconciler sends the rest.');
  if (redriven.length === 0 && deleted === 0 && !truncated) {
    session.say('Nothing came back.');
    return EXIT.nothing;
  }
  return truncated || left > 0 || unsent ? EXIT.partly : EXIT.done;
}
