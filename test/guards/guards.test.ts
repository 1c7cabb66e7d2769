import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StaleGuard, weaken } from './guard.ts';
import { GUARDS } from './guards.ts';
import { guardsPage } from './page.ts';
import { ROOT } from './plugin.ts';
import { assertFresh, tryGuards } from './trial.ts';

/** Quick ones, of several places: the rest is for `npm run guards`. */
const TRIED_HERE = [
  'age-bounded',
  'entry-errors',
  'cutoff-exclusive',
  'unprocessed-keys',
  'signed-generation',
  'selection-digest',
];

const TESTS = globSync('test/**/*.ts', { cwd: ROOT })
  .filter((file) => !file.startsWith('test/guards/'))
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');

/** Of a title that is put together as it runs, some words in a row are written somewhere; of any other, all of them. */
function isWritten(title: string): boolean {
  const words = title.split(' ');
  const row = Math.min(words.length, 3);
  return words.some((_word, n) => n + row <= words.length && TESTS.includes(words.slice(n, n + row).join(' ')));
}

describe('weakened guards', () => {
  it('are many, each with a name of its own, and every invariant has one', () => {
    const names = GUARDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const protectedOnes = new Set(GUARDS.flatMap(({ protects }) => protects.split(', ')));
    expect([...protectedOnes]).toEqual(expect.arrayContaining(Array.from({ length: 10 }, (_, n) => `I${n + 1}`)));
  });

  it.each(GUARDS.map((guard) => [guard.name, guard] as const))(
    '%s: the source still has it, and the tests have its catcher',
    (_name, guard) => {
      assertFresh(guard);
      expect(guard.replace).not.toBe(guard.find);
      expect(existsSync(join(ROOT, guard.catcher.file))).toBe(true);
      expect(isWritten(guard.catcher.title)).toBe(true);
    },
  );

  it('are refused where the source has moved on', () => {
    const [guard] = GUARDS;
    if (guard === undefined) throw new Error('There are no guards.');
    expect(() => weaken('nothing of it', guard)).toThrow(StaleGuard);
    expect(() => weaken(guard.find.repeat(2), guard)).toThrow(StaleGuard);
  });

  it('are described in docs/guards.md', async () => {
    await expect(guardsPage()).toMatchFileSnapshot(join(ROOT, 'docs/guards.md'));
  });

  it('are caught by their tests: some of them, for all there is a script', async () => {
    const guards = GUARDS.filter(({ name }) => TRIED_HERE.includes(name));
    const trials = await tryGuards(guards);
    expect(trials.map(({ guard, verdict }) => [guard.name, verdict])).toEqual(
      guards.map(({ name }) => [name, 'caught']),
    );
  });

  it('show where a test passes without the guard, does not exist, or where the source does not run', async () => {
    const [guard] = GUARDS.filter(({ name }) => name === 'age-bounded');
    if (guard === undefined) throw new Error('There is no such guard.');
    const { file } = guard.catcher;
    const trials = await tryGuards([
      {
        ...guard,
        catcher: { file, title: 'does not count while the run is only planned: a report of long ago ages nothing' },
      },
      { ...guard, catcher: { file, title: 'is called otherwise' } },
      { ...guard, replace: 'return (;' },
    ]);
    expect(trials.map(({ verdict }) => verdict)).toEqual(['blind', 'missing', 'broken']);
  });
});
