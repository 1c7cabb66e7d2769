import type { SplitUnit, UnitChange, UnitItem } from '../../core/ledger/items.ts';
import { isOpenUnit, type UnitState } from '../../core/ledger/lifecycle.ts';
import type { UnitGuard, UnitRef } from '../../core/ports/ledger.ts';
import { type Attributes, itemSize } from '../item-size.ts';
import { decodeExceptions, encodeExceptions } from './exceptions.ts';
import type { Update } from './expression.ts';
import { decodeFields, encodeFields, type Field, number, text } from './fields.ts';
import { itemKey, OPEN_INDEX, type OpenState, openShardOf, openUnitSort, runPartition, unitSort } from './schema.ts';

const UNIT_FIELDS = {
  runId: 'text',
  unit: 'text',
  tenant: 'text',
  records: 'number',
  state: 'text',
  attempts: 'number',
  generation: 'number',
  bornAt: 'number',
  since: 'number',
  claim: 'text',
  startedAt: 'number',
  finishedAt: 'number',
  notBefore: 'number',
  counts: 'json',
  keysDigest: 'text',
  split: 'positions',
  reason: 'text',
  errorClass: 'text',
  failureClass: 'text',
  requestId: 'text',
  copiedAt: 'number',
  copiedGeneration: 'number',
  cost: 'json',
} as const satisfies Record<Exclude<keyof UnitItem, 'exceptions'>, Field>;

const EXCEPTIONS = 'exceptions';

/** One write unit is 1 KB; what an update does not see of the item (tenant, claim, earlier times) needs some of it. */
const UNIT_BYTES = 1024;
const UNSEEN_BYTES = 400;

type OpenTimes = Pick<UnitChange, 'since' | 'notBefore'>;

export function unitKey({ runId, unit }: UnitRef): Attributes {
  return itemKey(runPartition(runId), unitSort(unit));
}

export function decodeUnit(item: Attributes): UnitItem {
  const unit = decodeFields<UnitItem>(UNIT_FIELDS, item);
  const exceptions = item[EXCEPTIONS]?.S;
  return exceptions === undefined ? unit : { ...unit, exceptions: decodeExceptions(exceptions) };
}

/** A record split from its batch, as it is first put. */
export function encodeSplit(runId: string, child: SplitUnit): Attributes {
  const ref = { runId, unit: child.unit };
  const item = { ...child, runId, records: 1, generation: 0 } satisfies UnitItem;
  return { ...unitKey(ref), ...encodeFields(UNIT_FIELDS, item), ...openUnitAttributes(ref, child.state, child) };
}

/** The update that enters a state. It makes the item where the guard says of what; leaving the index is part of it. */
export function unitUpdate(ref: UnitRef, state: UnitState, guard: UnitGuard, change: UnitChange): Update {
  const { runId, unit } = ref;
  const generation = change.generation ?? guard.generation;
  const index = openUnitAttributes(ref, state, change);
  const set = { ...encodeFields(UNIT_FIELDS, { ...change, runId, unit, state, generation }), ...index };
  const { tenant, records } = guard.make ?? {};
  const made = encodeFields(UNIT_FIELDS, { tenant, records });
  const initially = { ...made, ...(change.attempts === undefined ? { attempts: number(0) } : {}) };
  const room = UNIT_BYTES - UNSEEN_BYTES - itemSize({ ...unitKey(ref), ...set });
  const exceptions = encodeExceptions(change.exceptions ?? {});
  // The counts are whole either way, and so is the record's own state.
  const kept: Attributes = exceptions !== '' && exceptions.length <= room ? { [EXCEPTIONS]: text(exceptions) } : {};
  const remove = [
    ...(OPEN_INDEX.partitionKey in index ? [] : [OPEN_INDEX.partitionKey, OPEN_INDEX.sortKey]),
    ...(change.exceptions !== undefined && !(EXCEPTIONS in kept) ? [EXCEPTIONS] : []),
  ];
  return { set: { ...set, ...kept }, initially, remove };
}

/** Where the item stands in the sparse index; empty where it does not. */
export function openUnitAttributes({ runId, unit }: UnitRef, state: UnitState, change: OpenTimes): Attributes {
  if (!isOpenUnit(state)) return {};
  const at = state === 'planned' ? (change.notBefore ?? change.since) : change.since;
  return {
    [OPEN_INDEX.partitionKey]: text(openShardOf(runId, unit)),
    [OPEN_INDEX.sortKey]: text(openUnitSort(state as OpenState, at, runId, unit)),
  };
}
