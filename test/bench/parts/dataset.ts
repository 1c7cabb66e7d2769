import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunView } from '../../../lib/core/views.ts';
import { sumOf } from '../contender.ts';
import type { Figure, Part, Scale } from '../figures.ts';
import { packageItems } from '../packages.ts';
import { Pipeline } from '../pipeline.ts';
import { accounts, NARROW } from '../shapes.ts';
import { createWorld, type WorldOptions } from '../store.ts';

const RECORDS: Readonly<Record<Scale, number>> = { full: 10_000, quick: 5_000, tiny: 200 };
const TENANTS = 20;
const BATCH_SIZE = 100;
/** Low enough that one consumer waits for its share, so that shares follow each other as they do under load. */
const RECORDS_PER_SECOND = 500;

interface PerRecord {
  readonly calls: number;
  readonly writeUnits: number;
  readonly quoted: number;
  readonly planned: number;
  readonly largestBodyBytes: number;
  /** The largest difference between quote and invoice: calls, write units or dollars, in percent of the quote. */
  readonly offQuotePercent: number;
}

function offQuotePercent({ quote, invoice }: Pick<RunView, 'quote' | 'invoice'>): number {
  if (quote === null || invoice === null) return Number.NaN;
  const parts = ['calls', 'writeUnits', 'dollars'] as const;
  return Math.max(...parts.map((part) => (Math.abs(invoice[part] - quote[part]) / quote[part]) * 100));
}

async function perRecord(options: WorldOptions): Promise<PerRecord> {
  const world = await createWorld(options);
  const pipeline = new Pipeline(world);
  await pipeline.plan();
  if (world.queue.bodies.some((body) => body.includes('acct-'))) throw new Error('A message carries a record key.');
  await pipeline.work();
  const { calls, cost } = pipeline.counted();
  const planned = pipeline.view.planned ?? 0;
  return {
    planned,
    calls: sumOf(calls) / planned,
    writeUnits: cost.writeUnits / planned,
    quoted: (pipeline.view.cost.quotedWriteUnits ?? 0) / planned,
    largestBodyBytes: world.queue.largestBodyBytes,
    offQuotePercent: offQuotePercent(pipeline.view),
  };
}

function packages(): { readonly name: string; readonly file: string } {
  const file = resolve(import.meta.dirname, '../../../../shared/data/packages.csv');
  if (existsSync(file)) return { name: 'packages.csv', file };
  return { name: 'an excerpt of packages.csv', file: join(import.meta.dirname, '../../fixtures/packages-excerpt.csv') };
}

/** Records that somebody really has, beside made ones, and what a rate limit adds. */
export const dataset: Part = {
  name: 'dataset',
  about: 'packages.csv beside made records, the message body, and what a rate limit adds',
  async measure(scale) {
    const { name, file } = packages();
    const made = () => accounts(RECORDS[scale], TENANTS, NARROW);
    const plain = await perRecord({ batchSize: BATCH_SIZE, shape: NARROW, items: made() });
    const rate = { batchSize: BATCH_SIZE, recordsPerSecond: RECORDS_PER_SECOND };
    const paced = await perRecord({ ...rate, shape: NARROW, items: made() });
    const theirs =
      scale === 'full'
        ? await perRecord({ batchSize: BATCH_SIZE, shape: NARROW, items: packageItems(file) })
        : undefined;
    const figures: Figure[] = [
      {
        what: `write units more at ${RECORDS_PER_SECOND} records per second`,
        value: paced.writeUnits - plain.writeUnits,
        unit: 'per record',
        ...(scale === 'tiny' ? {} : { bound: { atMost: 0.02 } }),
      },
      {
        what: 'largest message body',
        value: Math.max(plain.largestBodyBytes, theirs?.largestBodyBytes ?? 0),
        unit: 'bytes',
        bound: { atMost: 512 },
      },
      {
        what: 'invoice off its quote: calls, write units or dollars, the worst of these runs',
        value: Math.max(plain.offQuotePercent, paced.offQuotePercent, theirs?.offQuotePercent ?? 0),
        unit: '% of the quote',
        // In a small run the fixed costs are most of it.
        ...(scale === 'tiny' ? {} : { bound: { atMost: 5 } }),
      },
    ];
    const rows = [
      ['made records', plain] as const,
      [`made records at ${RECORDS_PER_SECOND} per second`, paced] as const,
      ...(theirs === undefined ? [] : [[name, theirs] as const]),
    ].map(([what, one]) => [
      what,
      one.planned,
      one.calls,
      one.writeUnits,
      one.quoted,
      one.largestBodyBytes,
      one.offQuotePercent,
    ]);
    const columns = ['', 'planned', 'SDK calls per record', 'write units per record'];
    return {
      figures,
      tables: [
        {
          title: `Batches of ${BATCH_SIZE}`,
          columns: [...columns, 'quoted for the records', 'largest body, bytes', 'invoice off its quote, %'],
          rows,
        },
      ],
    };
  },
};
