import { CommanderError } from 'commander';
import { CliError, EXIT, type ExitCode } from './exit.ts';
import { describeError } from './problems.ts';
import { buildProgram } from './program.ts';
import { safe } from './render/text.ts';
import type { Cli } from './session.ts';
import type { CliWorld } from './world.ts';

/** Runs one command line, without the name of the program, and gives its exit code. Never throws. */
export async function main(args: readonly string[], world: CliWorld): Promise<ExitCode> {
  const cli: Cli = { world, exitCode: EXIT.done };
  try {
    await buildProgram(cli).parseAsync(args, { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    // Help, version and usage errors; commander has written them.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    world.err(`sweep: ${safe(describeError(error, world.env))}\n`);
    return error instanceof CliError ? error.exitCode : EXIT.failed;
  }
}
