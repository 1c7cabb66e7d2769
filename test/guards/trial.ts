import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Guard, weaken } from './guard.ts';
import { ROOT } from './plugin.ts';
import { type Ended, runTests, type TestEnd } from './vitest.ts';

/**
 * What came of a guard's trial. `blind`: its catcher passed without the guard. `broken`: the weakened source did not run
 * at all, so nothing is proved. `missing`: no test has the catcher's title. `left-out`: its catcher cannot run here.
 */
export interface Trial {
  readonly guard: Guard;
  readonly verdict: 'caught' | 'blind' | 'broken' | 'missing' | 'left-out';
  /** The first line of what the catcher, or whatever broke, said. */
  readonly said: string;
}

/** A mutant that does not even run, or never ends, fails any test: that is no catch. */
const NO_CATCH = /^(SyntaxError|ReferenceError|TypeError|RangeError)|(Test|Hook) timed out/;

/** Throws StaleGuard where the source no longer has the guard's text. */
export function assertFresh(guard: Guard): void {
  weaken(readFileSync(resolve(ROOT, guard.file), 'utf8'), guard);
}

function endsOf({ catcher }: Guard, { tests }: Ended): readonly TestEnd[] {
  return tests.filter(({ file, title }) => file === catcher.file && title === catcher.title);
}

function judge(guard: Guard, ended: Ended): Trial {
  const own = endsOf(guard, ended);
  if (own.length === 0) {
    const said = ended.broken[0];
    return { guard, verdict: said === undefined ? 'missing' : 'broken', said: said ?? '' };
  }
  if (own.every(({ status }) => status === 'left-out')) return { guard, verdict: 'left-out', said: '' };
  const failed = own.filter(({ status }) => status === 'failed').map(({ failure }) => failure);
  const caught = failed.find((said) => !NO_CATCH.test(said));
  if (caught !== undefined) return { guard, verdict: 'caught', said: caught };
  return { guard, verdict: failed.length === 0 ? 'blind' : 'broken', said: failed[0] ?? '' };
}

/** Runs the catcher of each guard without that guard. */
export async function tryGuards(guards: readonly Guard[]): Promise<readonly Trial[]> {
  for (const guard of guards) assertFresh(guard);
  const orders = guards.map((guard) => ({ guard, files: [guard.catcher.file], titles: [guard.catcher.title] }));
  const ended = await runTests(orders);
  return guards.map((guard, n) => judge(guard, ended[n] ?? { tests: [], broken: [] }));
}

/** Catchers that fail, or are not found, while every guard is in its place: they would prove nothing. */
export async function unfitCatchers(guards: readonly Guard[]): Promise<readonly string[]> {
  const files = [...new Set(guards.map(({ catcher }) => catcher.file))];
  const titlesOf = (file: string) => guards.flatMap(({ catcher }) => (catcher.file === file ? [catcher.title] : []));
  const orders = files.map((file) => ({ guard: undefined, files: [file], titles: titlesOf(file) }));
  const all = await runTests(orders);
  const ended = { tests: all.flatMap(({ tests }) => tests), broken: [] };
  return guards.flatMap((guard) => {
    const own = endsOf(guard, ended);
    const { file, title } = guard.catcher;
    if (own.length === 0) return [`${guard.name}: no test of ${file} is called "${title}".`];
    const failed = own.find(({ status }) => status === 'failed');
    return failed === undefined ? [] : [`${guard.name}: "${title}" fails with the guard in place: ${failed.failure}`];
  });
}
