import type { SelectedUnit, Selection } from '../../core/ledger/items.ts';
import type { Attributes } from '../item-size.ts';
import { decodeFields, encodeFields, type Field, number } from './fields.ts';
import type { Expiry } from './retention.ts';
import { itemKey, policyPartition, SK } from './schema.ts';
import { packJson, unpackJson } from './slice-item.ts';
import type { LedgerTable } from './table.ts';

const SELECTION_FIELDS = {
  policyId: 'text',
  act: 'text',
  digest: 'text',
  at: 'number',
} as const satisfies Record<Exclude<keyof Selection, 'units'>, Field>;

/** Runs with their units and, where not all are of one generation, the generation of each. */
type Packed = readonly (readonly [string, readonly string[], number | readonly number[]])[];

/** Put over what is there: it is the same but for the end of its keeping. */
export async function putSelection(table: LedgerTable, expiry: Expiry, selection: Selection): Promise<void> {
  const item = {
    ...selectionKey(selection.policyId, selection.digest),
    ...encodeFields(SELECTION_FIELDS, selection),
    count: number(selection.units.length),
    // Ten thousand units take some tens of kilobytes.
    packed: { B: packJson(pack(selection.units)) },
    ...expiry(),
  };
  await table.put('putSelection', { item });
}

export async function readSelection(
  table: LedgerTable,
  policyId: string,
  digest: string,
): Promise<Selection | undefined> {
  const item = await table.get('readSelection', selectionKey(policyId, digest));
  if (item === undefined) return undefined;
  const units = unpack(unpackJson<Packed>(item.packed?.B ?? new Uint8Array()));
  return { ...decodeFields<Omit<Selection, 'units'>>(SELECTION_FIELDS, item), units };
}

function selectionKey(policyId: string, digest: string): Attributes {
  return itemKey(policyPartition(policyId), `${SK.selection}${digest}`);
}

function pack(units: readonly SelectedUnit[]): Packed {
  const runs: { runId: string; units: string[]; generations: number[] }[] = [];
  for (const { runId, unit, generation } of units) {
    // Only neighbours are put together, so that the order stays as it is.
    const last = runs.at(-1);
    const run = last?.runId === runId ? last : { runId, units: [], generations: [] };
    if (run !== last) runs.push(run);
    run.units.push(unit);
    run.generations.push(generation);
  }
  return runs.map(({ runId, units, generations }) => {
    const [first = 0] = generations;
    return [runId, units, generations.every((generation) => generation === first) ? first : generations];
  });
}

function unpack(packed: Packed): SelectedUnit[] {
  return packed.flatMap(([runId, units, generations]) =>
    units.map((unit, n) => ({
      runId,
      unit,
      generation: typeof generations === 'number' ? generations : (generations[n] ?? 0),
    })),
  );
}
