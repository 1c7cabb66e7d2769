import pMap from 'p-map';
import type { SelectedUnit } from '../ledger/items.ts';
import type { Deadline } from '../ports/index.ts';
import { type Act, audit } from './audit.ts';
import type { UnitsRequest } from './request.ts';
import { type Chosen, choose, type Eligibility, heldBack, NOTHING_LEFT_OUT } from './selection.ts';
import { type TendPorts, tendDeadLetters } from './tend.ts';
import type { ActView, LeftOut } from './views.ts';

/** Units that one entry of the audit trail names. */
const UNITS_PER_ENTRY = 500;
const MOVES_AT_ONCE = 8;
const MARGIN_MILLIS = 30_000;

/** Messages that the look at the end of an act goes over. */
const LETTERS_PER_ACT = 20_000;

/** Moves one selected unit; `position` is its place in this call. False where it is no longer as it was selected. */
export type MoveUnit = (unit: SelectedUnit, position: number) => Promise<boolean>;

/** What an act on units is made of. */
export interface UnitsAct {
  readonly act: Act & { readonly act: 'redrive' | 'abandon' };
  readonly request: UnitsRequest;
  readonly eligibility: Eligibility;
  readonly move: MoveUnit;
  /** Refuses, by a throw, what may not be done to so many units: those of the selection from `from` on. */
  readonly check?: (units: number) => void;
}

interface Moved {
  readonly units: readonly SelectedUnit[];
  readonly alreadyMoved: number;
  readonly leftOut: LeftOut;
  /** Place in the selection after the last unit looked at. */
  readonly next: number;
}

/** Chunks of units of one run each, in order. */
function chunksOf(units: readonly SelectedUnit[]): readonly (readonly SelectedUnit[])[] {
  const chunks: SelectedUnit[][] = [];
  for (const unit of units) {
    const last = chunks.at(-1);
    if (last?.[0]?.runId === unit.runId && last.length < UNITS_PER_ENTRY) last.push(unit);
    else chunks.push([unit]);
  }
  return chunks;
}

type Verdict = 'stands' | 'moved' | keyof LeftOut;

/**
 * Which units of one run are still as they were selected. Read again here: an act names only what it is about to do, and
 * a selection that was frozen before knows nothing of what its run and its units have come to since.
 */
async function verdictsOn(
  ports: TendPorts,
  chunk: readonly SelectedUnit[],
  eligibility: Eligibility,
): Promise<readonly Verdict[]> {
  const run = await ports.ledger.readRun(chunk[0]?.runId ?? '');
  return pMap(
    chunk,
    async (selected): Promise<Verdict> => {
      const unit = await ports.ledger.readUnit(selected);
      const stands = unit?.state === 'quarantined' && unit.generation === selected.generation;
      return stands ? (heldBack(run, selected.generation, eligibility) ?? 'stands') : 'moved';
    },
    { concurrency: MOVES_AT_ONCE },
  );
}

/** How many of a chunk are looked at, where no more than `room` of them may be taken. */
function lookedAt(verdicts: readonly Verdict[], room: number): number {
  const standing = verdicts.flatMap((verdict, index) => (verdict === 'stands' ? [index] : []));
  return standing[room] ?? verdicts.length;
}

async function moveAll(
  ports: TendPorts,
  { act, request, move, eligibility }: UnitsAct,
  { selection }: Chosen,
  deadline: Deadline,
): Promise<Moved> {
  const moved: SelectedUnit[] = [];
  const leftOut = { ...NOTHING_LEFT_OUT };
  let alreadyMoved = 0;
  let next = request.from;
  const limit = request.limit ?? selection.units.length;
  for (const chunk of chunksOf(selection.units.slice(next))) {
    if (moved.length >= limit || deadline.remainingMillis() < MARGIN_MILLIS) break;
    const verdicts = await verdictsOn(ports, chunk, eligibility);
    const looked = lookedAt(verdicts, limit - moved.length);
    const taken = chunk.slice(0, looked).filter((_unit, index) => verdicts[index] === 'stands');
    const begun = moved.length;
    if (taken.length > 0) {
      const units = taken.map(({ unit }) => unit);
      // The record of the act comes before the act.
      const subject = { units, selection: selection.digest };
      await audit(ports, { kind: 'run', runId: chunk[0]?.runId ?? '' }, act, subject, ports.clock.now());
    }
    const done = await pMap(taken, (unit, index) => move(unit, begun + index), { concurrency: MOVES_AT_ONCE });
    moved.push(...taken.filter((_unit, index) => done[index]));
    alreadyMoved += done.filter((ok) => !ok).length;
    for (const verdict of verdicts.slice(0, looked)) {
      if (verdict === 'moved') alreadyMoved += 1;
      else if (verdict !== 'stands') leftOut[verdict] += 1;
    }
    next += looked;
  }
  return { units: moved, alreadyMoved, leftOut, next };
}

function addLeftOut(a: LeftOut, b: LeftOut): LeftOut {
  return {
    permanent: a.permanent + b.permanent,
    generations: a.generations + b.generations,
    cancelledRun: a.cancelledRun + b.cancelledRun,
  };
}

/**
 * Carries out an act on chosen units: freezes the selection, audits, moves each unit as the selection names it, and at
 * the end removes from the dead-letter queue what has no further use. Killed anywhere, a rerun finishes; run twice, or
 * by two people at once, each unit moves once.
 */
export async function actOnUnits(
  ports: TendPorts,
  units: UnitsAct,
  deadline: Deadline,
  publish: () => Promise<number>,
): Promise<Omit<ActView, 'paceEndsAt'>> {
  const chosen = await choose(ports, ports.policyId, units.act.act, units.request.choice, units.eligibility);
  const { selection, leftOut, truncated } = chosen;
  units.check?.(Math.max(0, selection.units.length - units.request.from));
  const said = {
    act: units.act.act,
    selection: selection.digest,
    selected: selection.units.length,
    leftOut,
    truncated,
  };
  if (units.request.effect === 'dry-run') {
    const left = selection.units.length;
    const nothing = { moved: 0, alreadyMoved: 0, published: 0, deleted: 0 };
    return { ...said, ...nothing, dryRun: true, units: selection.units, left, next: 0 };
  }
  const moved = await moveAll(ports, units, chosen, deadline);
  const published = await publish();
  // One look serves all calls of an act: the last one's.
  const left = Math.max(0, selection.units.length - moved.next);
  const last = left === 0;
  const deleted = last ? (await tendDeadLetters(ports, deadline, LETTERS_PER_ACT)).deleted : 0;
  return {
    ...said,
    leftOut: addLeftOut(leftOut, moved.leftOut),
    dryRun: false,
    units: moved.units,
    moved: moved.units.length,
    alreadyMoved: moved.alreadyMoved,
    left,
    next: last ? null : moved.next,
    published,
    deleted,
  };
}
