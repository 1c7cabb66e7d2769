import { resolve } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import type { RunDetailView } from '../core/views.ts';
import { CdkFailed } from './cdk.ts';
import { LOCAL_HOME } from './paths.ts';
import { MachineProblem } from './python.ts';
import { TargetFailed } from './schedule.ts';
import { endKept } from './server.ts';
import { BadOptions, DEFAULT_EXAMPLE, readOrder, type UpOptions } from './up/order.ts';
import { differencesText, jsonOf, textOf } from './up/report.ts';
import { up } from './up/up.ts';
import { NotInTime } from './wait.ts';

/** Everything outside that a local run touches. */
export interface LocalWorld {
  /** Results, and nothing else. */
  out(text: string): void;
  err(text: string): void;
  now(): number;
  /** The text of a run. */
  render(run: RunDetailView): string;
}

const EXIT = { done: 0, failed: 1, usage: 2 } as const;

const HELP = `
Examples:
  npm run local
  npm run local -- --mode report-only
  npm run local -- --example tenant-retention
  npm run local -- --data accounts.csv --retention-days 365
  npm run local -- --data accounts.csv --scheduled-time 2026-01-01T00:00:00Z --retention-days 1461 \\
    --mode enforce --keep --json

The CSV has a header with at least id,tenant,last_activity,hold. last_activity is a UTC instant like
2022-01-01T00:00:00Z, or empty; hold is a reason, or empty. Further columns become attributes of the record.

--keep leaves everything up. A later run on the same file with the same retention days takes up what was left up, with
the records as they are by then and the code as it was deployed: for a scheduled time that was run before it joins the
finished run and changes nothing, for another one it plans a new run. What runs on other data left up stays untouched.
npm run local:down ends it.

Every row of the table is compared afterwards with what must be in it.

Exit codes:
  0  the run ended as it must and every row is as it must be
  1  it did not, or something failed
  2  an option or the file is wrong; nothing was started
`;

interface Flags extends UpOptions {
  readonly keep?: true;
  readonly json?: true;
}

interface Session {
  readonly world: LocalWorld;
  exitCode: number;
}

/** Runs one command line and gives its exit code. Never throws. */
export async function main(args: readonly string[], world: LocalWorld): Promise<number> {
  const session: Session = { world, exitCode: EXIT.done };
  try {
    await buildProgram(session).parseAsync(args, { from: 'user' });
    return session.exitCode;
  } catch (error) {
    // Help and usage errors; commander has written them.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    world.err(`local: ${sayError(error)}\n`);
    return error instanceof BadOptions ? EXIT.usage : EXIT.failed;
  }
}

function buildProgram(session: Session): Command {
  const { world } = session;
  const program = new Command('local')
    .description('Runs the pipeline on a local AWS of its own, deployed by cdk.')
    .configureOutput({ writeOut: (text) => world.out(text), writeErr: (text) => world.err(text) })
    .showHelpAfterError('See npm run local -- --help.')
    .helpCommand(false)
    .exitOverride();
  addUp(program, session);
  addDown(program, session);
  return program;
}

const homeOption = () => new Option('--home <folder>').default(LOCAL_HOME).hideHelp();

function addUp(program: Command, session: Session): void {
  program
    .command('up', { isDefault: true })
    .description(
      'Starts a local AWS, deploys, loads records, fires the schedule, and shows what became of each record.',
    )
    .option('--example <name>', `run an example (default: ${DEFAULT_EXAMPLE})`)
    .option('--data <file.csv>', 'run on a CSV of your own')
    .option('--scheduled-time <time>', "time the schedule is to believe it is (data: today's first instant, UTC)")
    .option('--retention-days <days>', 'due is what was last active so many days before (data: must be given)')
    .option('--mode <mode>', 'report-only or enforce (data: report-only, example: enforce)')
    .option('--keep', 'leave everything up')
    .option('--json', 'print one JSON object as the last line of standard output')
    .addOption(homeOption())
    .addHelpText('after', HELP)
    .action(async (flags: Flags & { home: string }) => {
      session.exitCode = await runUp(flags, resolve(flags.home), session.world);
    });
}

function addDown(program: Command, { world }: Session): void {
  program
    .command('down')
    .description('Ends what runs with --keep left up.')
    .addOption(homeOption())
    .action(async ({ home }: { home: string }) => {
      const ended = await endKept(resolve(home));
      for (const { endpoint } of ended) world.err(`Ended the local AWS at ${endpoint}.\n`);
      if (ended.length === 0) world.err('Nothing was left up.\n');
    });
}

async function runUp({ keep, json, ...options }: Flags, home: string, world: LocalWorld): Promise<number> {
  const start = world.now();
  const order = await readOrder(options, start);
  const progress = (line: string) => {
    world.err(`${((world.now() - start) / 1_000).toFixed(1).padStart(6)} s  ${line}\n`);
  };
  const { pipeline, ended, shellFile } = await up(order, { home, whenDone: keep ? 'keep' : 'end', progress });
  if (shellFile !== undefined) {
    world.err(`\nEverything is left up. To look at it: . ${shellFile}\nTo end it: npm run local:down\n`);
  }
  world.err(differencesText(ended));
  const text = () => `${ended.rollout?.summary ?? world.render(ended.run)}\n${textOf(ended)}`;
  world.out(json ? `${JSON.stringify(jsonOf(pipeline, ended))}\n` : text());
  return ended.differences.length === 0 ? EXIT.done : EXIT.failed;
}

function sayError(error: unknown): string {
  const expected = [BadOptions, MachineProblem, CdkFailed, NotInTime, TargetFailed].some(
    (known) => error instanceof known,
  );
  if (!(error instanceof Error)) return String(error);
  return expected ? error.message : (error.stack ?? error.message);
}
