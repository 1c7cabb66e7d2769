import type { Command } from 'commander';
import type { AuditScope } from '../../core/ports/ledger.ts';
import { readAudit } from '../../core/read/audit.ts';
import { CliError, EXIT } from '../exit.ts';
import { findRun, RUN_HELP } from '../find-run.ts';
import { renderAudit } from '../render/audit.ts';
import { type Cli, defineAction } from '../session.ts';

const HELP = `
Examples:
  sweep audit latest
  sweep audit

Redrives, abandons and cancels are on the trail of their run; pauses, resumes and abandoned messages on the policy's.
An entry that was edited, removed or cut off is found. Whoever can rewrite the whole ledger could make a trail anew:
compare the hashes with the terminal log, and the request ids with CloudTrail.`;

export function addAudit(program: Command, cli: Cli): void {
  const command = program
    .command('audit')
    .description("Print the audit trail of a run, or without one the policy's own, and verify it.")
    .argument('[run]', RUN_HELP)
    .option('--policy', "the policy's own trail, as without a run")
    .addHelpText('after', HELP);
  defineAction(command, cli, async (session) => {
    const [name] = command.args;
    const { policy } = command.opts<{ readonly policy?: true }>();
    if (name !== undefined && policy) {
      throw new CliError(EXIT.usage, 'Name a run, or give --policy for the trail of the policy itself, not both.');
    }
    const pipeline = await session.pipeline();
    const { policyId } = pipeline.outputs;
    const scope: AuditScope =
      name === undefined ? { kind: 'policy', policyId } : { kind: 'run', runId: (await findRun(pipeline, name)).runId };
    const view = await readAudit(pipeline.ledger, scope);
    if (view === undefined) throw new CliError(EXIT.nothing, 'The run is no longer in the ledger.');
    session.print(view, renderAudit);
    return view.verified ? EXIT.done : EXIT.unverified;
  });
}
