import { type Command, InvalidArgumentError, Option } from 'commander';
import { isActText, isUnitName, MAX_HOURS, MAX_TEXT } from '../core/redrive/request.ts';
import { CliError, EXIT } from './exit.ts';
import { findRun } from './find-run.ts';
import type { Pipeline } from './world.ts';

/** Which quarantined units a command is about, as flags. */
export interface UnitOptions {
  readonly all?: true;
  readonly run?: string;
  readonly unit?: string;
  readonly tenant?: string;
  readonly quarantineReason?: string;
  readonly errorClass?: string;
  /** In hours. */
  readonly olderThan?: number;
  readonly selection?: string;
}

const UNITS = { m: 1 / 60, h: 1, d: 24 } as const;

/** Hours of a length of time such as `90m`, `6h` or `3d`. */
export function parseAge(text: string): number {
  const [, number, unit] = /^([0-9]{1,5})([mhd])$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('It is a length of time such as 90m, 6h or 3d.');
  const hours = Number(number) * UNITS[unit as keyof typeof UNITS];
  if (hours > MAX_HOURS) throw new InvalidArgumentError(`It is at most ${MAX_HOURS / 24}d.`);
  return hours;
}

/** A text that the redrive function takes; an empty one would be a filter that is none. */
export function parseText(text: string): string {
  if (isActText(text)) return text;
  throw new InvalidArgumentError(`It is a text of 1 to ${MAX_TEXT} characters.`);
}

export function parseUnit(text: string): string {
  if (isUnitName(text)) return text;
  throw new InvalidArgumentError('It is a batch such as 7, or a record split from it such as 7.12.');
}

export function addFilter(command: Command): Command {
  return command
    .option('--run <run>', 'only of this run, or of the `latest`', parseText)
    .option('--unit <unit>', 'only this unit, such as 7 or 7.12; needs --run', parseUnit)
    .option('--tenant <tenant>', 'only of this tenant', parseText)
    .option('--quarantine-reason <code>', 'only what was quarantined for this, such as attempts_spent', parseText)
    .option('--error-class <code>', 'only what failed of this, such as ThrottlingException', parseText)
    .addOption(new Option('--older-than <age>', 'only what waits for longer than 90m, 6h, 3d').argParser(parseAge));
}

/** The flags of a command that acts on units. */
export function addChoice(command: Command): Command {
  return addFilter(command.option('--all', 'everything that is quarantined')).option(
    '--selection <digest>',
    'exactly the units of a selection that a dry run has frozen',
    parseText,
  );
}

/**
 * The flags with the run as the ledger names it. Throws a CliError where there is none: a run that was mistyped is not to
 * look like one where nothing waits.
 */
export async function withKnownRun<T extends UnitOptions>(pipeline: Pipeline, options: T): Promise<T> {
  if (options.run === undefined) return options;
  return { ...options, run: (await findRun(pipeline, options.run)).runId };
}

/** The filter as the redrive function reads it; what was left out is not in it. */
export function filterOf(options: UnitOptions): object {
  const { run, unit, tenant, quarantineReason: reason, errorClass, olderThan: olderThanHours } = options;
  if (unit !== undefined && run === undefined) {
    throw new CliError(EXIT.usage, `--unit ${unit} needs its run: --run RUN.`);
  }
  const parts = { run, unit, tenant, reason, errorClass, olderThanHours };
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
}

/** Everything has to be spelled out; a filter that is empty by mistake is no way to say it. */
export function choiceOf(options: UnitOptions): object {
  const filter = filterOf(options);
  const filtered = Object.keys(filter).length > 0;
  const ways = [options.all, filtered, options.selection].filter(Boolean).length;
  if (ways === 0) {
    throw new CliError(EXIT.usage, 'Say which units: a filter such as --run, a --selection, or --all for everything.');
  }
  if (ways > 1) throw new CliError(EXIT.usage, 'Give only one of a filter, --selection and --all.');
  if (options.selection !== undefined) return { selection: options.selection };
  return filtered ? { filter } : { all: true };
}
