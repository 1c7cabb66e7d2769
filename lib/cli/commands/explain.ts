import type { Command } from 'commander';
import { keyCandidates } from '../../aws/targets/dynamodb/keys.ts';
import { explainRecord } from '../../core/read/explain.ts';
import { CliError, EXIT, type ExitCode } from '../exit.ts';
import { findRun, RUN_HELP } from '../find-run.ts';
import { renderExplain } from '../render/explain.ts';
import { type Cli, defineAction, type Session } from '../session.ts';

const KEY_HELP = 'key of the record: as plain text, or as ["Stext"], ["N12"], ["Spartition","Nsort"]';

export function addExplain(program: Command, cli: Cli): void {
  const command = program
    .command('explain')
    .description('Say what happened to one record in one run, and under which rule.')
    .argument('<run>', RUN_HELP)
    .argument('<key>', KEY_HELP)
    .addHelpText('after', '\nA key that begins with "-" goes behind "--": sweep explain latest -- -12');
  defineAction(command, cli, (session) => {
    const [run = '', key = ''] = command.args;
    return explain(session, run, key);
  });
}

async function explain(session: Session, runArgument: string, key: string): Promise<ExitCode> {
  const pipeline = await session.pipeline();
  const run = await findRun(pipeline, runArgument);
  const view = await explainRecord(pipeline, run, keyCandidates(key));
  if (view.recordNow.kind === 'not-a-key') {
    const { recordTableName, partitionKeyAttribute, sortKeyAttribute } = run.settings;
    const names = sortKeyAttribute === '' ? partitionKeyAttribute : `${partitionKeyAttribute} and ${sortKeyAttribute}`;
    throw new CliError(
      EXIT.usage,
      `${JSON.stringify(key)} is no key of table ${recordTableName}, whose key is ${names}. ` +
        'Type it with types where text alone does not say it: ["Stext"], ["N12"], ["Spartition","Nsort"].',
    );
  }
  session.print(view, renderExplain);
  return EXIT.done;
}
