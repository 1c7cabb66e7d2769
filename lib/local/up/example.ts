import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EpochMillis } from '../../core/identity/instant.ts';
import type { Settings } from '../../core/policy/settings.ts';
import type { Progress } from '../cdk.ts';
import { REPOSITORY } from '../paths.ts';
import type { Item } from '../records.ts';
import type { Ended } from './carry-out.ts';
import type { Pipeline } from './pipeline.ts';
import type { Case } from './verdict.ts';

/** `examples/<name>/example.ts` exports one as `example`. */
export type Example = RunExample | Rollout;

/** A scenario of one run that makes its own records. */
export interface RunExample {
  readonly kind: 'run';
  readonly name: string;
  readonly recordTableName: string;
  readonly scheduledTime: string;
  readonly retentionDays: string;
  /** The same for the same instants: what must become of each record follows from here and from nothing else. */
  cases(at: ExampleInstants): readonly Case[];
}

/** A scenario of several deployments and runs over the same records, one after the other. */
export interface Rollout {
  readonly kind: 'rollout';
  readonly name: string;
  begin(now: EpochMillis): RolloutBegun;
}

export interface RolloutBegun {
  /** Of the first deployment. */
  readonly settings: Settings;
  /** As they are loaded; the key is `id`. */
  readonly items: readonly Item[];
  /** Carries all of it out on a pipeline that is deployed with these settings and has these records. */
  carryOut(pipeline: Pipeline, progress: Progress): Promise<Ended>;
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
