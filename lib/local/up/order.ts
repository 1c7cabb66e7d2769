import { basename, resolve } from 'node:path';
import { type EpochMillis, formatInstant } from '../../core/identity/instant.ts';
import { cutoffOf } from '../../core/plan/new-run.ts';
import { RefusedRequest, readDispatchRequest } from '../../core/plan/request.ts';
import type { Settings } from '../../core/policy/settings.ts';
import { BadData, readDataFile } from './data-file.ts';
import {
  type Example,
  exampleNames,
  loadExample,
  type Rollout,
  type RolloutBegun,
  type RunExample,
} from './example.ts';
import { type PolicyTexts, readPolicy } from './policy.ts';
import { type Case, caseOf } from './verdict.ts';

/** The options of `up` as a person gave them. */
export interface UpOptions {
  readonly example?: string;
  readonly data?: string;
  readonly scheduledTime?: string;
  readonly retentionDays?: string;
  readonly mode?: string;
}

/** What a run is about. */
export interface Subject {
  readonly kind: 'example' | 'data';
  readonly name: string;
  /** Equal for the same records under the same policy, whatever the scheduled time and the mode. */
  readonly identity: string;
  readonly cases: readonly Case[];
}

/** What can be carried out. */
export type Order = RunOrder | RolloutOrder;

export interface RolloutOrder {
  readonly kind: 'rollout';
  readonly name: string;
  readonly rollout: RolloutBegun;
}

/** One run. */
export interface RunOrder {
  readonly kind: 'run';
  readonly subject: Subject;
  readonly settings: Settings;
  readonly scheduledTime: EpochMillis;
  readonly cutoff: EpochMillis;
}

/** Options that cannot be carried out, or their file; one sentence each. Nothing was started. */
export class BadOptions extends Error {
  override name = 'BadOptions';
}

export const DEFAULT_EXAMPLE = 'digest-eligibility';

const DATA_POLICY = { policyId: 'local-data', recordTableName: 'local-data' };
/** An example makes accounts that are years older than the cutoff, and no timestamp before 1980 is read. */
const EARLIEST_EXAMPLE_CUTOFF = Date.UTC(1990, 0, 1);

/** Checks everything that can be wrong before anything is started. Throws BadOptions. */
export async function readOrder(options: UpOptions, now: EpochMillis): Promise<Order> {
  if (options.data !== undefined) return readDataOrder({ ...options, data: options.data }, now);
  return readExampleOrder(options, now);
}

async function readExampleOrder(options: UpOptions, now: EpochMillis): Promise<Order> {
  const example = await exampleNamed(options.example ?? DEFAULT_EXAMPLE);
  return example.kind === 'rollout' ? readRollout(example, options, now) : readRunOrder(example, options, now);
}

const OF_ONE_RUN = { scheduledTime: '--scheduled-time', retentionDays: '--retention-days', mode: '--mode' } as const;

/** Its steps have their own times and parameters. */
function readRollout(example: Rollout, options: UpOptions, now: EpochMillis): RolloutOrder {
  const { name } = example;
  const given = Object.entries(OF_ONE_RUN).filter(([key]) => options[key as keyof typeof OF_ONE_RUN] !== undefined);
  if (given.length > 0) {
    throw new BadOptions(
      `--example ${name} has several runs and takes no ${given.map(([, flag]) => flag).join(', ')}.`,
    );
  }
  return { kind: 'rollout', name, rollout: example.begin(now) };
}

function readRunOrder(example: RunExample, options: UpOptions, now: EpochMillis): RunOrder {
  const { name, recordTableName } = example;
  const scheduledTime = readScheduledTime(options.scheduledTime ?? example.scheduledTime, now);
  const retentionDays = options.retentionDays ?? example.retentionDays;
  const settings = readSettings({ policyId: name, recordTableName, retentionDays, mode: options.mode ?? 'enforce' });
  const cutoff = cutoffOf(settings, scheduledTime);
  if (cutoff < EARLIEST_EXAMPLE_CUTOFF) {
    throw new BadOptions(`--retention-days ${retentionDays}: the cutoff ${formatInstant(cutoff)} is before 1990.`);
  }
  const cases = example.cases({ scheduledTime, cutoff });
  const disturbed: Subject = { kind: 'example', name, identity: name, cases };
  const subject = settings.mode === 'enforce' ? disturbed : leftAlone(disturbed);
  return { kind: 'run', subject, settings, scheduledTime, cutoff };
}

/** People act between plan and write; where nothing is written, nobody needs to. */
function leftAlone(subject: Subject): Subject {
  return { ...subject, cases: subject.cases.map((one) => ({ ...one, left: one.loaded })) };
}

/** One run on a CSV. Throws BadOptions. */
export async function readDataOrder(
  options: UpOptions & { readonly data: string },
  now: EpochMillis,
): Promise<RunOrder> {
  const { data, example, retentionDays } = options;
  if (example !== undefined) throw new BadOptions('--data and --example exclude each other.');
  if (retentionDays === undefined) throw new BadOptions('--data needs --retention-days.');
  const scheduledTime = readScheduledTime(options.scheduledTime ?? startOfDay(now), now);
  const settings = readSettings({ ...DATA_POLICY, retentionDays, mode: options.mode ?? 'report-only' });
  const cutoff = cutoffOf(settings, scheduledTime);
  const { items, digest } = await readDataFile(resolve(data)).catch((error: unknown) => {
    throw error instanceof BadData ? new BadOptions(`--data ${error.message}`) : error;
  });
  const identity = `${digest} ${settings.retentionDays}`;
  const cases = items.map((item) => caseOf(item, cutoff));
  const subject: Subject = { kind: 'data', name: basename(data), identity, cases };
  return { kind: 'run', subject, settings, scheduledTime, cutoff };
}

function startOfDay(now: EpochMillis): string {
  return `${formatInstant(now).slice(0, 10)}T00:00:00Z`;
}

async function exampleNamed(name: string): Promise<Example> {
  const names = exampleNames();
  if (!names.includes(name)) throw new BadOptions(`--example ${name}: there is ${names.join(', ')}.`);
  return loadExample(name);
}

function readScheduledTime(text: string, now: EpochMillis): EpochMillis {
  try {
    return readDispatchRequest({ scheduledTime: text }, now).scheduledTime;
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    throw new BadOptions(error.problems.map(({ message }) => `--scheduled-time: ${message}`).join('\n'));
  }
}

const FLAGS: Readonly<Record<string, string>> = { RetentionDays: '--retention-days', Mode: '--mode' };

function readSettings(texts: PolicyTexts): Settings {
  const parsed = readPolicy(texts);
  if (parsed.kind === 'valid') return parsed.settings;
  throw new BadOptions(
    parsed.problems.map(({ parameter, message }) => `${FLAGS[parameter] ?? parameter}: ${message}`).join('\n'),
  );
}
