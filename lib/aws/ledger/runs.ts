import type { EpochMillis } from '../../core/identity/instant.ts';
import type { Lease, RunChange, RunItem } from '../../core/ledger/items.ts';
import { RUN_EDGES, type RunEdge, staysOpen } from '../../core/ledger/lifecycle.ts';
import type { CreatedRun, RunMoved } from '../../core/ports/ledger.ts';
import { refusal } from '../errors.ts';
import type { Attributes } from '../item-size.ts';
import { absent, all, atMost, equals, oneOf } from './expression.ts';
import { number, text } from './fields.ts';
import { type Expiry, expiring } from './retention.ts';
import { decodeRun, encodeRun, LEASE, runKey, runUpdate } from './run-item.ts';
import { itemKey, LEDGER_KEY, policyPartition, runAtSort } from './schema.ts';
import { type LedgerTable, says } from './table.ts';

/** A put whose answer was lost shows up as `exists`: the run is joined either way. */
export async function createRun(table: LedgerTable, expiry: Expiry, run: RunItem): Promise<CreatedRun> {
  const pointer = {
    ...itemKey(policyPartition(run.policyId), runAtSort(run.scheduledTime, run.policyVersion)),
    runId: text(run.runId),
    ...expiry(),
  };
  const met = await table.transact('createRun', [
    { put: { item: encodeRun(run), condition: absent(LEDGER_KEY.partitionKey) } },
    { put: { item: pointer } },
  ]);
  if (met === undefined) return { kind: 'created' };
  const found = typeof met[0] === 'object' ? met[0] : await table.get('createRun', runKey(run.runId));
  if (found === undefined) throw refusal('createRun', 'RunVanished');
  return { kind: 'exists', run: decodeRun(found) };
}

export async function takeLease(
  table: LedgerTable,
  runId: string,
  seen: Lease,
  wanted: { readonly owner: string; readonly now: EpochMillis; readonly until: EpochMillis },
): Promise<RunMoved> {
  const set = {
    [LEASE.owner]: text(wanted.owner),
    [LEASE.until]: number(wanted.until),
    [LEASE.epoch]: number(seen.epoch + 1),
  };
  const written = await table.update('takeLease', {
    key: runKey(runId),
    update: { set },
    condition: all(equals(LEASE.epoch, number(seen.epoch)), atMost(LEASE.until, number(wanted.now))),
  });
  return runMoved(written.item, written.kind === 'written' || says(written.item, set));
}

export async function moveRun(
  table: LedgerTable,
  expiry: Expiry,
  runId: string,
  edge: RunEdge,
  epoch: number | undefined,
  change: RunChange,
): Promise<RunMoved> {
  const { from } = RUN_EDGES[edge];
  const update = runUpdate(runId, edge, change);
  const holder = epoch === undefined ? {} : { [LEASE.epoch]: number(epoch) };
  const written = await table.update('moveRun', {
    key: runKey(runId),
    update: expiring(update, staysOpen(edge) ? 'open' : 'closed', expiry),
    condition: all(
      oneOf('status', from.map(text)),
      ...Object.entries(holder).map(([attribute, value]) => equals(attribute, value)),
    ),
  });
  // Without an epoch and without content, another's move cannot be told from ours.
  const recognisable = epoch !== undefined || Object.keys(change).length > 0;
  const ours = recognisable && says(written.item, { ...update.set, ...holder });
  return runMoved(written.item, written.kind === 'written' || ours);
}

function runMoved(item: Attributes | undefined, moved: boolean): RunMoved {
  const run = item === undefined ? undefined : decodeRun(item);
  return moved && run !== undefined ? { kind: 'moved', run } : { kind: 'refused', run };
}
