import { Command, Option } from 'commander';
import { addAbandon } from './commands/abandon.ts';
import { addAudit } from './commands/audit.ts';
import { addCancel } from './commands/cancel.ts';
import { addExplain } from './commands/explain.ts';
import { addInspect } from './commands/inspect.ts';
import { addQuarantine } from './commands/quarantine.ts';
import { addRedrive } from './commands/redrive.ts';
import { addReport } from './commands/report.ts';
import { addRuns } from './commands/runs.ts';
import { addShow } from './commands/show.ts';
import { addPause, addResume } from './commands/switch.ts';
import { addTrigger } from './commands/trigger.ts';
import { EXIT_HELP } from './exit.ts';
import type { Cli } from './session.ts';

const DEFAULT_STACK = 'Ledgersweep';

const WHERE = `
The pipeline is found by its CloudFormation stack, in the account and Region of your AWS credentials. Everything the
AWS command line reads works here too: AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL. Results go to standard output,
everything else to standard error.`;

const COMMANDS = [
  ...[addRuns, addShow, addReport, addExplain, addTrigger],
  ...[addQuarantine, addInspect, addRedrive, addAbandon],
  ...[addPause, addResume, addCancel, addAudit],
];

/** The whole command line. It throws instead of ending the process. */
export function buildProgram(cli: Cli): Command {
  const { world } = cli;
  const stack = new Option('--stack <name>', 'stack of the pipeline (or SWEEP_STACK)');
  const program = new Command('sweep')
    .description('Looks at a Ledgersweep pipeline and acts on it.')
    .version(world.version)
    .addOption(stack.default(world.env.SWEEP_STACK || DEFAULT_STACK))
    .option('--json', 'print one JSON value')
    .helpCommand(false)
    .showHelpAfterError('Run the command with --help to see how it is used.')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => world.out(text), writeErr: (text) => world.err(text) })
    .exitOverride()
    .addHelpText('after', WHERE)
    .addHelpText('afterAll', EXIT_HELP);
  for (const add of COMMANDS) add(program, cli);
  return program;
}
