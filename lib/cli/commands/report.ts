import type { Command } from 'commander';
import { readReport } from '../../core/read/report.ts';
import { EXIT } from '../exit.ts';
import { findRun, RUN_HELP } from '../find-run.ts';
import { renderReport } from '../render/report.ts';
import { type Cli, defineAction } from '../session.ts';

export function addReport(program: Command, cli: Cli): void {
  const command = program
    .command('report')
    .description('Report what a run found: its numbers per tenant, what cannot be read, and what speaks against it.')
    .argument('<run>', RUN_HELP);
  defineAction(command, cli, async (session) => {
    const pipeline = await session.pipeline();
    const run = await findRun(pipeline, command.args[0] ?? '');
    session.print(await readReport(pipeline.ledger, run), renderReport);
    return EXIT.done;
  });
}
