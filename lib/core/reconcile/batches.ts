import { keysDigest } from '../identity/digests.ts';
import { ordinalOf, positionOf } from '../identity/keys.ts';
import type { RunItem, Slice, UnitItem } from '../ledger/items.ts';
import type { Ledger } from '../ports/index.ts';
import { everyItem } from '../read/pages.ts';
import { type Standing, StandingCount } from './closing.ts';

/** A batch with the records split from it. */
export interface SettledBatch {
  readonly ordinal: number;
  /** The batch first. */
  readonly units: readonly UnitItem[];
  /** Of all keys that were accounted for; blank where its parts do not add up, so that no proof can hold over it. */
  readonly keysDigest: string;
}

/**
 * The digest of a split batch from the digests of its parts, each of which was made from what the target returned. The
 * slice only opens them: where a part is not the digest of exactly its own keys, there is no digest of the whole.
 */
export function digestOfParts(slice: Slice, batch: UnitItem, children: readonly UnitItem[]): string {
  const split = new Set(batch.split ?? []);
  const others = slice.entries.filter((_entry, position) => !split.has(position)).map(({ key }) => key);
  const named = new Set(children.map(({ unit }) => unit));
  if (batch.keysDigest !== keysDigest(others) || named.size !== split.size) return '';
  for (const child of children) {
    const position = positionOf(child.unit) ?? -1;
    const key = slice.entries[position]?.key;
    if (!split.has(position) || key === undefined || child.keysDigest !== keysDigest([key])) return '';
  }
  return keysDigest(slice.entries.map(({ key }) => key));
}

async function settle(ledger: Ledger, run: RunItem, units: readonly UnitItem[]): Promise<SettledBatch> {
  const [batch, ...children] = units;
  const ordinal = ordinalOf(batch?.unit ?? '0');
  if (batch === undefined || (batch.split ?? []).length === 0) {
    return { ordinal, units, keysDigest: batch?.keysDigest ?? '' };
  }
  if (children.some((child) => child.keysDigest === undefined)) return { ordinal, units, keysDigest: '' };
  const [slice] = await ledger.slices(run.runId, ordinal, ordinal + 1);
  return { ordinal, units, keysDigest: slice === undefined ? '' : digestOfParts(slice, batch, children) };
}

/** The batches of a run that have items, in order; a slice is read only of those that were split. */
export async function* batchesOf(ledger: Ledger, run: RunItem): AsyncGenerator<SettledBatch> {
  let units: UnitItem[] = [];
  for await (const unit of everyItem((cursor) => ledger.units(run.runId, cursor))) {
    if (units[0] !== undefined && ordinalOf(units[0].unit) !== ordinalOf(unit.unit)) {
      yield await settle(ledger, run, units);
      units = [];
    }
    units.push(unit);
  }
  if (units.length > 0) yield await settle(ledger, run, units);
}

/** Where a run stands, from its batch items. */
export async function standingOf(ledger: Ledger, run: RunItem): Promise<Standing> {
  const count = new StandingCount(run);
  for await (const batch of batchesOf(ledger, run)) count.add(batch);
  return count.standing();
}
