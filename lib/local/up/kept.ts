import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StackOutputs } from '../cdk.ts';
import { keptRuns } from '../runs.ts';
import { attach, type LocalAws, type OwnLocalAws } from '../server.ts';

/** What a later run must know of a pipeline that was left up. */
export interface KeptPipeline {
  /** Equal where a later run is about the same records under the same policy: see `Subject`. */
  readonly identity: string;
  readonly stackName: string;
  readonly outputs: StackOutputs;
}

const RECORD = 'pipeline.json';
const SHELL_FILE = 'env.sh';

/** Leaves a local AWS up; gives the file that a shell can source to look at it. */
export function keepPipeline(aws: OwnLocalAws, kept: KeptPipeline): string {
  writeKept(aws.folder, kept);
  const shellFile = writeShellFile(aws);
  aws.keep();
  return shellFile;
}

export function writeKept(folder: string, kept: KeptPipeline): void {
  writeFileSync(join(folder, RECORD), `${JSON.stringify(kept, null, 2)}\n`);
}

export interface FoundPipeline {
  readonly aws: LocalAws;
  readonly kept: KeptPipeline;
}

/** A pipeline of this identity that was left up and still runs. */
export function findKept(home: string, identity: string): FoundPipeline | undefined {
  for (const record of keptRuns(home)) {
    const file = join(record.folder, RECORD);
    if (!existsSync(file)) continue;
    const kept = JSON.parse(readFileSync(file, 'utf8')) as KeptPipeline;
    if (kept.identity === identity) return { aws: attach(record), kept };
  }
  return undefined;
}

export function shellFileOf(aws: LocalAws): string {
  return join(aws.folder, SHELL_FILE);
}

/** What a shell may have from elsewhere would win over keys, or go along with them. */
const OTHERS = ['AWS_PROFILE', 'AWS_DEFAULT_PROFILE', 'AWS_SESSION_TOKEN'];

function writeShellFile(aws: LocalAws): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const lines = Object.entries(aws.env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  const file = shellFileOf(aws);
  writeFileSync(file, `${[`unset ${OTHERS.join(' ')}`, ...lines].join('\n')}\n`, { mode: 0o600 });
  return file;
}
