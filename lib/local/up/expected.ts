import { operationKey } from '../../core/identity/keys.ts';
import type { RunItem } from '../../core/ledger/items.ts';
import type { Item } from '../records.ts';
import { ATTRIBUTES, STATE } from './policy.ts';
import type { Case, Verdict } from './verdict.ts';

/** The identity of a run, as far as it stands in the records. */
export type Operation = Pick<RunItem, 'policyId' | 'policyVersion' | 'cutoff' | 'kind'>;

/** What must be in the table afterwards. The time of an expiry is the run's own; a record that has one is `expired`. */
export interface ExpectedRow {
  readonly kind: 'expired' | 'unchanged';
  /** Without the time of expiry. */
  readonly item: Item;
}

/** Every record that must be there, by id. `carriedOut`: whether the run wrote, or reported only. */
export function expectedRows(
  cases: readonly Case[],
  run: Operation,
  effect: 'carried-out' | 'none',
): ReadonlyMap<string, ExpectedRow> {
  const rows = new Map<string, ExpectedRow>();
  for (const { left, verdict } of cases) {
    if (left === undefined) continue;
    const id = left[ATTRIBUTES.key]?.S ?? '';
    const expires = effect === 'carried-out' && verdict === 'expired';
    rows.set(id, expires ? { kind: 'expired', item: expiredItem(left, id, run) } : { kind: 'unchanged', item: left });
  }
  return rows;
}

function expiredItem(left: Item, id: string, run: Operation): Item {
  const { policyId, policyVersion, cutoff, kind } = run;
  const key = operationKey({ policyId, policyVersion, recordKey: JSON.stringify([`S${id}`]), cutoff, kind });
  return { ...left, [ATTRIBUTES.state]: { S: STATE.expired }, [ATTRIBUTES.operationKey]: { S: key } };
}

/** Numbers of records. */
export interface ExpectedTotals {
  readonly discovered: number;
  readonly planned: number;
  readonly held: number;
  readonly unreadable: number;
  /** Of planned records; what did not occur is left out. */
  readonly outcomes: Readonly<Record<string, number>>;
}

const PLANNED: readonly Verdict[] = ['expired', 'state_changed', 'held', 'absent'];

export function expectedTotals(cases: readonly Case[], effect: 'carried-out' | 'none'): ExpectedTotals {
  const count = (wanted: Verdict) => cases.filter(({ verdict }) => verdict === wanted).length;
  const counts = PLANNED.map((verdict) => [verdict, count(verdict)] as const).filter(([, number]) => number > 0);
  const planned = counts.reduce((sum, [, number]) => sum + number, 0);
  const held = count('held_at_plan');
  return {
    discovered: planned + held,
    planned,
    held,
    unreadable: count('unreadable'),
    outcomes: effect === 'none' ? {} : Object.fromEntries(counts),
  };
}

/** The same for each tenant that has a record to discover. */
export function expectedTenants(
  cases: readonly Case[],
  effect: 'carried-out' | 'none',
): ReadonlyMap<string, ExpectedTotals> {
  const byTenant = Map.groupBy(cases, ({ loaded }) => loaded[ATTRIBUTES.tenant]?.S ?? '');
  const totals = [...byTenant].map(([tenant, its]) => [tenant, expectedTotals(its, effect)] as const);
  return new Map(totals.filter(([, { discovered }]) => discovered > 0));
}
