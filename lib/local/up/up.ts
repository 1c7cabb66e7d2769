import { existsSync } from 'node:fs';
import { pointProcessAt } from '../access.ts';
import type { Progress } from '../cdk.ts';
import { bringUp, type OwnPipeline, redeploy } from './bring-up.ts';
import { type Ended, runAgain, runFresh } from './carry-out.ts';
import { type FoundPipeline, findKept, keepPipeline, shellFileOf, writeKept } from './kept.ts';
import type { Order } from './order.ts';
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
  const kept = order.subject.kind === 'data' ? findKept(world.home, order.subject.identity) : undefined;
  return kept === undefined ? upFresh(order, world) : upAgain(kept, order, world);
}

async function upAgain({ aws, kept }: FoundPipeline, order: Order, { progress }: UpWorld): Promise<Done> {
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

async function upFresh(order: Order, { home, whenDone, progress }: UpWorld): Promise<Done> {
  const { settings, subject } = order;
  const pipeline = await bringUp({ home, settings, items: subject.cases.map(({ loaded }) => loaded), progress });
  const keep = () => keepPipeline(pipeline.aws, identify(pipeline, order));
  try {
    const ended = await runFresh(pipeline, order, progress);
    if (whenDone === 'keep') return { pipeline, ended, shellFile: keep() };
    await pipeline.aws.stop();
    return { pipeline, ended };
  } catch (error) {
    if (whenDone === 'keep' && existsSync(pipeline.aws.folder)) progress(`left up for a look: source ${keep()}`);
    throw error;
  }
}

function identify({ stackName, outputs }: OwnPipeline, { subject }: Order) {
  return { identity: subject.identity, stackName, outputs };
}
