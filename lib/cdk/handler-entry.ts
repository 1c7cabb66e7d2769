import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The functions of the pipeline; each is the folder of its handler under `lambdas/`. */
export type FunctionName = 'dispatcher' | 'consumer' | 'redrive' | 'reconciler';

/** Folder of this package's `package.json`: the sources live there, whether this file runs from them or compiled. */
export function packageRoot(from: string = import.meta.dirname): string {
  if (existsSync(join(from, 'package.json'))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error(`No package.json above ${import.meta.dirname}`);
  return packageRoot(parent);
}

/** Path of a function's handler source. The stack knows handlers by path only, so it never loads their code. */
export function handlerEntry(name: FunctionName): string {
  return join(packageRoot(), 'lambdas', name, 'handler.ts');
}
