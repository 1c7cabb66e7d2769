import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ActOptions, actOnUnits } from '../act-on-units.ts';
import { addChoice } from '../choose-units.ts';
import { type Cli, defineAction } from '../session.ts';

const EXAMPLES = `
Examples:
  sweep redrive --all --dry-run
  sweep redrive --run RUN --unit 7.12 --reason "record mended, ticket 4711"
  sweep redrive --error-class ThrottlingException --rate 5 --reason "capacity raised"
  sweep redrive --selection DIGEST --reason "as agreed in ticket 4711"

What failed for good comes back only where its unit, its reason or its error class is named.`;

function parseRate(text: string): number {
  const rate = Number(text);
  if (rate >= 0.001 && rate <= 1_000) return rate;
  throw new InvalidArgumentError('It is a number of units per second, from 0.001 to 1000.');
}

export function addRedrive(program: Command, cli: Cli): void {
  const command = addChoice(
    program
      .command('redrive')
      .description('Bring quarantined units back. You and your reason go into the audit trail first.'),
  )
    .option('--reason <text>', 'why, for the audit trail')
    .option('--dry-run', 'only freeze the selection and show it; --selection then holds the real call to it')
    .addOption(new Option('--rate <units per second>', 'how fast they come back').argParser(parseRate))
    .option('--beyond-generation-cap', 'also units that have had all their generations')
    .option('--yes', 'do not ask')
    .addHelpText('after', EXAMPLES);
  defineAction(command, cli, (session) => actOnUnits(session, 'redrive', command.opts<ActOptions>()));
}
