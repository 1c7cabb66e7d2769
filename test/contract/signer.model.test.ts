import { MemorySigner, World } from '../model/index.ts';
import { signerContract } from './signer.contract.ts';

signerContract('in memory', async () => {
  const world = new World();
  const signer = new MemorySigner(world.clock());
  return {
    open: () => signer,
    rotate: async () => signer.rotate(),
    pass: (millis) => world.advance(millis),
  };
});
