import type { Command } from 'commander';
import { readRunDetail } from '../../core/read/run-detail.ts';
import { EXIT } from '../exit.ts';
import { findRun, RUN_HELP } from '../find-run.ts';
import { renderRunDetail } from '../render/run.ts';
import { type Cli, defineAction } from '../session.ts';

export function addShow(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description('Show one run: its counts, its proof, its cost and what became of each tenant.')
    .argument('<run>', RUN_HELP);
  defineAction(command, cli, async (session) => {
    const pipeline = await session.pipeline();
    const run = await findRun(pipeline, command.args[0] ?? '');
    session.print(await readRunDetail(pipeline.ledger, run, session.world.clock.now()), renderRunDetail);
    return EXIT.done;
  });
}
