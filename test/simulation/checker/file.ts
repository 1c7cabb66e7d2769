import type { RunItem, Slice, SliceEntry, UnitItem } from '../../../lib/core/ledger/items.ts';
import { operationKey, placeOf } from './definitions.ts';
import type { Evidence } from './evidence.ts';

/** A planned record, with what the ledger says of it. */
export interface Planned {
  readonly run: RunItem;
  readonly slice: Slice;
  readonly position: number;
  readonly entry: SliceEntry;
  readonly operationKey: string;
}

/** A batch with the records that were split from it; `batch` is undefined where it has no item. */
export interface BatchFile {
  readonly slice: Slice;
  readonly batch: UnitItem | undefined;
  readonly split: readonly UnitItem[];
}

/** A run with everything that belongs to its frozen plan. */
export interface RunFile {
  readonly run: RunItem;
  readonly batches: readonly BatchFile[];
}

/** Evidence, sorted for the questions that are put to it. */
export interface CaseFile {
  readonly evidence: Evidence;
  readonly runs: readonly RunFile[];
  /** By operation key, over all runs with a frozen plan. */
  readonly planned: ReadonlyMap<string, Planned>;
  /** Says that something is wrong. */
  readonly fault: (sentence: string) => void;
}

export function isFrozen(run: RunItem): boolean {
  return run.plan !== undefined && run.status !== 'planning' && run.status !== 'refused';
}

/** True for an outcome that says that we changed the record. */
export function isProcessed(outcome: string): boolean {
  return outcome === 'expired' || outcome === 'deleted' || outcome === 'undone' || outcome === 'gone';
}

export function isOver(state: string): boolean {
  return state === 'committed' || state === 'abandoned' || state === 'cancelled';
}

export function waits({ state }: UnitItem): boolean {
  return state === 'quarantined' || state === 'uncertain';
}

export function total(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

export function countsOf(unit: UnitItem): readonly (readonly [string, number])[] {
  return Object.entries(unit.counts ?? {});
}

export function accountedFor(unit: UnitItem): number {
  return total(countsOf(unit).map(([, count]) => count));
}

export function openFile(evidence: Evidence, fault: (sentence: string) => void): CaseFile {
  const { slices, units } = evidence.ledger;
  const sliceOf = new Map(slices.map((slice) => [`${slice.runId} ${slice.ordinal}`, slice]));
  const unitsOf = new Map<string, UnitItem[]>();
  for (const unit of units) {
    const place = `${unit.runId} ${placeOf(unit.unit).ordinal}`;
    unitsOf.set(place, [...(unitsOf.get(place) ?? []), unit]);
  }
  const planned = new Map<string, Planned>();
  const runs = evidence.ledger.runs.map((run): RunFile => {
    const batches: BatchFile[] = [];
    for (let ordinal = 0; isFrozen(run) && ordinal < (run.plan?.batches ?? 0); ordinal += 1) {
      const place = `${run.runId} ${ordinal}`;
      const slice = sliceOf.get(place);
      if (slice === undefined) {
        fault(`slice ${ordinal} of the frozen plan of ${run.runId} is not in the ledger`);
        continue;
      }
      for (const [position, entry] of slice.entries.entries()) {
        const key = operationKey(run, entry.key);
        if (planned.has(key)) fault(`${entry.key} is planned twice by ${run.runId}`);
        planned.set(key, { run, slice, position, entry, operationKey: key });
      }
      const own = unitsOf.get(place) ?? [];
      const alone = (unit: UnitItem) => placeOf(unit.unit).position !== undefined;
      batches.push({ slice, batch: own.find((unit) => !alone(unit)), split: own.filter(alone) });
    }
    return { run, batches };
  });
  return { evidence, runs, planned, fault };
}
