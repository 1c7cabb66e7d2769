import { availableParallelism } from 'node:os';
import { relative, resolve } from 'node:path';
import { createVitest, type TestCase, type TestModule } from 'vitest/node';
import { SHARED_DYNAMODB_LOCAL } from '../helpers/dynamodb-local.ts';
import type { Catcher, Guard } from './guard.ts';
import { ROOT, weakening } from './plugin.ts';

/** How one test ended; `failure` is the first line of what it said. */
export interface TestEnd extends Catcher {
  readonly status: 'passed' | 'failed' | 'left-out';
  readonly failure: string;
}

/** `broken`: files that did not load at all, with what was said. */
export interface Ended {
  readonly tests: readonly TestEnd[];
  readonly broken: readonly string[];
}

/** Tests to run with a guard taken out, or with all in their places. */
export interface Order {
  readonly guard: Guard | undefined;
  readonly files: readonly string[];
  /** No test but those whose titles end so; all, where it is empty. */
  readonly titles: readonly string[];
}

const TIMEOUT_MILLIS = 120_000;

/** A project of Vitest for each order: its modules are weakened and loaded apart from those of the others. */
function projectOf({ guard, files }: Order, n: number) {
  return {
    root: ROOT,
    plugins: guard === undefined ? [] : [weakening(guard)],
    test: {
      name: String(n),
      include: [...files],
      testTimeout: TIMEOUT_MILLIS,
      hookTimeout: TIMEOUT_MILLIS,
      env: { [SHARED_DYNAMODB_LOCAL]: process.env[SHARED_DYNAMODB_LOCAL] ?? '' },
    },
  };
}

/** Runs orders side by side in one process, as many at once as there are cores, and answers in their order. */
export async function runTests(orders: readonly Order[]): Promise<readonly Ended[]> {
  const options = {
    config: false as const,
    root: ROOT,
    watch: false,
    reporters: [{}],
    maxWorkers: availableParallelism(),
  };
  const vitest = await createVitest('test', { ...options, projects: orders.map(projectOf) });
  try {
    const specifications = orders.flatMap(({ files, titles }, n) => {
      const project = vitest.projects.find(({ name }) => name === String(n));
      if (project === undefined) throw new Error(`Vitest has made no project ${n}.`);
      const only = titles.length === 0 ? {} : { testNamePattern: new RegExp(`(${titles.map(escaped).join('|')})$`) };
      return files.map((file) => project.createSpecification(resolve(ROOT, file), only));
    });
    const { testModules } = await vitest.runTestSpecifications(specifications);
    return orders.map((_order, n) => endedOf(testModules.filter(({ project }) => project.name === String(n))));
  } finally {
    await vitest.close();
  }
}

function escaped(title: string): string {
  return title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function endedOf(modules: readonly TestModule[]): Ended {
  return {
    tests: modules.flatMap((module) => [...module.children.allTests()].map((test) => endOf(module, test))),
    broken: modules.flatMap((module) =>
      module.errors().map(({ message }) => `${relative(ROOT, module.moduleId)}: ${firstLine(message)}`),
    ),
  };
}

function endOf(module: TestModule, test: TestCase): TestEnd {
  const { state, errors = [] } = test.result();
  const status = state === 'passed' || state === 'failed' ? state : 'left-out';
  const [error] = errors;
  const failure = error === undefined ? '' : firstLine(`${error.name}: ${error.message}`);
  return { file: relative(ROOT, module.moduleId), title: test.name, status, failure };
}

/** The first line; with the next one where it announces that. */
function firstLine(text: string): string {
  const [first = '', second = ''] = text.split('\n').map((line) => line.trim());
  return first.endsWith(':') ? `${first} ${second}` : first;
}
