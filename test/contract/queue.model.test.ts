import { MemoryQueue, World } from '../model/index.ts';
import { queueContract, RECEIVES_ALLOWED } from './queue.contract.ts';
import { untilOn } from './until.ts';

queueContract('in memory', async () => {
  const world = new World({ start: Date.now() });
  const queue = new MemoryQueue(world, { maxReceiveCount: RECEIVES_ALLOWED });
  return {
    queue,
    receive: () => queue.receive(10),
    acknowledge: async (handle) => queue.work.remove(handle),
    until: untilOn(world),
  };
});
