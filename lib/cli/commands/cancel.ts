import type { Command } from 'commander';
import type { CancelView } from '../../core/redrive/views.ts';
import { reasonOf } from '../act-on-units.ts';
import { askRedrive } from '../answers.ts';
import { assertConfirmable, confirm } from '../confirm.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun, RUN_HELP } from '../find-run.ts';
import { renderCancel } from '../render/acts.ts';
import { type Cli, defineAction, type Session } from '../session.ts';

interface Options {
  readonly reason?: string;
  readonly yes?: true;
}

const EXAMPLES = `
Examples:
  sweep cancel RUN --reason "wrong tenants, ticket 4713"

Units that are quarantined or were never started are not worked on any more, and nothing brings them back; the next run
finds their records again.`;

export function addCancel(program: Command, cli: Cli): void {
  const command = program
    .command('cancel')
    .description('End a run for good: what is finished stays, the rest is never started.')
    .argument('<run>', RUN_HELP)
    .option('--reason <text>', 'why, for the audit trail')
    .option('--yes', 'do not ask')
    .addHelpText('after', EXAMPLES);
  defineAction(command, cli, (session) => cancel(session, command.args[0] ?? '', command.opts<Options>()));
}

async function cancel(session: Session, name: string, { reason, yes }: Options): Promise<ExitCode> {
  const why = reasonOf(reason, 'A cancel');
  if (!yes) assertConfirmable(session, 'A cancel');
  const pipeline = await session.pipeline();
  const { runId, status } = await findRun(pipeline, name);
  if (!yes)
    await confirm(session, `Run ${runId} (${status}) is cancelled for good. What it has changed stays changed.`);
  const event = { act: 'cancel', actor: await pipeline.caller(), reason: why, run: runId };
  const view = await askRedrive<CancelView>(pipeline, event);
  session.print(view, renderCancel);
  session.say(
    view.result === 'already'
      ? 'It had been cancelled before.'
      : 'From ten seconds on it changes no record. Its totals are final fifteen to twenty minutes from now: sweep show.',
  );
  return EXIT.done;
}
