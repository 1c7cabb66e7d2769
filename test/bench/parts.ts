import type { Part } from './figures.ts';
import { acts } from './parts/acts.ts';
import { bundles } from './parts/bundles.ts';
import { compare } from './parts/compare.ts';
import { dataset } from './parts/dataset.ts';
import { dollars } from './parts/dollars.ts';
import { heap } from './parts/heap.ts';
import { publish } from './parts/publish.ts';
import { redelivery } from './parts/redelivery.ts';
import { sizes } from './parts/sizes.ts';
import { staleness } from './parts/stale.ts';
import { units } from './parts/units.ts';

/** All that `npm run bench` measures, in the order of docs/benchmarks.md. */
export const PARTS: readonly Part[] = [
  compare,
  units,
  sizes,
  staleness,
  redelivery,
  publish,
  heap,
  bundles,
  dataset,
  acts,
  dollars,
];
