import { type Attributes, itemSize } from '../../item-size.ts';
import { carries, type IndexFacts, type TableFacts } from './describe.ts';
import { tagged } from './values.ts';

/** Write units of an item of so many bytes: 1 for every KB or part of one. */
export function unitsOfBytes(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024));
}

/**
 * Write units of an update, indexes included: the table is charged by the larger of the two images; an index by each
 * entry it removes or puts, and once where only what it projects changes.
 */
export function updateUnits(table: TableFacts, before: Attributes, change: Attributes): number {
  const after = { ...before, ...change };
  const own = unitsOfBytes(Math.max(itemSize(before), itemSize(after)));
  return table.indexes.reduce((sum, index) => sum + indexUnits(table, index, before, after), own);
}

/** The same where only a part of the record is known: its sizes count as known, and it counts as in every index. */
export function leastUpdateUnits(table: TableFacts, part: Attributes, change: Attributes): number {
  const names = Object.keys(change);
  const own = unitsOfBytes(itemSize({ ...part, ...change }));
  return table.indexes.reduce((sum, index) => {
    if (index.keys.some((key) => names.includes(key.name))) return sum + 2;
    return sum + (names.some((name) => carries(table, index, name)) ? 1 : 0);
  }, own);
}

/** Write units of a deletion: the record, and its entry in each index that it is in. */
export function deletionUnits(table: TableFacts, record: Attributes): number {
  const own = unitsOfBytes(itemSize(record));
  return table.indexes.reduce((sum, index) => sum + unitsOf(entryOf(table, index, record)), own);
}

/** The same where only a part of the record is known: it counts as in every index. */
export function leastDeletionUnits(table: TableFacts, part: Attributes): number {
  return unitsOfBytes(itemSize(part)) + table.indexes.length;
}

function indexUnits(table: TableFacts, index: IndexFacts, before: Attributes, after: Attributes): number {
  const old = entryOf(table, index, before);
  const young = entryOf(table, index, after);
  if (old === undefined || young === undefined) return unitsOf(old) + unitsOf(young);
  const changed = (name: string) => tagged(old[name]) !== tagged(young[name]);
  if (index.keys.some((key) => changed(key.name))) return unitsOf(old) + unitsOf(young);
  return Object.keys(young).some(changed) ? Math.max(unitsOf(old), unitsOf(young)) : 0;
}

/** What an index holds of an item; undefined where the item is not in it. */
function entryOf(table: TableFacts, index: IndexFacts, item: Attributes): Attributes | undefined {
  if (index.keys.some((key) => item[key.name] === undefined)) return undefined;
  return Object.fromEntries(Object.entries(item).filter(([name]) => carries(table, index, name)));
}

function unitsOf(entry: Attributes | undefined): number {
  return entry === undefined ? 0 : unitsOfBytes(itemSize(entry));
}
