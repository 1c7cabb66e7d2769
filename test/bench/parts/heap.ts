import { child } from '../child.ts';
import type { Figure, Part, Scale } from '../figures.ts';
import type { HeapFigures } from '../heap-child.ts';

const RECORDS: Readonly<Record<Scale, readonly number[]>> = {
  full: [10_000, 100_000, 1_000_000],
  quick: [10_000, 100_000],
  tiny: [400, 800],
};
const MEBIBYTE = 1024 * 1024;
const GROWTH_AT_MOST = 2;

/** What a function holds after a garbage collection, by how many records there are. */
export const heap: Part = {
  name: 'heap',
  about: 'largest heap of planning and consuming, 10,000 to 1,000,000 records',
  async measure(scale) {
    const measured: (readonly [number, HeapFigures])[] = [];
    for (const records of RECORDS[scale]) {
      measured.push([records, await child<HeapFigures>('heap-child.ts', records)]);
    }
    const [fewest, most] = [measured[0], measured.at(-1)];
    const growth = (part: keyof HeapFigures): Figure => ({
      what: `heap growth of ${part === 'plan' ? 'planning' : 'consuming'}, ${fewest?.[0]} to ${most?.[0]} records`,
      value: ((most?.[1][part] ?? Number.NaN) - (fewest?.[1][part] ?? 0)) / MEBIBYTE,
      unit: 'MB',
      ...(scale === 'tiny' ? {} : { bound: { atMost: GROWTH_AT_MOST } }),
    });
    return {
      figures: [growth('plan'), growth('consume')],
      tables: [
        {
          title: 'Largest heap after a garbage collection, in MB',
          columns: ['records', 'planning', 'consuming'],
          rows: measured.map(([records, { plan, consume }]) => [records, plan / MEBIBYTE, consume / MEBIBYTE]),
        },
      ],
    };
  },
};
