import { spawn, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { RunView } from '../../lib/core/views.ts';
import type { Attributes } from './packages.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Resolves when standard error has shown the text. */
  saying(text: string): Promise<void>;
}

/** Starts `npm run local` without npm, which would pass signals on in its own way. */
export function startLocal(args: readonly string[]): Started {
  return start([join(REPOSITORY, 'bin/local.ts'), ...args], process.env);
}

export function runLocal(args: readonly string[]): Promise<Ended> {
  return startLocal(args).ended;
}

/** Runs one of our scripts to its end, with this environment and no other. */
export function runNode(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  return start(args, env).ended;
}

function start(args: readonly string[], env: NodeJS.ProcessEnv): Started {
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
  const saying = (text: string) =>
    new Promise<void>((resolve, reject) => {
      child.stderr.on('data', () => {
        if (err.includes(text)) resolve();
      });
      child.once('close', () => reject(new Error(`It ended without saying ${text}:\n${err}`)));
    });
  return { pid: child.pid ?? 0, ended, saying };
}

/** The object on the last line of `--json`. */
export interface LocalJson extends RunView {
  readonly checked: { readonly rows: number; readonly differing: number };
  readonly endpoint: string;
  readonly region: string;
  readonly tables: { readonly records: string; readonly ledger: string };
  readonly queues: { readonly work: string; readonly dlq: string };
  readonly stack: string;
  /** Where the example has several runs. */
  readonly runs?: readonly RunView[];
  readonly env: Readonly<Record<string, string>>;
}

export function jsonOf({ code, out, err }: Ended): LocalJson {
  if (code !== 0) throw new Error(`Exit code ${code}:\n${err}\n${out}`);
  return JSON.parse(out.trimEnd().split('\n').at(-1) ?? '');
}

export interface Seen {
  readonly items: ReadonlyMap<string, Attributes>;
  readonly workDepth: number;
  readonly dlqDepth: number;
}

/** What an ordinary AWS client sees that was given `env` and nothing else. */
export async function look({ env, tables, queues }: LocalJson): Promise<Seen> {
  const script = join(import.meta.dirname, 'look.ts');
  const { code, out, err } = await start([script, tables.records, queues.work, queues.dlq], env).ended;
  if (code !== 0) throw new Error(err);
  const { items, depths } = JSON.parse(out) as { items: Attributes[]; depths: [number, number] };
  return {
    items: new Map(items.map((item) => [item.id?.S ?? '', item])),
    workDepth: depths[0],
    dlqDepth: depths[1],
  };
}

/** Command lines, with their ids, of the processes that have the text in theirs. */
export function processesOf(text: string): readonly string[] {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 16 * 2 ** 20 });
  return stdout.split('\n').filter((line) => line.includes(text));
}
