import type { SplitUnit, UnitChange } from '../../core/ledger/items.ts';
import type { UnitGuard, UnitMoved, UnitRef } from '../../core/ports/ledger.ts';
import { refusal } from '../errors.ts';
import { absent } from './expression.ts';
import { type Expiry, expiring } from './retention.ts';
import { LEDGER_KEY } from './schema.ts';
import { type LedgerTable, says } from './table.ts';
import { decodeUnit, encodeSplit, unitKey, unitUpdate } from './unit-item.ts';
import { moveCondition } from './units.ts';

/** Far below what a transaction takes; a batch in which more fails is quarantined as a whole. */
const CHILDREN_LIMIT = 25;

/**
 * One transaction: the batch along its edge `commit`, and a put of every child where it is not. The batch guards the
 * children: while it is not committed there are none, and what it says after a lost answer is true of them too.
 */
export async function splitUnit(
  table: LedgerTable,
  expiry: Expiry,
  ref: UnitRef,
  guard: UnitGuard,
  change: UnitChange & { readonly split: readonly number[] },
  children: readonly SplitUnit[],
): Promise<UnitMoved> {
  if (children.length < 1 || children.length > CHILDREN_LIMIT) throw refusal('splitUnit', 'ChildrenLimit');
  const update = unitUpdate(ref, 'committed', guard, change);
  const key = unitKey(ref);
  const met = await table.transact('splitUnit', [
    { update: { key, update: expiring(update, 'closed', expiry), condition: moveCondition('commit', guard) } },
    ...children.map((child) => ({
      put: { item: encodeSplit(ref.runId, child), condition: absent(LEDGER_KEY.partitionKey) },
    })),
  ]);
  // A transaction that was carried out gives nothing back, and a store need not give back what refused it.
  const [standing] = met ?? [];
  const item = typeof standing === 'object' ? standing : await table.get('splitUnit', key);
  const unit = item === undefined ? undefined : decodeUnit(item);
  const moved = met === undefined || says(item, update.set);
  return moved && unit !== undefined ? { kind: 'moved', unit } : { kind: 'refused', unit };
}
