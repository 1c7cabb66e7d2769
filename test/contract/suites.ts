import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a contract can be run on. `process` is what this machine gives every process: time, chance. */
export const IMPLEMENTATIONS = ['model', 'local-aws', 'dynamodb-local', 'process'] as const;
export type Implementation = (typeof IMPLEMENTATIONS)[number];

const PORTS = join(import.meta.dirname, '../../lib/core/ports');
const INTERFACE = /^export interface (\w+)[^{]*\{\n([\s\S]*?)^\}/gm;
const METHOD = /^ {2}\w+\(/m;
const IMPORTED = /from '\.\/([\w.-]+)'/g;

/** Every exported interface of `lib/core/ports` that somebody can be asked something through: one that has a method. */
export function portNames(): readonly string[] {
  const texts = readdirSync(PORTS).map((name) => readFileSync(join(PORTS, name), 'utf8'));
  return texts
    .flatMap((text) => [...text.matchAll(INTERFACE)])
    .flatMap(([, name = '', body = '']) => (METHOD.test(body) ? [name] : []))
    .toSorted();
}

/** By its file and the name of its function: `RecordSource` has `recordSourceContract` of `record-source.contract.ts`. */
export function suiteOf(port: string): { readonly file: string; readonly call: string } {
  const file = port.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  return { file: `${file}.contract.ts`, call: `${port.charAt(0).toLowerCase()}${port.slice(1)}Contract` };
}

/** Where a port's suite is run: a test file `*.<implementation>.test.ts` calls it, itself or by what it imports. */
export function implementationsOf(port: string): readonly Implementation[] {
  const { call } = suiteOf(port);
  // Not its own declaration.
  const called = new RegExp(`(?<!function )\\b${call}\\(`);
  return IMPLEMENTATIONS.filter((implementation) =>
    [...filesRunOn(implementation)].some((name) => called.test(textOf(name))),
  );
}

/** The files of this folder whose cases are run on an implementation: its test files and what they import, and so on. */
export function filesRunOn(implementation: Implementation): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const [, file = ''] of textOf(name).matchAll(IMPORTED)) visit(file);
  };
  readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(`.${implementation}.test.ts`))
    .forEach(visit);
  return seen;
}

function textOf(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}
