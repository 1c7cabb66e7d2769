import type { Command } from 'commander';
import { formatInstant } from '../../core/identity/instant.ts';
import { readQuarantine } from '../../core/read/quarantine.ts';
import { addFilter, filterOf, type UnitOptions, withKnownRun } from '../choose-units.ts';
import { EXIT } from '../exit.ts';
import { renderQuarantine } from '../render/quarantine.ts';
import { type Cli, defineAction } from '../session.ts';

interface Options extends UnitOptions {
  readonly units?: true;
}

/** Units that are listed one by one. */
const LISTED = 100;

const EXAMPLES = `
Examples:
  sweep quarantine
  sweep quarantine --units --error-class ThrottlingException --older-than 6h
  sweep quarantine --json`;

export function addQuarantine(program: Command, cli: Cli): void {
  const command = addFilter(
    program
      .command('quarantine')
      .description(
        'List what waits for a person, by reason and error class: how long, and for how long its message stays.',
      ),
  )
    .option('--units', `also the oldest ${LISTED} units one by one`)
    .addHelpText('after', EXAMPLES);
  defineAction(command, cli, async (session) => {
    const options = command.opts<Options>();
    // What is wrong with the flags is said before anything is looked for.
    filterOf(options);
    const pipeline = await session.pipeline();
    const filter = filterOf(await withKnownRun(pipeline, options));
    const { ledger, queue, outputs } = pipeline;
    const { clock } = session.world;
    const view = await readQuarantine({ ledger, queue, clock }, outputs.policyId, filter, LISTED);
    const detail = options.units ? 'units' : 'groups';
    session.print(view, (shown) => renderQuarantine(shown, detail, formatInstant(clock.now())));
    if (view.truncated) session.say('There are more units than were counted.');
    if (view.badMessagesTruncated) {
      session.say(
        `There are more unreadable messages than the ${view.badMessages.length} shown: they come up as these are abandoned.`,
      );
    }
    if (options.units && view.units > view.listed.length)
      session.say(`The oldest ${LISTED} of ${view.units} are shown.`);
    return EXIT.done;
  });
}
