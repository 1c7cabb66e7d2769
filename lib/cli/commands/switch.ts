import type { Command } from 'commander';
import type { SwitchView } from '../../core/redrive/views.ts';
import { reasonOf } from '../act-on-units.ts';
import { askRedrive } from '../answers.ts';
import { assertConfirmable, confirm } from '../confirm.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderSwitch } from '../render/acts.ts';
import { type Cli, defineAction, type Session } from '../session.ts';

interface Options {
  readonly reason?: string;
  readonly yes?: true;
}

const PAUSED = `
Examples:
  sweep pause --reason "wrong tenants, ticket 4713"

No record is changed any more once ten seconds are over; what is in the queue waits, for days if need be, and spends
no attempt. A pause is asked for without a question: it is the stop button.`;

const RESUMED = `
Examples:
  sweep resume --reason "filter confirmed, ticket 4713"`;

export function addPause(program: Command, cli: Cli): void {
  const command = program
    .command('pause')
    .description('Stop the policy: no record is changed until it is resumed.')
    .option('--reason <text>', 'why, for the audit trail')
    .addHelpText('after', PAUSED);
  defineAction(command, cli, (session) => pause(session, command.opts<Options>()));
}

async function pause(session: Session, { reason }: Options): Promise<ExitCode> {
  const why = reasonOf(reason, 'A pause');
  const pipeline = await session.pipeline();
  const event = { act: 'pause', actor: await pipeline.caller(), reason: why };
  const view = await askRedrive<SwitchView>(pipeline, event);
  session.print(view, renderSwitch);
  session.say(
    view.result === 'already'
      ? 'It was paused before; nothing was changed.'
      : 'From ten seconds on no record is changed. Go on with: sweep resume --reason "…"',
  );
  return EXIT.done;
}

export function addResume(program: Command, cli: Cli): void {
  const command = program
    .command('resume')
    .description('Let a paused policy go on, and send what had to wait.')
    .option('--reason <text>', 'why, for the audit trail')
    .option('--yes', 'do not ask')
    .addHelpText('after', RESUMED);
  defineAction(command, cli, (session) => resume(session, command.opts<Options>()));
}

async function resume(session: Session, { reason, yes }: Options): Promise<ExitCode> {
  const why = reasonOf(reason, 'A resume');
  if (!yes) assertConfirmable(session, 'A resume');
  const pipeline = await session.pipeline();
  if (!yes) await confirm(session, `Policy ${pipeline.outputs.policyId} goes on changing records.`);
  const event = { act: 'resume', actor: await pipeline.caller(), reason: why };
  const view = await askRedrive<SwitchView>(pipeline, event);
  session.print(view, renderSwitch);
  if (view.result === 'already') session.say('It was not paused.');
  return EXIT.done;
}
