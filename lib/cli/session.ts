import type { Command } from 'commander';
import type { ExitCode } from './exit.ts';
import { json, safe } from './render/text.ts';
import type { CliWorld, Pipeline } from './world.ts';

/** Options that every command has. */
export interface CommonOptions {
  readonly stack: string;
  readonly json?: true;
}

/** What one command works with. */
export class Session {
  readonly world: CliWorld;
  readonly #common: CommonOptions;
  #pipeline: Promise<Pipeline> | undefined;

  constructor(world: CliWorld, common: CommonOptions) {
    this.world = world;
    this.#common = common;
  }

  /** Finds the pipeline by its stack; once, and not before it is needed. */
  pipeline(): Promise<Pipeline> {
    this.#pipeline ??= this.world.connect(this.#common.stack);
    return this.#pipeline;
  }

  /** Prints a result: the view as JSON where that was asked for, else its text. */
  print<T>(view: T, text: (view: T) => string): void {
    this.world.out(this.#common.json ? json(view) : text(view));
  }

  /** Says something that is no result. */
  say(line: string): void {
    this.world.err(`${line.split('\n').map(safe).join('\n')}\n`);
  }
}

/** Where a command leaves its exit code. */
export interface Cli {
  readonly world: CliWorld;
  exitCode: ExitCode;
}

/** Makes the body the action of a command. */
export function defineAction(
  command: Command,
  cli: Cli,
  body: (session: Session, command: Command) => Promise<ExitCode>,
): void {
  command.action(async () => {
    cli.exitCode = await body(new Session(cli.world, command.optsWithGlobals<CommonOptions>()), command);
  });
}
