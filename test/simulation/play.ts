import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import { LEASE_MILLIS } from '../../lib/core/plan/lease.ts';
import type { DeploymentOptions } from '../helpers/deployment.ts';
import { bringBack, settle } from '../helpers/settle.ts';
import type { Row } from '../model/index.ts';
import { type Evidence, faultsOf, faultsOfCalm } from './checker/index.ts';
import { isUnreadable } from './config.ts';
import type { Coverage } from './coverage.ts';
import type { History } from './history.ts';
import { Scheduler } from './scheduler.ts';
import { Stage } from './stage.ts';
import { take } from './steps.ts';

export interface PlayOptions {
  /** Over what the history draws: the mutant of a test. */
  readonly deployment?: Partial<DeploymentOptions>;
  readonly tells?: 'story' | 'nothing';
  /** Told of every call of a port, with its arguments. */
  readonly onCall?: (name: string, parameters: readonly unknown[]) => void;
}

export interface Played {
  readonly stage: Stage;
  readonly coverage: Coverage;
  /** As it stands in the end. */
  readonly evidence: Evidence;
}

/** A history that ended wrongly, in sentences. */
export class WrongHistory extends Error {
  readonly faults: readonly string[];
  readonly story: readonly string[];

  constructor(faults: readonly string[], story: readonly string[], cause?: unknown) {
    super(faults.join('; '), { cause });
    this.name = 'WrongHistory';
    this.faults = faults;
    this.story = story;
  }
}

/** Plays a history to its end and checks it, at rest and once people have brought back what waited. Throws WrongHistory. */
export async function play(history: History, options: PlayOptions = {}): Promise<Played> {
  const stage = new Stage(history, options.deployment ?? {}, options.tells ?? 'nothing');
  stage.deployment.crew.onCall = options.onCall;
  try {
    await trouble(stage, history);
    await rest(stage);
    await judge(stage);
    stage.deployment.calm();
    await mend(stage);
    await bringBack(stage.deployment);
    await judge(stage);
    await oneMore(stage);
    await judge(stage);
  } catch (error) {
    if (error instanceof WrongHistory) throw error;
    throw new WrongHistory([error instanceof Error ? error.message : String(error)], stage.story, error);
  }
  countEnds(stage);
  return { stage, coverage: stage.met.counts, evidence: await stage.journal.evidence() };
}

async function trouble(stage: Stage, { world, steps }: History): Promise<void> {
  const scheduler = new Scheduler(stage, steps.length);
  for (const [place, [what, detail]] of steps.entries()) {
    await stage.pause();
    stage.random.reseed(detail ^ world);
    scheduler.before(place);
    await take({ stage, scheduler }, what);
  }
  stage.random.reseed(world);
  await stage.steady();
  stage.tell(() => 'the trouble ends');
  for (const time of scheduler.rest()) await stage.deployment.dispatch(time);
  // The scheduler tries again where the dispatcher did not come to make a run.
  for (const time of scheduler.fired) {
    if (!stage.runs.some(({ scheduledTime }) => scheduledTime === time)) await stage.deployment.dispatch(time);
  }
}

async function rest({ deployment }: Stage): Promise<void> {
  await deployment.act({ act: 'resume', actor: 'someone', reason: 'to an end' });
  await settle(deployment);
}

async function judge(stage: Stage): Promise<void> {
  const faults = faultsOf(await stage.journal.evidence());
  if (faults.length > 0) throw new WrongHistory(faults, stage.story);
}

/** A person mends what refused a run, and its scheduled time is tried again. */
async function mend(stage: Stage): Promise<void> {
  const { deployment } = stage;
  const refused = stage.runs.filter(({ status }) => status === 'refused');
  if (refused.length === 0) return;
  mendRows(stage);
  // A dispatcher that crashed over a refused run may still hold its lease, by a clock that was fast.
  deployment.world.advance(2 * LEASE_MILLIS);
  for (const run of refused) {
    const otherMeaning = run.refusals.some(({ parameter }) => parameter === 'PolicyVersion');
    if (otherMeaning) stage.met.add('refused: version with another meaning');
    stage.met.add('run refused');
    if (!otherMeaning && run.policyVersion === deployment.settings.policyVersion) {
      await deployment.dispatch(run.scheduledTime);
    }
  }
  await settle(deployment);
}

function mendRows({ deployment, journal }: Stage): void {
  for (const row of deployment.records.rows()) {
    if (!isUnreadable(row)) continue;
    deployment.records.reactivate(String(row.id));
    journal.person(String(row.id));
  }
}

/** What every history has at least, whatever became of its runs. */
const LEAST = { runs: 2, batches: 3 };

/** A last run in calm weather, over whatever the history left: it must find exactly what is due. */
async function oneMore(stage: Stage): Promise<void> {
  const { deployment, versions } = stage;
  const { settings, world, records } = deployment;
  stage.deploy({ ...stage.texts, policyVersion: `v${versions + 1}`, action: 'expire' });
  mendRows(stage);
  const plans = stage.runs.filter(({ frozenAt }) => frozenAt !== undefined);
  const batches = plans.reduce((sum, { plan }) => sum + (plan?.batches ?? 0), 0);
  const scheduled = Math.ceil((world.millis + 1) / DAY_MILLIS) * DAY_MILLIS;
  world.advance(scheduled - world.millis);
  const isPoor = plans.length + 1 < LEAST.runs || batches < LEAST.batches;
  for (let number = 0; isPoor && number <= 2 * settings.batchSize; number += 1) {
    const row = lateRow(number, scheduled);
    records.put(row);
    stage.journal.person(String(row.id));
  }
  const rows = records.rows();
  await deployment.dispatch(scheduled);
  await settle(deployment);
  const holds = stage.config.deployment.source?.projection === 'keys-only' ? 'unseen' : 'seen';
  const runId = deployment.runIdAt(scheduled);
  const faults = faultsOfCalm(await stage.journal.evidence(), { runId, rows, holds });
  if (faults.length > 0) throw new WrongHistory(faults, stage.story);
}

function lateRow(number: number, at: number): Row {
  const lastActivity = new Date(at - 400 * DAY_MILLIS).toISOString();
  return { id: `late-${number}`, tenant: 'late', status: 'ACTIVE', lastActivity, hold: null };
}

/** What can only be counted in the end. */
function countEnds(stage: Stage): void {
  const { met, deployment, config } = stage;
  const { runs, units } = deployment.ledger.contents();
  met.addAll(deployment.world.mischief);
  for (const run of runs) {
    met.add('run of action delete', run.kind === 'delete' && run.frozenAt !== undefined ? 1 : 0);
    met.add('run that only reports', run.status === 'reported' ? 1 : 0);
    met.add('run cancelled', run.status === 'cancelled' ? 1 : 0);
  }
  const found = runs.some(({ scheduledTime }) => scheduledTime === config.missed);
  met.add('scheduler missed a time', config.missed !== undefined && !found ? 1 : 0);
  met.add('record split from its batch', units.filter(({ unit }) => unit.includes('.')).length);
  met.add('unit quarantined', deployment.log.named('unit_quarantined').length);
  met.add('message that cannot be read', deployment.ledger.contents().badMessages.length);
  const closed = deployment.log.named('run_closed');
  const around = closed.filter(({ fields }) => fields.status === 'complete_with_quarantine').length;
  met.add('run closed around a quarantine', around);
}
