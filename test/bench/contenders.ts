import { MessagePerRecord } from './alternatives/message-per-record.ts';
import { SequentialLoop } from './alternatives/sequential-loop.ts';
import { TransactionPerBatch } from './alternatives/transaction-per-batch.ts';
import type { Contender, Counted, Metering } from './contender.ts';
import { Pipeline } from './pipeline.ts';
import { createWorld, type World, type WorldOptions } from './store.ts';

export type ContenderName = 'ours' | 'message per record' | 'sequential loop' | 'transaction per batch';

const CONTENDERS: Readonly<Record<ContenderName, (world: World, metering: Metering) => Contender>> = {
  ours: (world) => new Pipeline(world),
  'message per record': (world, metering) => new MessagePerRecord(world, metering),
  'sequential loop': (world, metering) => new SequentialLoop(world, metering),
  'transaction per batch': (world, metering) => new TransactionPerBatch(world, metering),
};

export const CONTENDER_NAMES = Object.keys(CONTENDERS) as ContenderName[];

export interface Ran extends Counted {
  readonly world: World;
  /** Of planning and work together. */
  readonly millis: number;
  readonly queueRequests: number;
}

export interface RunOptions extends WorldOptions {
  readonly metering: Metering;
  /** What happens to the world after the plan was made and before it is worked on. */
  readonly between?: (world: World) => Promise<void>;
}

/** Runs one contender in a world of its own. Every record must come to an end: changed, or left alone. */
export async function run(name: ContenderName, { metering, between, ...options }: RunOptions): Promise<Ran> {
  const world = await createWorld(options);
  const contender = CONTENDERS[name](world, metering);
  const planning = performance.now();
  await contender.plan();
  const planned = performance.now();
  await between?.(world);
  const working = performance.now();
  await contender.work();
  const millis = planned - planning + (performance.now() - working);
  const counted = contender.counted();
  if (counted.changed + counted.skipped !== world.records) {
    throw new Error(`${name}: of ${world.records} records, ${counted.changed} + ${counted.skipped} came to an end.`);
  }
  return { ...counted, world, millis, queueRequests: world.queue.requests };
}
