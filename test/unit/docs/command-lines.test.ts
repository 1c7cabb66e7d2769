import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { main } from '../../../lib/cli/main.ts';
import type { CliWorld } from '../../../lib/cli/world.ts';

const ROOT = new URL('../../../', import.meta.url);

/** Words of one command line: quotes hold together what is between them. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
}

/** Every `npx sweep …` of the shell blocks, each with the file it is in. */
const LINES = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })].flatMap((file) => {
  const text = readFileSync(new URL(file, ROOT), 'utf8').replaceAll('\\\n', ' ');
  const blocks = [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].flatMap(([, block = '']) => block.split('\n'));
  return blocks.flatMap((line) => {
    const [, words] = /npx sweep (.*)$/.exec(line.trim()) ?? [];
    return words === undefined || words.startsWith('--help') ? [] : [[file, words] as const];
  });
});

/** The command line up to where it looks for its pipeline. */
async function lookFor(words: string): Promise<{ readonly exitCode: number; readonly err: string; looked: boolean }> {
  let err = '';
  let looked = false;
  const world: CliWorld = {
    version: '0.0.0',
    env: {},
    clock: { now: () => Date.UTC(2026, 1, 1), sleep: async () => {} },
    out: () => {},
    err: (text) => {
      err += text;
    },
    ask: async () => 'no',
    connect: async () => {
      looked = true;
      throw new Error('no pipeline');
    },
  };
  const exitCode = await main(wordsOf(words), world);
  return { exitCode, err, looked };
}

describe('the command lines of the documentation', () => {
  it('are found', () => expect(LINES.length).toBeGreaterThan(15));

  it.each(LINES)('%s: sweep %s', async (_file, words) => {
    const { looked, err } = await lookFor(words);
    expect(looked, err).toBe(true);
  });
});
