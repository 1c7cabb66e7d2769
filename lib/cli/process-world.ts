import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { systemClock } from '../aws/system.ts';
import type { CliWorld } from './world.ts';

/** The commands' world in a process: its streams, its clock, its environment, and AWS. */
export function processWorld(): CliWorld {
  const { stdin, stdout, stderr } = process;
  // `sweep runs | head` closes the pipe; that is no error.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  return {
    version: packageVersion(),
    env: process.env,
    clock: systemClock,
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
    status: stderr.isTTY ? (line) => stderr.write(`\r\u001b[K${line}`) : undefined,
    ask: stdin.isTTY && stderr.isTTY ? ask : undefined,
    // Loaded only where it is needed: the SDK takes longer than --help may.
    connect: async (stackName) => (await import('./aws/connect.ts')).connect(stackName),
  };
}

/** Asks on standard error, since standard output is for results. The end of input is no answer. */
async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    return await Promise.race([terminal.question(question), ended]);
  } finally {
    terminal.close();
  }
}

/** Of the nearest package.json upwards: compiled code lies one folder deeper than its source. */
function packageVersion(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version?: string };
  return version ?? 'unknown';
}
