import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { spawnOwned } from './child.ts';
import { LOCAL_HOME } from './paths.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const OLDEST_MINOR = 10;
const CANDIDATES = ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];

/** Something about this machine that a person must change; the message says what. */
export class MachineProblem extends Error {
  override name = 'MachineProblem';
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command to its end; `code` is null where there is no such command. */
function run(command: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawnOwned(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', () => resolve({ code: null, output }));
    child.on('close', (code) => resolve({ code, output: output.trim() }));
  });
}

/** The first Python that is new enough, with its version as `3.x`. */
async function findPython(): Promise<{ command: string; version: string }> {
  const seen: string[] = [];
  for (const command of CANDIDATES) {
    const { code, output } = await run(command, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']);
    const [major, minor] = output.split('.').map(Number);
    if (code !== 0 || major === undefined || minor === undefined) continue;
    if (major === 3 && minor >= OLDEST_MINOR) return { command, version: output };
    seen.push(`${command} is ${output}`);
  }
  const found = seen.length > 0 ? ` (found: ${seen.join(', ')})` : '';
  throw new MachineProblem(`The local AWS needs Python 3.${OLDEST_MINOR} or later as "python3"${found}.`);
}

async function must(what: string, command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await run(command, args);
  if (code !== 0) throw new MachineProblem(`${what} failed:\n${output.split('\n').slice(-15).join('\n')}`);
}

async function build(command: string, folder: string, progress: (line: string) => void): Promise<void> {
  const help = 'On Debian and Ubuntu the module "venv" is in the package python3-venv.\nMaking the virtual environment';
  await must(help, command, ['-m', 'venv', folder]);
  progress('installing the local AWS into the checkout (first time only)');
  const pip = ['-m', 'pip', 'install', '--require-hashes', '--no-input', '--disable-pip-version-check', '--quiet'];
  await must('Installing the local AWS', join(folder, 'bin', 'python'), [...pip, '-r', REQUIREMENTS]);
}

async function works(folder: string): Promise<boolean> {
  const python = join(folder, 'bin', 'python');
  return existsSync(python) && (await run(python, ['-c', 'import ministack'])).code === 0;
}

/**
 * Makes the virtual environment of the local AWS where it is not there yet and gives the path of its Python. Its
 * folder is named after what is in it, and appears by one rename: any number of processes may call this at once.
 */
export async function prepare(home = LOCAL_HOME, progress: (line: string) => void = () => {}): Promise<string> {
  const { command, version } = await findPython();
  const contents = createHash('sha256').update(version).update(readFileSync(REQUIREMENTS)).digest('hex');
  const folder = join(home, `venv-${contents.slice(0, 12)}`);
  const python = join(folder, 'bin', 'python');
  if (await works(folder)) return python;

  const building = `${folder}.${randomUUID().slice(0, 8)}`;
  const removeBuilding = () => rmSync(building, { recursive: true, force: true, maxRetries: 5 });
  mkdirSync(home, { recursive: true });
  process.once('exit', removeBuilding);
  try {
    await build(command, building, progress);
    // What is there and does not work (its Python was removed from the machine) is in the way.
    if (existsSync(folder) && !(await works(folder))) rmSync(folder, { recursive: true, force: true });
    renameSync(building, folder);
  } catch (error) {
    // A folder that is not empty: somebody else's rename came first, and theirs is as good as ours.
    if (!(await works(folder))) throw error;
  } finally {
    process.off('exit', removeBuilding);
    removeBuilding();
  }
  return python;
}
