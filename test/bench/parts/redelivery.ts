import { sumOf } from '../contender.ts';
import type { Part, Scale } from '../figures.ts';
import { Pipeline } from '../pipeline.ts';
import { accounts, NARROW } from '../shapes.ts';
import { createWorld } from '../store.ts';

const TENANTS = 10;
const BATCH_SIZE = 100;
const RECORDS: Readonly<Record<Scale, number>> = { full: 10_000, quick: 2_000, tiny: 200 };

/** Every message of a finished run comes again, as SQS may deliver it. */
export const redelivery: Part = {
  name: 'redelivery',
  about: 'every message of a finished run delivered again',
  async measure(scale) {
    const records = RECORDS[scale];
    const items = accounts(records, scale === 'tiny' ? 1 : TENANTS, NARROW);
    const world = await createWorld({ batchSize: BATCH_SIZE, shape: NARROW, items });
    const pipeline = new Pipeline(world);
    await pipeline.plan();
    const { bodies } = world.queue;
    await pipeline.work();
    const first = pipeline.counted();
    world.queue.putBack(bodies);
    const events = await pipeline.consume();
    const again = pipeline.counted();
    const writeUnits = again.cost.writeUnits - first.cost.writeUnits;
    const readUnits = again.cost.readUnits - first.cost.readUnits;
    const rows = [...again.calls].map(([name, count]) => [name, count, count / bodies.length] as const);
    return {
      figures: [
        {
          what: 'write units of a finished batch delivered again',
          value: writeUnits / bodies.length,
          unit: 'per batch',
          bound: { atMost: 0 },
        },
        { what: 'read units of it', value: readUnits / bodies.length, unit: 'per batch' },
        { what: 'SDK calls of it', value: sumOf(again.calls) / bodies.length, unit: 'per batch' },
      ],
      tables: [
        {
          title: `${bodies.length} batches of ${BATCH_SIZE} delivered again, in ${events} events`,
          columns: ['call', 'calls', 'per batch'],
          rows,
        },
      ],
    };
  },
};
