import { MemoryIdempotency, World } from '../model/index.ts';
import { idempotencyContract } from './idempotency.contract.ts';
import { untilOn } from './until.ts';

idempotencyContract('in memory', async () => {
  const world = new World();
  const memory = new MemoryIdempotency(world);
  return { open: (millis) => memory.on(world.clock(), () => millis), until: untilOn(world) };
});
