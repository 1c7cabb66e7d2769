import type { Command } from 'commander';
import { inspectUnit } from '../../core/read/inspect.ts';
import { clip } from '../../core/redrive/received.ts';
import { isUnitName } from '../../core/redrive/request.ts';
import { CliError, EXIT } from '../exit.ts';
import { findRun, RUN_HELP } from '../find-run.ts';
import { renderInspect } from '../render/inspect.ts';
import { type Cli, defineAction } from '../session.ts';

const EXAMPLES = `
Examples:
  sweep inspect RUN 7.12
  sweep inspect latest 7 --json`;

export function addInspect(program: Command, cli: Cli): void {
  const command = program
    .command('inspect')
    .description('Show one unit with everything that a person needs to decide what becomes of it.')
    .argument('<run>', RUN_HELP)
    .argument('<unit>', 'a batch such as 7, or a record split from it such as 7.12')
    .addHelpText('after', EXAMPLES);
  defineAction(command, cli, async (session) => {
    const [name = '', unit = ''] = command.args;
    if (!isUnitName(unit))
      throw new CliError(EXIT.usage, `A unit is a number such as 7 or 7.12. Received ${clip(unit)}.`);
    const { ledger, ...pipeline } = await session.pipeline();
    const { runId } = await findRun({ ledger, ...pipeline }, name);
    const view = await inspectUnit({ ledger, clock: session.world.clock }, runId, unit);
    if (view === undefined) {
      throw new CliError(EXIT.nothing, `Run ${runId} has no item of unit ${unit}: it was never started, or is none.`);
    }
    session.print(view, renderInspect);
    return EXIT.done;
  });
}
