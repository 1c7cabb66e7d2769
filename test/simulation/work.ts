import type { Kind } from './coverage.ts';
import { Counter } from './coverage.ts';
import { addHeat, HeatMeter, type KindOfHeat } from './heat.ts';
import { playSeed, WrongHistory } from './seed.ts';

/** Seeds for one worker to play. */
export interface Task {
  readonly seeds: readonly number[];
  readonly heat: boolean;
}

export interface Failing {
  readonly seed: number;
  readonly faults: readonly string[];
}

/** What became of a task; structured data, so that it can be posted. */
export interface Done {
  readonly played: number;
  readonly failing: readonly Failing[];
  readonly coverage: readonly (readonly [Kind, number])[];
  readonly heat: readonly KindOfHeat[];
}

/** Plays the seeds one after the other. */
export async function work({ seeds, heat: wanted }: Task): Promise<Done> {
  const counter = new Counter();
  const failing: Failing[] = [];
  let heat: readonly KindOfHeat[] = [];
  for (const seed of seeds) {
    const meter = new HeatMeter();
    try {
      counter.addAll((await playSeed(seed, wanted ? { onCall: meter.onCall } : {})).coverage);
    } catch (error) {
      if (!(error instanceof WrongHistory)) throw error;
      failing.push({ seed, faults: error.faults });
    }
    if (wanted) heat = addHeat(heat, meter.heat);
  }
  return { played: seeds.length, failing, coverage: [...counter.counts], heat };
}
