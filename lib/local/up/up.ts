import { existsSync } from 'node:fs';
import type { Settings } from '../../core/policy/settings.ts';
import { pointProcessAt } from '../access.ts';
import type { Progress } from '../cdk.ts';
import type { Item } from '../records.ts';
import { bringUp, redeploy } from './bring-up.ts';
import { type Ended, runAgain, runFresh } from './carry-out.ts';
import { type FoundPipeline, findKept, keepPipeline, shellFileOf, writeKept } from './kept.ts';
import type { Order, RolloutOrder, RunOrder } from './order.ts';
import { connect, type Pipeline } from './pipeline.ts';
import { runIdAt } from './policy.ts';

export interface UpWorld {
  /** Folder of the runs' own folders. */
  readonly home: string;
  readonly whenDone: 'end' | 'keep';
  readonly progress: Progress;
}

/** What came of an order. `shellFile`: where it was left up, the file for a shell. */
export interface Done {
  readonly pipeline: Pipeline;
  readonly ended: Ended;
  readonly shellFile?: string;
}

/** Carries an order out, on a pipeline of its own or on the one that an earlier run on the same data left up. */
export async function up(order: Order, world: UpWorld): Promise<Done> {
  if (order.kind === 'rollout') return upRollout(order, world);
  const { settings, subject } = order;
  const kept = subject.kind === 'data' ? findKept(world.home, subject.identity) : undefined;
  if (kept !== undefined) return upAgain(kept, order, world);
  const items = subject.cases.map(({ loaded }) => loaded);
  const work = (pipeline: Pipeline) => runFresh(pipeline, order, world.progress);
  return upFresh({ settings, items, identity: subject.identity, work }, world);
}

function upRollout({ name, rollout }: RolloutOrder, world: UpWorld): Promise<Done> {
  const { settings, items } = rollout;
  const work = (pipeline: Pipeline) => rollout.carryOut(pipeline, world.progress);
  return upFresh({ settings, items, identity: name, work }, world);
}

async function upAgain({ aws, kept }: FoundPipeline, order: RunOrder, { progress }: UpWorld): Promise<Done> {
  progress(`taking up the local AWS at ${aws.endpoint}, left up by an earlier run on the same data`);
  pointProcessAt(aws);
  let pipeline = connect(aws, kept.stackName, kept.outputs);
  const known = await pipeline.ledger.readRun(runIdAt(order.settings, order.scheduledTime));
  // A run that exists has its own mode, whatever is deployed; one that was refused begins anew.
  if ((known === undefined || known.status === 'refused') && kept.outputs.Mode !== order.settings.mode) {
    progress(`deploying the stack again, now in mode ${order.settings.mode}`);
    pipeline = await redeploy(pipeline, order.settings);
    writeKept(aws.folder, { ...kept, outputs: pipeline.outputs });
  }
  return { pipeline, ended: await runAgain(pipeline, order, known, progress), shellFile: shellFileOf(aws) };
}

interface Fresh {
  readonly settings: Settings;
  readonly items: readonly Item[];
  readonly identity: string;
  readonly work: (pipeline: Pipeline) => Promise<Ended>;
}

async function upFresh({ settings, items, identity, work }: Fresh, world: UpWorld): Promise<Done> {
  const { home, whenDone, progress } = world;
  const pipeline = await bringUp({ home, settings, items, progress });
  const { aws, stackName, outputs } = pipeline;
  const keep = () => keepPipeline(aws, { identity, stackName, outputs });
  try {
    const ended = await work(pipeline);
    if (whenDone === 'keep') return { pipeline, ended, shellFile: keep() };
    await aws.stop();
    return { pipeline, ended };
  } catch (error) {
    if (whenDone === 'keep' && existsSync(aws.folder)) progress(`left up for a look: source ${keep()}`);
    throw error;
  }
}
