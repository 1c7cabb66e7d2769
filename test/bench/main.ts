import { parseArgs } from 'node:util';
import { startDynamoDbLocal } from '../helpers/dynamodb-local.ts';
import { type Measured, type Part, render, violation } from './figures.ts';
import { described, machine } from './machine.ts';
import { PARTS } from './parts.ts';
import { pointProcessAtDynamoDbLocal } from './store.ts';

// `npm run bench`: measures, prints, and ends with 1 where a figure does not keep its bound. docs/benchmarks.md says how
// and what came of it.

const USAGE = `npm run bench -- [--only PART]... [--quick] [--json]

  --only PART  that part alone; may be given again
  --quick      a fifth of the records, fewer rounds
  --json       one line of JSON in place of tables
  --help       this text

Parts:
${PARTS.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')}

It needs a Java 17 runtime, for DynamoDB Local. Without --quick it takes about ten minutes.
`;

const OPTIONS = {
  only: { type: 'string', multiple: true },
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const USAGE_ERROR = 2;

function chosen(only: readonly string[] | undefined): readonly Part[] {
  const unknown = (only ?? []).filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(', ')}.`);
  return only === undefined ? PARTS : PARTS.filter(({ name }) => only.includes(name));
}

interface Result extends Measured {
  readonly part: string;
  readonly seconds: number;
  readonly violations: readonly string[];
}

async function measure(part: Part, scale: 'full' | 'quick'): Promise<Result> {
  console.error(`${part.name}: ${part.about} …`);
  const begun = performance.now();
  const measured = await part.measure(scale);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const violations = measured.figures.flatMap((figure) => violation(figure) ?? []);
  return { part: part.name, seconds, violations, ...measured };
}

async function bench(parts: readonly Part[], scale: 'full' | 'quick', json: boolean): Promise<number> {
  const local = await startDynamoDbLocal();
  if (local === undefined) return 1;
  pointProcessAtDynamoDbLocal(local);
  const results: Result[] = [];
  try {
    if (!json) console.log(described(machine()));
    for (const part of parts) {
      const result = await measure(part, scale);
      results.push(result);
      if (!json) console.log(`\n## ${part.name} (${result.seconds} s)\n\n${render(result)}`);
    }
  } finally {
    await local.stop();
  }
  if (json) console.log(JSON.stringify({ machine: machine(), scale, parts: results }));
  const violations = results.flatMap((result) => result.violations);
  for (const line of violations) console.error(`Over its bound: ${line}`);
  return violations.length > 0 ? 1 : 0;
}

async function main(): Promise<number> {
  let given: ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];
  let parts: readonly Part[];
  try {
    given = parseArgs({ options: OPTIONS }).values;
    parts = chosen(given.only);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    return USAGE_ERROR;
  }
  if (given.help) {
    console.log(USAGE);
    return 0;
  }
  return bench(parts, given.quick ? 'quick' : 'full', given.json);
}

process.exitCode = await main();
