/**
 * The lifecycle as data. Each edge names the states it may leave, the state it enters and why it exists; every write
 * of a state is conditional on the states its edge may leave.
 */

export type RunStatus =
  | 'planning'
  | 'reported'
  | 'refused'
  | 'awaiting_approval'
  | 'publishing'
  | 'draining'
  | 'complete'
  | 'complete_with_quarantine'
  | 'cancelled';

export type UnitState =
  | 'planned'
  | 'published'
  | 'in_progress'
  | 'committed'
  | 'quarantined'
  | 'uncertain'
  | 'abandoned'
  | 'cancelled';

interface Edge<State> {
  readonly from: readonly State[];
  readonly to: State;
  readonly reason: string;
}

export const RUN_EDGES = {
  checkpoint: { from: ['planning'], to: 'planning', reason: 'discovery saved its place' },
  refuse: {
    from: ['planning'],
    to: 'refused',
    reason: 'preflight, a cap or unreadable records: nothing was published',
  },
  retry: { from: ['refused'], to: 'planning', reason: 'the same scheduled time is tried again from the beginning' },
  report: { from: ['planning'], to: 'reported', reason: 'report-only: the plan is the result' },
  freeze: { from: ['planning'], to: 'publishing', reason: 'the plan is durable; messages may leave' },
  advance: { from: ['publishing'], to: 'publishing', reason: 'more of the plan is confirmed by the queue' },
  drain: { from: ['publishing'], to: 'draining', reason: 'every batch is published' },
  watch: { from: ['draining'], to: 'draining', reason: 'the reconciler noted what it saw' },
  complete: { from: ['draining'], to: 'complete', reason: 'planned = published = terminal' },
  completeWithQuarantine: {
    from: ['draining'],
    to: 'complete_with_quarantine',
    reason: 'everything is terminal but what waits for a person',
  },
  cancel: {
    from: ['planning', 'awaiting_approval', 'publishing', 'draining'],
    to: 'cancelled',
    reason: 'a person stopped it; what is finished stays',
  },
  count: {
    from: ['cancelled'],
    to: 'cancelled',
    reason: 'its totals as they stand while units of it wait for a person',
  },
  settle: {
    from: ['cancelled'],
    to: 'cancelled',
    reason: 'what was under way has ended: the totals of a cancelled run are final',
  },
  reopen: { from: ['complete_with_quarantine'], to: 'draining', reason: 'a person brought quarantined units back' },
} as const satisfies Record<string, Edge<RunStatus>>;

export type RunEdge = keyof typeof RUN_EDGES;

interface UnitEdgeDefinition extends Edge<UnitState> {
  /** Whether the edge may also make the item: planned and published units need none before their first start. */
  readonly orAbsent: boolean;
}

export const UNIT_EDGES = {
  start: {
    from: ['planned', 'published', 'in_progress'],
    to: 'in_progress',
    orAbsent: true,
    reason: 'a delivery began; its attempt is counted before any effect',
  },
  commit: { from: ['in_progress'], to: 'committed', orAbsent: false, reason: 'every record has an outcome' },
  postpone: {
    from: ['planned', 'published', 'in_progress'],
    to: 'planned',
    orAbsent: true,
    reason: 'deferral, long retry or lost message: the publisher sends it again when due',
  },
  publish: { from: ['planned'], to: 'published', orAbsent: false, reason: 'the queue confirmed a new message' },
  quarantine: {
    from: ['planned', 'published', 'in_progress'],
    to: 'quarantined',
    orAbsent: true,
    reason: 'permanent failure or attempts spent: a person decides',
  },
  release: {
    from: ['in_progress'],
    to: 'published',
    orAbsent: false,
    reason: 'the delivery ended before the unit did; its message comes again',
  },
  doubt: {
    from: ['in_progress'],
    to: 'uncertain',
    orAbsent: false,
    reason: 'an effect may have happened and may not be tried again: a person decides',
  },
  copy: {
    from: ['quarantined'],
    to: 'quarantined',
    orAbsent: false,
    reason: 'a labelled copy lies in the dead-letter queue',
  },
  abandon: {
    from: ['quarantined'],
    to: 'abandoned',
    orAbsent: false,
    reason: 'a person gave it up',
  },
  cancel: {
    from: ['planned', 'published', 'in_progress'],
    to: 'cancelled',
    orAbsent: false,
    reason: 'its run was cancelled',
  },
  redrive: {
    from: ['quarantined'],
    to: 'planned',
    orAbsent: false,
    reason: 'a person brought it back; generation + 1',
  },
} as const satisfies Record<string, UnitEdgeDefinition>;

export type UnitEdge = keyof typeof UNIT_EDGES;

/** What a move takes off the run: a try that begins anew has no plan, and must not be told by that of the one before. */
export function forgottenBy(edge: RunEdge): readonly 'plan'[] {
  return edge === 'retry' ? ['plan'] : [];
}

const TERMINAL_UNITS: readonly UnitState[] = ['committed', 'abandoned', 'cancelled'];
const FINISHED_RUNS: readonly RunStatus[] = [
  'reported',
  'refused',
  'complete',
  'complete_with_quarantine',
  'cancelled',
];

/** True where a unit needs nothing and nobody any more. */
export function isTerminalUnit(state: UnitState): boolean {
  return TERMINAL_UNITS.includes(state);
}

/** True where no process has anything left to do for the run by itself. */
export function isFinishedRun(status: RunStatus): boolean {
  return FINISHED_RUNS.includes(status);
}

/**
 * True where the run stands in the sparse index. A run closed around its quarantine still waits for a person, and only
 * by looking at it again is a unit seen that came back at the very moment of closing.
 */
export function isOpenRun(status: RunStatus): boolean {
  return !isFinishedRun(status) || status === 'complete_with_quarantine';
}

/**
 * True where a run stands in the sparse index after this move. A cancelled run stays there until its totals are final,
 * which they are not while a unit of it may still be given up.
 */
export function staysOpen(edge: RunEdge): boolean {
  return edge === 'cancel' || edge === 'count' || isOpenRun(RUN_EDGES[edge].to);
}

/** True where the unit stands in the sparse index: it needs someone or something. */
export function isOpenUnit(state: UnitState): boolean {
  return state === 'planned' || state === 'quarantined' || state === 'uncertain';
}
