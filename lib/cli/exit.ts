/** Exit codes by what they mean to a script. */
export const EXIT = { done: 0, failed: 1, usage: 2, nothing: 3, partly: 4, refused: 5, unverified: 6 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_HELP = `
Exit codes:
  0  done
  1  unexpected error
  2  usage: an argument or option is missing or wrong
  3  nothing matched: no such stack, run or unit, nothing to redrive
  4  partly done: something is left over, or was not finished in the time given
  5  refused: by preflight, by a cap, by the function or by you
  6  an audit trail does not verify`;

/** Ends a command with a message for the person: what was wrong, what was received, what to do. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}
