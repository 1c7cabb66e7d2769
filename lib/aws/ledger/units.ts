import type { UnitChange } from '../../core/ledger/items.ts';
import { isOpenUnit, UNIT_EDGES, type UnitEdge } from '../../core/ledger/lifecycle.ts';
import type { UnitGuard, UnitMoved, UnitRef } from '../../core/ports/ledger.ts';
import { absent, all, type Clause, either, equals, oneOf } from './expression.ts';
import { number, text } from './fields.ts';
import { type Expiry, expiring } from './retention.ts';
import { LEDGER_KEY } from './schema.ts';
import { type LedgerTable, says } from './table.ts';
import { decodeUnit, unitKey, unitUpdate } from './unit-item.ts';

export async function moveUnit(
  table: LedgerTable,
  expiry: Expiry,
  ref: UnitRef,
  edge: UnitEdge,
  guard: UnitGuard,
  change: UnitChange,
): Promise<UnitMoved> {
  const { to } = UNIT_EDGES[edge];
  const update = unitUpdate(ref, to, guard, change);
  const written = await table.update('moveUnit', {
    key: unitKey(ref),
    update: expiring(update, isOpenUnit(to) ? 'open' : 'closed', expiry),
    condition: moveCondition(edge, guard),
  });
  const unit = written.item === undefined ? undefined : decodeUnit(written.item);
  const moved = written.kind === 'written' || says(written.item, update.set);
  return moved && unit !== undefined ? { kind: 'moved', unit } : { kind: 'refused', unit };
}

/** What a move along this edge demands of the item. */
export function moveCondition(edge: UnitEdge, guard: UnitGuard): Clause {
  const { from, orAbsent } = UNIT_EDGES[edge];
  const standing = all(
    oneOf('state', from.map(text)),
    equals('generation', number(guard.generation)),
    ...(guard.attempts === undefined ? [] : [equals('attempts', number(guard.attempts))]),
  );
  // An absent unit counts as planned, never started, of the first generation.
  const untouched = guard.generation === 0 && (guard.attempts ?? 0) === 0;
  const mayMake = orAbsent && guard.make !== undefined && untouched;
  return mayMake ? either(absent(LEDGER_KEY.partitionKey), standing) : standing;
}
