import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How to reach a local AWS and how to end it: all that another process must know of it. */
export interface LocalAwsRecord {
  readonly folder: string;
  /** The server's process, leader of a process group that holds everything it started. */
  readonly pid: number;
  readonly endpoint: string;
  readonly region: string;
  readonly account: string;
  /** Whether it is to outlive the process that started it. */
  readonly kept: boolean;
  /** Exactly the environment variables that an AWS client needs to look at it. */
  readonly env: Readonly<Record<string, string>>;
}

const RECORD = 'server.json';
const LEFTOVER_MILLIS = 24 * 3_600_000;

export function runsFolder(home: string): string {
  return join(home, 'runs');
}

/** A folder of its own for one local AWS, after removing what crashed starts left more than a day ago. */
export function makeRunFolder(home: string): string {
  const runs = runsFolder(home);
  mkdirSync(runs, { recursive: true });
  for (const name of readdirSync(runs)) {
    const folder = join(runs, name);
    const old = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > LEFTOVER_MILLIS;
    if (old && !readRecord(folder)) rmSync(folder, { recursive: true, force: true });
  }
  const folder = join(runs, randomUUID().slice(0, 8));
  for (const part of ['tmp', 'home', 'state']) mkdirSync(join(folder, part), { recursive: true });
  // Functions run in here as on Lambda: what their code is may not follow from the checkout's package.json.
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
  return folder;
}

export function writeRecord(record: LocalAwsRecord): void {
  writeFileSync(join(record.folder, RECORD), `${JSON.stringify(record, null, 2)}\n`);
}

/** The local AWS of a run folder; undefined where its server is not running. */
export function readRecord(folder: string): LocalAwsRecord | undefined {
  const file = join(folder, RECORD);
  if (!existsSync(file)) return undefined;
  const record = JSON.parse(readFileSync(file, 'utf8')) as LocalAwsRecord;
  return isOurs(record) ? record : undefined;
}

/** The local AWSs that were left up on purpose and still run. */
export function keptRuns(home: string): readonly LocalAwsRecord[] {
  const runs = runsFolder(home);
  if (!existsSync(runs)) return [];
  return readdirSync(runs).flatMap((name) => {
    const record = readRecord(join(runs, name));
    return record?.kept ? [record] : [];
  });
}

/** The operating system gives a process id out again; only our server has its run folder on its command line. */
function isOurs(record: LocalAwsRecord): boolean {
  return commandLine(record.pid).includes(record.folder);
}

function commandLine(pid: number): string {
  if (existsSync('/proc/self/cmdline')) {
    const file = `/proc/${pid}/cmdline`;
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}

/** Kills the server and everything it started; without effect where the process is no longer ours. */
export function endGroup(record: LocalAwsRecord): void {
  if (!isOurs(record)) return;
  try {
    process.kill(-record.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function isRunning(record: LocalAwsRecord): boolean {
  return isOurs(record);
}
