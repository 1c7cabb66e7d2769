import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EpochMillis } from '../../core/identity/instant.ts';
import { REPOSITORY } from '../paths.ts';
import type { Case } from './verdict.ts';

/** A scenario that makes its own records. `examples/<name>/example.ts` exports one as `example`. */
export interface Example {
  readonly name: string;
  readonly recordTableName: string;
  readonly scheduledTime: string;
  readonly retentionDays: string;
  /** The same for the same instants: what must become of each record follows from here and from nothing else. */
  cases(at: ExampleInstants): readonly Case[];
}

export interface ExampleInstants {
  readonly scheduledTime: EpochMillis;
  readonly cutoff: EpochMillis;
}

const EXAMPLES = join(REPOSITORY, 'examples');

function fileOf(name: string): string {
  return join(EXAMPLES, name, 'example.ts');
}

export function exampleNames(): readonly string[] {
  return readdirSync(EXAMPLES).filter((name) => existsSync(fileOf(name)));
}

/** Loads one of `exampleNames()`. */
export async function loadExample(name: string): Promise<Example> {
  const loaded = (await import(pathToFileURL(fileOf(name)).href)) as { example: Example };
  return loaded.example;
}
