import { operationKey } from '../../lib/core/identity/keys.ts';
import type { RunItem } from '../../lib/core/ledger/items.ts';
import type { RunDetailView } from '../../lib/core/views.ts';
import type { Item } from '../../lib/local/records.ts';
import { compareCounts } from '../../lib/local/up/check.ts';
import type { ExpectedRow } from '../../lib/local/up/expected.ts';
import { judge, outcomeOf, type Standing, type Wanted } from './judge.ts';

/** What must have become of each planned record, by id. */
export type Outcomes = ReadonlyMap<string, string>;

type Rows = ReadonlyMap<string, Item>;

/**
 * What a run must have made of its plan. `before`: the records when the plan was frozen; `left`: as they were left by
 * everybody but the run, so that an update acknowledged before the run came to the record is in it.
 */
export function outcomesOf(before: Rows, left: Rows, wanted: Wanted): Outcomes {
  const planned = [...before].filter(([, item]) => judge(item, wanted) === 'planned');
  return new Map(planned.map(([id, item]) => [id, outcomeOf(item, left.get(id), wanted.kind)]));
}

/** Every row that must be there: as everybody but the run left it, and with the expiry where it expired. */
export function expectedRows(left: Rows, outcomes: Outcomes, run: RunItem): ReadonlyMap<string, ExpectedRow> {
  const rows = new Map<string, ExpectedRow>();
  for (const [id, item] of left) {
    const outcome = outcomes.get(id);
    if (outcome === 'expired') rows.set(id, { kind: 'expired', item: expired(id, item, run) });
    else if (outcome !== 'deleted') rows.set(id, { kind: 'unchanged', item });
  }
  return rows;
}

function expired(id: string, item: Item, { policyId, policyVersion, cutoff, kind }: RunItem): Item {
  const key = operationKey({ policyId, policyVersion, recordKey: JSON.stringify([`S${id}`]), cutoff, kind });
  return { ...item, status: { S: 'EXPIRED' }, sweepOperationKey: { S: key } };
}

/** Compares a run's own counts, in all and by tenant, with those of the records as they were at its plan. */
export function compareRun(run: RunDetailView, before: Rows, outcomes: Outcomes, wanted: Wanted): readonly string[] {
  const reports = new Map(run.tenantReports.map((report) => [report.tenant, report]));
  const byTenant = Map.groupBy(before, ([, item]) => item.tenant?.S ?? '');
  const differences = compareCounts('the run', run, counts([...before], outcomes, wanted));
  for (const [tenant, rows] of byTenant) {
    const { examined: _, unreadable: __, ...expected } = counts(rows, outcomes, wanted);
    const report = reports.get(tenant);
    if (report !== undefined) differences.push(...compareCounts(tenant, report, expected));
    else if (expected.discovered > 0) differences.push(`${tenant}: has no report`);
  }
  return differences;
}

function counts(rows: readonly (readonly [string, Item])[], outcomes: Outcomes, wanted: Wanted) {
  const standings = rows.map(([, item]) => judge(item, wanted));
  const count = (standing: Standing) => standings.filter((one) => one === standing).length;
  const byOutcome: Record<string, number> = {};
  for (const [id] of rows) {
    const outcome = outcomes.get(id);
    if (outcome !== undefined) byOutcome[outcome] = (byOutcome[outcome] ?? 0) + 1;
  }
  return {
    examined: rows.length - count('other_state'),
    discovered: count('planned') + count('held'),
    planned: count('planned'),
    held: count('held'),
    overLimit: 0,
    unreadable: count('unreadable'),
    outcomes: byOutcome,
  };
}
