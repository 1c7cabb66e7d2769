import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Runs a script of this folder with garbage collection at hand and gives the JSON that it prints. */
export async function child<T>(script: string, argument: number, env: NodeJS.ProcessEnv = process.env): Promise<T> {
  const path = join(import.meta.dirname, script);
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', path, String(argument)], { env });
  return JSON.parse(stdout);
}
