import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SHARED_DYNAMODB_LOCAL, startDynamoDbLocal } from '../helpers/dynamodb-local.ts';
import type { Guard } from './guard.ts';
import { GUARDS } from './guards.ts';
import { ROOT } from './plugin.ts';
import { assertFresh, type Trial, tryGuards, unfitCatchers } from './trial.ts';
import { runTests } from './vitest.ts';

// `npm run guards`: weakens one guard of the source at a time and sees that its test fails. Exit 1 where one does not.

const HELP = `Weakens one guard of the source at a time, as it is loaded, and runs the test that must fail for it.

  npm run guards                     all of them: a line each, exit 1 if one is not caught
  npm run guards -- --only NAME      these guards only (may be given several times)
  npm run guards -- --find NAME      everything that fails without a guard, to choose its catcher from; paths after it
                                     limit where to look (npm run guards -- --find NAME test/unit/core)
  npm run guards -- --list           names alone
  npm run guards -- --json           for machines

The guards are in test/guards/list, the table of them in docs/guards.md.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    find: { type: 'string' },
    list: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});

function named(name: string): Guard {
  const guard = GUARDS.find((one) => one.name === name);
  if (guard === undefined) throw new Error(`There is no guard ${name}; --list names them.`);
  return guard;
}

function print({ guard, verdict, said }: Trial): void {
  const { name, catcher } = guard;
  console.log(`${verdict === 'caught' ? '✓' : '✗'} ${name}: ${verdict}`);
  console.log(`    by "${catcher.title}" (${catcher.file})`);
  if (said !== '') console.log(`    ${said}`);
}

const WHERE = ['test/unit', 'test/model', 'test/simulation'];

/** Test files under paths, or of those that begin so. */
function filesUnder(paths: readonly string[]): readonly string[] {
  const begins = paths.length === 0 ? WHERE : paths;
  return globSync('test/**/*.test.ts', { cwd: ROOT }).filter((file) => begins.some((path) => file.startsWith(path)));
}

async function find(guard: Guard, paths: readonly string[]): Promise<void> {
  assertFresh(guard);
  const [ended] = await runTests([{ guard, files: filesUnder(paths), titles: [] }]);
  const { tests, broken } = ended ?? { tests: [], broken: [] };
  const failed = tests.filter(({ status }) => status === 'failed');
  for (const { file, title, failure } of failed) console.log(`${file}\n    ${title}\n    ${failure}`);
  for (const one of broken) console.log(`does not load: ${one}`);
  console.log(`${failed.length} of ${tests.length} tests fail without ${guard.name}.`);
}

/** So many guards are weakened in one process of Vitest: each costs it memory. */
const AT_ONCE = 20;

async function tryAll(guards: readonly Guard[]): Promise<void> {
  for (const guard of guards) assertFresh(guard);
  const unfit = await unfitCatchers(guards);
  const trials: Trial[] = [];
  for (let start = 0; start < guards.length; start += AT_ONCE) {
    const some = await tryGuards(guards.slice(start, start + AT_ONCE));
    if (values.json !== true) some.forEach(print);
    trials.push(...some);
  }
  const count = (verdict: Trial['verdict']) => trials.filter((trial) => trial.verdict === verdict).length;
  const [caught, leftOut] = [count('caught'), count('left-out')];
  if (values.json === true) {
    const rows = trials.map(({ guard, verdict, said }) => ({ ...guard, verdict, said }));
    console.log(JSON.stringify({ caught, leftOut, unfit, guards: rows }, null, 2));
  } else {
    for (const line of unfit) console.log(`✗ ${line}`);
    const without = leftOut > 0 ? `; ${leftOut} left out, for want of a Java 17 runtime` : '';
    console.log(`${caught} of ${guards.length} guards caught${without}.`);
  }
  // What cannot run on somebody's machine must run where it counts.
  const missed = guards.length - caught - (process.env.CI === 'true' ? 0 : leftOut);
  if (missed > 0 || unfit.length > 0) process.exitCode = 1;
}

/** One DynamoDB Local serves all tests that need one. */
async function withStore(work: () => Promise<void>): Promise<void> {
  const local = await startDynamoDbLocal();
  if (local !== undefined) process.env[SHARED_DYNAMODB_LOCAL] = local.endpoint;
  try {
    await work();
  } finally {
    await local?.stop();
  }
}

if (values.help === true) console.log(HELP);
else if (values.list === true) console.log(GUARDS.map(({ name }) => name).join('\n'));
else {
  const { find: sought, only } = values;
  await withStore(() => (sought === undefined ? tryAll(only?.map(named) ?? GUARDS) : find(named(sought), positionals)));
}
