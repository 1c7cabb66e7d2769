import { describe, expect, it } from 'vitest';
import {
  isFinishedRun,
  isOpenRun,
  isOpenUnit,
  isTerminalUnit,
  RUN_EDGES,
  type RunEdge,
  type RunStatus,
  staysOpen,
  UNIT_EDGES,
  type UnitState,
} from '../../../lib/core/ledger/lifecycle.ts';

// A later part brings approval; until then nothing may enter it.
const LATER_RUN: readonly RunStatus[] = ['awaiting_approval'];

const RUN_STATUSES: readonly RunStatus[] = [
  ...(['planning', 'refused', 'reported', 'publishing', 'draining', 'complete', 'complete_with_quarantine'] as const),
  'cancelled',
  ...LATER_RUN,
];
const UNIT_STATES: readonly UnitState[] = [
  ...(['planned', 'published', 'in_progress', 'committed', 'quarantined'] as const),
  ...(['uncertain', 'abandoned', 'cancelled'] as const),
];

interface Edge {
  readonly from: readonly string[];
  readonly to: string;
  readonly reason: string;
}

function pairs(edges: Readonly<Record<string, Edge>>): readonly string[] {
  return Object.values(edges)
    .flatMap(({ from, to }) => from.filter((state) => state !== to).map((state) => `${state} → ${to}`))
    .sort();
}

function reachable(edges: Readonly<Record<string, Edge>>, start: string): ReadonlySet<string> {
  const reached = new Set([start]);
  for (let before = 0; before !== reached.size; ) {
    before = reached.size;
    for (const { from, to } of Object.values(edges)) if (from.some((state) => reached.has(state))) reached.add(to);
  }
  return reached;
}

function leaving(edges: Readonly<Record<string, Edge>>, state: string): readonly string[] {
  return Object.entries(edges).flatMap(([name, { from }]) => (from.includes(state) ? [name] : []));
}

describe('life of a run', () => {
  it('moves along these edges and no others', () => {
    expect(pairs(RUN_EDGES)).toEqual([
      'awaiting_approval → cancelled',
      'complete_with_quarantine → draining',
      'draining → cancelled',
      'draining → complete',
      'draining → complete_with_quarantine',
      'planning → cancelled',
      'planning → publishing',
      'planning → refused',
      'planning → reported',
      'publishing → cancelled',
      'publishing → draining',
      'refused → planning',
    ]);
  });

  it('can reach every status of this part from planning, and none of a later part', () => {
    const reached = reachable(RUN_EDGES, 'planning');
    expect([...reached].sort()).toEqual(RUN_STATUSES.filter((status) => !LATER_RUN.includes(status)).sort());
  });

  it('never leaves a finished status by itself: a redrive reopens what quarantine holds open, a dispatch tries a refused one again', () => {
    const left: Partial<Record<RunStatus, string[]>> = {
      ...{ complete_with_quarantine: ['reopen'], refused: ['retry'] },
      // Only its totals become final.
      cancelled: ['count', 'settle'],
    };
    for (const status of RUN_STATUSES.filter(isFinishedRun)) {
      expect(leaving(RUN_EDGES, status)).toEqual(left[status] ?? []);
    }
  });

  it('is in the index of open runs until nobody has anything to do for it', () => {
    const open: RunStatus[] = ['planning', 'publishing', 'draining', 'complete_with_quarantine', 'awaiting_approval'];
    expect(RUN_STATUSES.filter(isOpenRun).sort()).toEqual(open.sort());
  });

  it('stays in that index when it is cancelled, until its totals are final', () => {
    const edges = Object.keys(RUN_EDGES) as RunEdge[];
    expect(edges.filter((edge) => RUN_EDGES[edge].to === 'cancelled' && staysOpen(edge))).toEqual(['cancel', 'count']);
    for (const edge of edges)
      if (RUN_EDGES[edge].to !== 'cancelled') expect(staysOpen(edge)).toBe(isOpenRun(RUN_EDGES[edge].to));
  });

  it('never enforces a plan that was only reported', () => {
    expect([...reachable(RUN_EDGES, 'reported')]).toEqual(['reported']);
  });

  it('never goes back to planning once the plan is frozen', () => {
    for (const status of RUN_STATUSES.filter((one) => one !== 'planning' && one !== 'refused')) {
      expect(reachable(RUN_EDGES, status)).not.toContain('planning');
    }
  });
});

describe('life of a unit', () => {
  it('moves along these edges and no others', () => {
    expect(pairs(UNIT_EDGES)).toEqual(
      [
        ...['planned → in_progress', 'published → in_progress', 'in_progress → committed'],
        ...['published → planned', 'in_progress → planned', 'planned → published'],
        ...['planned → quarantined', 'published → quarantined', 'in_progress → quarantined'],
        ...['quarantined → planned', 'quarantined → abandoned'],
        ...['in_progress → published', 'in_progress → uncertain'],
        ...['planned → cancelled', 'published → cancelled', 'in_progress → cancelled'],
      ].sort(),
    );
  });

  it('can reach every state from planned', () => {
    expect([...reachable(UNIT_EDGES, 'planned')].sort()).toEqual([...UNIT_STATES].sort());
  });

  it('has no way out of a terminal state', () => {
    for (const state of UNIT_STATES.filter(isTerminalUnit)) expect(leaving(UNIT_EDGES, state)).toEqual([]);
  });

  it('leaves quarantine only by an act of a person', () => {
    const edges: Readonly<Record<string, Edge>> = UNIT_EDGES;
    const out = leaving(UNIT_EDGES, 'quarantined').filter((name) => edges[name]?.to !== 'quarantined');
    expect(out.sort()).toEqual(['abandon', 'redrive']);
  });

  it('does not leave a doubt by itself, nor by anything that would try it again', () => {
    expect(leaving(UNIT_EDGES, 'uncertain')).toEqual([]);
  });

  it('is committed only after a start, so that no effect goes uncounted', () => {
    expect(UNIT_EDGES.commit.from).toEqual(['in_progress']);
  });

  it('is made only by edges that a batch may take before its first start', () => {
    const making = Object.entries(UNIT_EDGES).flatMap(([name, edge]) => (edge.orAbsent ? [name] : []));
    expect(making.sort()).toEqual(['postpone', 'quarantine', 'start']);
    for (const edge of Object.values(UNIT_EDGES)) if (edge.orAbsent) expect(edge.from).toContain('planned');
  });

  it('P53: enters the sparse index only while it needs someone or something', () => {
    expect(UNIT_STATES.filter(isOpenUnit)).toEqual(['planned', 'quarantined', 'uncertain']);
    expect(UNIT_STATES.filter((state) => isOpenUnit(state) && isTerminalUnit(state))).toEqual([]);
  });
});

describe('every edge', () => {
  it.each(Object.entries({ ...RUN_EDGES, ...UNIT_EDGES }))('%s gives a reason', (_name, edge) => {
    expect(edge.reason).toMatch(/^[a-z].{10,}[^.]$/);
    expect(new Set(edge.from).size).toBe(edge.from.length);
  });
});
