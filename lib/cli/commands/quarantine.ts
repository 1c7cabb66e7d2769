import type { Command } from 'commander';
import type { QuarantineList } from '../../core/redrive/redrive.ts';
import { askRedrive } from '../answers.ts';
import { EXIT } from '../exit.ts';
import { renderQuarantine } from '../render/quarantine.ts';
import { type Cli, defineAction } from '../session.ts';

export function addQuarantine(program: Command, cli: Cli): void {
  const command = program
    .command('quarantine')
    .description('List what waits for a person: quarantined units, dead letters, messages that could not be read.');
  defineAction(command, cli, async (session) => {
    const list = await askRedrive<QuarantineList>(await session.pipeline(), { act: 'list' });
    session.print(list, renderQuarantine);
    if (list.truncated) session.say('There is more than one answer can hold: the list is not complete.');
    return EXIT.done;
  });
}
