import { OPEN_SHARDS, openShard, openShardOf, policyPartition, runPartition } from '../../lib/aws/ledger/schema.ts';
import type { UnitEdge } from '../../lib/core/ledger/lifecycle.ts';
import type { UnitRef } from '../../lib/core/ports/index.ts';

/** How one call of the ledger touches a partition of the table, or of its index `open`. */
export type Touch = readonly [partition: string, how: 'read' | 'write'];

/** Calls by partition of one history. */
export type Heat = ReadonlyMap<string, { readonly reads: number; readonly writes: number }>;

/** Edges that bring a unit into the sparse index, change it there or take it out. */
const INDEXED: ReadonlySet<string> = new Set<UnitEdge>([
  'postpone',
  'publish',
  'quarantine',
  'doubt',
  'copy',
  'redrive',
  'abandon',
]);
const STATUS_KEPT: ReadonlySet<string> = new Set(['checkpoint', 'advance', 'watch', 'settle']);

const SHARDS = Array.from({ length: OPEN_SHARDS }, (_, shard): Touch => [openShard(shard), 'read']);

type Parameters = readonly unknown[];

const run =
  (how: Touch[1]) =>
  (parameters: Parameters): readonly Touch[] => [[runPartition(String(parameters[0])), how]];
const policy =
  (how: Touch[1]) =>
  (parameters: Parameters): readonly Touch[] => [[policyPartition(String(parameters[0])), how]];
const put = ([item]: Parameters): readonly Touch[] => [[runPartition((item as { runId: string }).runId), 'write']];
const putPolicy = ([item]: Parameters): readonly Touch[] => [
  [policyPartition((item as { policyId: string }).policyId), 'write'],
];
const scoped =
  (how: Touch[1]) =>
  ([scope]: Parameters): readonly Touch[] => {
    const { runId, policyId } = scope as { runId?: string; policyId?: string };
    return [[runId === undefined ? policyPartition(policyId ?? '') : runPartition(runId), how]];
  };

/** What each method of the ledger touches. */
const TOUCHES: Readonly<Record<string, (parameters: Parameters) => readonly Touch[]>> = {
  createRun: (parameters) => {
    const { runId } = parameters[0] as { readonly runId: string };
    return [...put(parameters), ...putPolicy(parameters), [openShardOf(runId, ''), 'write']];
  },
  readRun: run('read'),
  runIds: policy('read'),
  takeLease: run('write'),
  moveRun: (parameters) => {
    const index: readonly Touch[] = [[openShardOf(String(parameters[0]), ''), 'write']];
    return [...run('write')(parameters), ...(STATUS_KEPT.has(String(parameters[1])) ? [] : index)];
  },
  putSlice: put,
  putTally: put,
  putTenant: put,
  slices: run('read'),
  tallies: run('read'),
  tenants: run('read'),
  units: run('read'),
  load: ([refs]) =>
    [...new Set((refs as readonly UnitRef[]).map(({ runId }) => runId))].map((runId) => [runPartition(runId), 'read']),
  readUnit: ([ref]) => [[runPartition((ref as UnitRef).runId), 'read']],
  moveUnit: ([ref, edge]) => {
    const { runId, unit } = ref as UnitRef;
    const index: readonly Touch[] = INDEXED.has(String(edge)) ? [[openShardOf(runId, unit), 'write']] : [];
    return [[runPartition(runId), 'write'], ...index];
  },
  splitUnit: (parameters) => {
    const { runId } = parameters[0] as UnitRef;
    const children = parameters[3] as readonly { readonly unit: string }[];
    return [[runPartition(runId), 'write'], ...children.map(({ unit }): Touch => [openShardOf(runId, unit), 'write'])];
  },
  readControl: policy('read'),
  readStops: ([policyId, runId]) => [
    [policyPartition(String(policyId)), 'read'],
    [runPartition(String(runId)), 'read'],
  ],
  pause: policy('write'),
  resume: policy('write'),
  settleIntake: policy('write'),
  putSelection: putPolicy,
  readSelection: policy('read'),
  versionDigest: policy('read'),
  claimVersion: policy('write'),
  openRuns: () => SHARDS,
  openUnits: () => SHARDS,
  appendAudit: scoped('write'),
  auditTrail: scoped('read'),
  recordBadMessage: putPolicy,
  readBadMessage: policy('read'),
  abandonBadMessage: policy('write'),
  badMessages: policy('read'),
};

/** Counts calls by partition. A call of a port that is not the ledger touches none. */
export class HeatMeter {
  readonly #heat = new Map<string, { reads: number; writes: number }>();

  readonly onCall = (name: string, parameters: Parameters): void => {
    const [port, method = ''] = name.split('.');
    const touches = port === 'ledger' ? (TOUCHES[method]?.(parameters) ?? []) : [];
    for (const [partition, how] of touches) {
      const counts = this.#heat.get(partition) ?? { reads: 0, writes: 0 };
      counts[how === 'read' ? 'reads' : 'writes'] += 1;
      this.#heat.set(partition, counts);
    }
  };

  get heat(): Heat {
    return this.#heat;
  }
}

/** What partitions of one kind saw, over all histories. */
export interface KindOfHeat {
  readonly kind: string;
  readonly partitions: number;
  readonly reads: number;
  readonly writes: number;
  /** Partitions by how many calls they saw: below 10, 20, 50, 100, 200, 500, and more. */
  readonly histogram: readonly number[];
  /** The most that one of them saw. */
  readonly most: number;
}

export const HEAT_BOUNDS = [10, 20, 50, 100, 200, 500] as const;

function kindOf(partition: string): string {
  if (partition.startsWith('RUN#')) return 'table RUN#<run>';
  return partition.startsWith('POLICY#') ? 'table POLICY#<policy>' : `index ${partition}`;
}

/** Sums up the heat of many histories by kind of partition. */
export function addHeat(sum: readonly KindOfHeat[], heat: Heat): readonly KindOfHeat[] {
  const kinds = new Map(sum.map((one) => [one.kind, one]));
  for (const [partition, { reads, writes }] of heat) {
    const kind = kindOf(partition);
    const nothing = { kind, partitions: 0, reads: 0, writes: 0, histogram: [0, 0, 0, 0, 0, 0, 0], most: 0 };
    const before = kinds.get(kind) ?? nothing;
    const place = HEAT_BOUNDS.findIndex((bound) => reads + writes < bound);
    const slot = place < 0 ? HEAT_BOUNDS.length : place;
    const histogram = before.histogram.with(slot, (before.histogram[slot] ?? 0) + 1);
    kinds.set(kind, {
      kind,
      partitions: before.partitions + 1,
      reads: before.reads + reads,
      writes: before.writes + writes,
      histogram,
      most: Math.max(before.most, reads + writes),
    });
  }
  return [...kinds.values()].sort((a, b) => (a.kind < b.kind ? 1 : -1));
}

/** Adds what another worker summed up. */
export function mergeHeat(a: readonly KindOfHeat[], b: readonly KindOfHeat[]): readonly KindOfHeat[] {
  const kinds = new Map(a.map((one) => [one.kind, one]));
  for (const one of b) {
    const before = kinds.get(one.kind);
    if (before === undefined) kinds.set(one.kind, one);
    else {
      kinds.set(one.kind, {
        kind: one.kind,
        partitions: before.partitions + one.partitions,
        reads: before.reads + one.reads,
        writes: before.writes + one.writes,
        histogram: before.histogram.map((count, at) => count + (one.histogram[at] ?? 0)),
        most: Math.max(before.most, one.most),
      });
    }
  }
  return [...kinds.values()].sort((a, b) => (a.kind < b.kind ? 1 : -1));
}
