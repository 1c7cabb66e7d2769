import { resolve } from 'node:path';
import { type Guard, weaken } from './guard.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/** A Vite plugin that weakens one guard as its file is loaded; nothing on disk changes. */
export function weakening(guard: Guard) {
  const path = resolve(ROOT, guard.file);
  return {
    name: 'weakened-guard',
    enforce: 'pre' as const,
    transform: (code: string, id: string) => (id.split('?')[0] === path ? weaken(code, guard) : undefined),
  };
}
