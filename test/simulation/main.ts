import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Counter, DEMANDED_SEEDS, FLOOR, missing } from './coverage.ts';
import { HEAT_BOUNDS, type KindOfHeat, mergeHeat } from './heat.ts';
import { historyOf, playSeed, WrongHistory } from './seed.ts';
import { shrink } from './shrink.ts';
import type { Done, Failing, Task } from './work.ts';

const HELP = `Plays histories of the whole pipeline on models, each drawn from a seed, and checks every end.

  npm run simulate -- [options]

  --seeds N     how many histories (default 1000)
  --first S     the first seed (default 0)
  --seed S      plays one history and tells it; a failing one is shrunk first
  --workers W   threads (default: as many as there are cores)
  --seconds T   begins no further history after so long
  --heat        calls of the ledger by partition, as a histogram
  --json        one object instead of text
  --help        this

Ends with 1 where a history fails, or where ${DEMANDED_SEEDS} or more met some fault or act fewer than ${FLOOR} times.
`;

const SHRINK_MILLIS = 60_000;
const SEEDS_PER_TASK = 10;

interface Options {
  readonly seeds: number;
  readonly first: number;
  readonly seed: number | undefined;
  readonly workers: number;
  readonly seconds: number;
  readonly heat: boolean;
  readonly json: boolean;
}

interface Summary {
  readonly played: number;
  readonly seconds: number;
  readonly failing: readonly Failing[];
  readonly counter: Counter;
  readonly heat: readonly KindOfHeat[];
}

function readOptions(): Options | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: { seeds: text, first: text, seed: text, workers: text, seconds: text, heat: flag, json: flag, help: flag },
  });
  if (values.help) return undefined;
  const whole = (name: 'seeds' | 'first' | 'seed' | 'workers' | 'seconds'): number | undefined => {
    const value = values[name];
    if (value === undefined) return undefined;
    if (!/^\d{1,9}$/.test(value)) throw new Error(`--${name} must be a whole number. Received ${value}.`);
    return Number(value);
  };
  return {
    seeds: whole('seeds') ?? 1_000,
    first: whole('first') ?? 0,
    seed: whole('seed'),
    workers: Math.max(1, whole('workers') ?? availableParallelism()),
    seconds: whole('seconds') ?? Number.POSITIVE_INFINITY,
    heat: values.heat,
    json: values.json,
  };
}

async function playAll(options: Options): Promise<Summary> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  const counter = new Counter();
  const failing: Failing[] = [];
  let heat: readonly KindOfHeat[] = [];
  let played = 0;
  let next = options.first;
  const end = options.first + options.seeds;
  const take = (): Task | undefined => {
    if (next >= end || seconds() > options.seconds) return undefined;
    const seeds = Array.from({ length: Math.min(SEEDS_PER_TASK, end - next) }, (_, place) => next + place);
    next += seeds.length;
    return { seeds, heat: options.heat };
  };
  const note = (done: Done) => {
    played += done.played;
    counter.addAll(done.coverage);
    failing.push(...done.failing);
    heat = mergeHeat(heat, done.heat);
    if (process.stderr.isTTY) {
      process.stderr.write(
        `\r${played} of ${options.seeds} histories, ${failing.length} failing, ${seconds().toFixed(0)} s`,
      );
    }
  };
  await Promise.all(Array.from({ length: options.workers }, () => employ(take, note)));
  if (process.stderr.isTTY) process.stderr.write('\n');
  failing.sort((a, b) => a.seed - b.seed);
  return { played, seconds: seconds(), failing, counter, heat };
}

/** One worker, until there is nothing left to take. */
function employ(take: () => Task | undefined, note: (done: Done) => void): Promise<void> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    const give = () => {
      const task = take();
      if (task === undefined) worker.terminate().then(() => resolve(), reject);
      else worker.postMessage(task);
    };
    worker.on('message', (done: Done) => {
      note(done);
      give();
    });
    worker.on('error', reject);
    give();
  });
}

function coverageLines({ counter, played }: Summary): readonly string[] {
  const few = new Set(missing(counter.counts, played));
  const width = Math.max(...[...counter.counts.keys()].map(({ length }) => length));
  return [...counter.counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, count]) => `  ${kind.padEnd(width)} ${String(count).padStart(9)}${few.has(kind) ? '  too few' : ''}`);
}

function heatLines(heat: readonly KindOfHeat[]): readonly string[] {
  const cell = (value: string | number) => String(value).padStart(9);
  const bounds = [...HEAT_BOUNDS.map((bound) => `<${bound}`), `>=${HEAT_BOUNDS.at(-1)}`];
  const head = ['partition'.padEnd(24), ...['seen', 'reads', 'writes', 'most', ...bounds].map(cell)].join('');
  return [
    head,
    ...heat.map(({ kind, partitions, reads, writes, most, histogram }) =>
      [kind.padEnd(24), ...[partitions, reads, writes, most, ...histogram].map(cell)].join(''),
    ),
  ];
}

async function tellFailure({ seed, faults }: Failing): Promise<readonly string[]> {
  const shrunk = await shrink(historyOf(seed), SHRINK_MILLIS);
  return [
    `Seed ${seed} ends wrongly:`,
    ...faults.map((fault) => `  ${fault}`),
    `Shrunk to ${shrunk.history.steps.length} steps, it still ends wrongly:`,
    ...shrunk.faults.map((fault) => `  ${fault}`),
    'after:',
    ...shrunk.story.map((line) => `  ${line}`),
    `Play it again: npm run simulate -- --seed ${seed}`,
  ];
}

async function playMany(options: Options): Promise<number> {
  const summary = await playAll(options);
  const { played, seconds, failing, counter, heat } = summary;
  const few = played >= DEMANDED_SEEDS ? missing(counter.counts, played) : [];
  if (options.json) {
    const coverage = Object.fromEntries([...counter.counts].sort());
    process.stdout.write(`${JSON.stringify({ played, seconds, failing, few, coverage, heat }, null, 2)}\n`);
  } else {
    const lines = ['What was met:', ...coverageLines(summary), ...(options.heat ? heatLines(heat) : [])];
    const [first] = failing;
    if (first !== undefined) lines.push(...(await tellFailure(first)));
    if (failing.length > 1) lines.push(`Failing seeds: ${failing.map(({ seed }) => seed).join(', ')}`);
    if (few.length > 0) lines.push(`Met too seldom: ${few.join(', ')}`);
    lines.push(`${played} histories in ${seconds.toFixed(1)} s, ${failing.length} failing.`);
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  return failing.length > 0 || few.length > 0 ? 1 : 0;
}

async function playOne(seed: number): Promise<number> {
  try {
    const { stage, coverage } = await playSeed(seed, { tells: 'story' });
    const met = [...coverage.keys()].sort().join(', ');
    process.stdout.write(`${[...stage.story, `Met: ${met}`, `Seed ${seed} ends well.`].join('\n')}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof WrongHistory)) throw error;
    process.stdout.write(`${(await tellFailure({ seed, faults: error.faults })).join('\n')}\n`);
    return 1;
  }
}

const options = readOptions();
if (options === undefined) process.stdout.write(HELP);
else process.exitCode = options.seed === undefined ? await playMany(options) : await playOne(options.seed);
