import type { RunChange, RunItem } from '../../core/ledger/items.ts';
import { forgottenBy, isOpenRun, RUN_EDGES, type RunEdge, staysOpen } from '../../core/ledger/lifecycle.ts';
import type { Attributes } from '../item-size.ts';
import type { Update } from './expression.ts';
import { decodeFields, encodeFields, type Field, number, text } from './fields.ts';
import { itemKey, OPEN_INDEX, openRunSort, openShardOf, runPartition, SK } from './schema.ts';

const RUN_FIELDS = {
  runId: 'text',
  policyId: 'text',
  policyVersion: 'text',
  scheduledTime: 'number',
  cutoff: 'number',
  kind: 'text',
  status: 'text',
  settings: 'json',
  policyDigest: 'text',
  startedBy: 'text',
  createdAt: 'number',
  checkpoint: 'json',
  plan: 'json',
  frozenAt: 'number',
  published: 'json',
  publishedAt: 'number',
  closing: 'json',
  cancelledAt: 'number',
  cost: 'json',
  quote: 'json',
  invoice: 'json',
  emptyPasses: 'number',
  refusals: 'json',
  notes: 'json',
} as const satisfies Record<Exclude<keyof RunItem, 'lease' | 'auditHead'>, Field>;

/** Attributes that conditions look at, so that they are not inside a structure. */
export const LEASE = { owner: 'leaseOwner', until: 'leaseUntil', epoch: 'leaseEpoch' } as const;
export const AUDIT = { count: 'auditCount', hash: 'auditHash' } as const;

export function runKey(runId: string): Attributes {
  return itemKey(runPartition(runId), SK.run);
}

export function encodeRun(run: RunItem): Attributes {
  return {
    ...runKey(run.runId),
    ...encodeFields(RUN_FIELDS, run),
    [LEASE.owner]: text(run.lease.owner),
    [LEASE.until]: number(run.lease.until),
    [LEASE.epoch]: number(run.lease.epoch),
    [AUDIT.count]: number(run.auditHead.count),
    [AUDIT.hash]: text(run.auditHead.hash),
    ...(isOpenRun(run.status) ? openAttributes(run.runId) : {}),
  };
}

export function decodeRun(item: Attributes): RunItem {
  return {
    ...decodeFields<Omit<RunItem, 'lease' | 'auditHead'>>(RUN_FIELDS, item),
    lease: {
      owner: item[LEASE.owner]?.S ?? '',
      until: Number(item[LEASE.until]?.N),
      epoch: Number(item[LEASE.epoch]?.N),
    },
    auditHead: { count: Number(item[AUDIT.count]?.N ?? 0), hash: item[AUDIT.hash]?.S ?? '' },
  };
}

/** The update of a move; a run leaves the index by the same write that finishes it. */
export function runUpdate(runId: string, edge: RunEdge, change: RunChange): Update {
  const { leaseUntil, ...rest } = change;
  const set = {
    ...encodeFields(RUN_FIELDS, { ...rest, status: RUN_EDGES[edge].to }),
    ...(leaseUntil === undefined ? {} : { [LEASE.until]: number(leaseUntil) }),
  };
  if (!staysOpen(edge)) return { set, remove: [OPEN_INDEX.partitionKey, OPEN_INDEX.sortKey] };
  return { set: { ...set, ...openAttributes(runId) }, remove: forgottenBy(edge) };
}

function openAttributes(runId: string): Attributes {
  return {
    [OPEN_INDEX.partitionKey]: text(openShardOf(runId, '')),
    [OPEN_INDEX.sortKey]: text(openRunSort(runId)),
  };
}
