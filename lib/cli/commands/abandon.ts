import type { Command } from 'commander';
import type { MessageAbandonedView } from '../../core/redrive/views.ts';
import { type ActOptions, actOnUnits, reasonOf } from '../act-on-units.ts';
import { askRedrive } from '../answers.ts';
import { addChoice, filterOf, parseText } from '../choose-units.ts';
import { assertConfirmable, confirm } from '../confirm.ts';
import { CliError, EXIT, type ExitCode } from '../exit.ts';
import { renderMessage } from '../render/acts.ts';
import { type Cli, defineAction, type Session } from '../session.ts';

interface Options extends ActOptions {
  readonly message?: string;
}

const EXAMPLES = `
Examples:
  sweep abandon --run RUN --unit 7.12 --reason "customer left, ticket 4712"
  sweep abandon --message DIGEST --reason "test message of the queue team"

Records of an abandoned unit stay as they are. Nothing brings the unit back; the next run finds the records again.`;

export function addAbandon(program: Command, cli: Cli): void {
  const command = addChoice(
    program
      .command('abandon')
      .description('Give quarantined units up for good, so that their run can close; or a message nobody can read.'),
  )
    .option('--message <digest>', 'the unreadable message of this digest, as `sweep quarantine` shows it', parseText)
    .option('--reason <text>', 'why, for the audit trail')
    .option('--dry-run', 'only freeze the selection and show it')
    .option('--yes', 'do not ask')
    .addHelpText('after', EXAMPLES);
  defineAction(command, cli, (session) => {
    const options = command.opts<Options>();
    return options.message === undefined ? actOnUnits(session, 'abandon', options) : abandonMessage(session, options);
  });
}

async function abandonMessage(session: Session, options: Options): Promise<ExitCode> {
  const { message, reason, yes, dryRun } = options;
  // What is about units would be lost on a message, and a dry run of it would be none.
  if (dryRun || options.all || options.selection !== undefined || Object.keys(filterOf(options)).length > 0) {
    throw new CliError(EXIT.usage, '--message names one message: it goes with --reason and --yes alone.');
  }
  const why = reasonOf(reason, 'An abandon');
  if (!yes) assertConfirmable(session, 'An abandon');
  const pipeline = await session.pipeline();
  if (!yes) await confirm(session, `Message ${message} is removed from the dead-letter queue.`);
  const event = { act: 'abandon', actor: await pipeline.caller(), reason: why, message };
  session.print(await askRedrive<MessageAbandonedView>(pipeline, event), renderMessage);
  return EXIT.done;
}
