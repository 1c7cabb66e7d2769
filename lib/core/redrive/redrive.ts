import { type EpochMillis, formatInstant } from '../identity/instant.ts';
import { RefusedRequest } from '../plan/request.ts';
import type { Deadline } from '../ports/index.ts';
import { publishDue } from '../publish/due.ts';
import { nextGeneration } from './by-hand.ts';
import type { RedriveUnits } from './request.ts';
import type { TendPorts } from './tend.ts';
import { actOnUnits, type MoveUnit } from './units.ts';
import type { ActView } from './views.ts';

/** When the unit at this place of a call is due, so that units come one after another at the rate. */
function dueAt(startAt: EpochMillis, perSecond: number | undefined, position: number): EpochMillis {
  return perSecond === undefined ? startAt : startAt + Math.floor((position * 1000) / perSecond);
}

/** Longer than this nobody waits for units that cannot be brought forward any more. */
const MAX_SPREAD_HOURS = 24;

/** Throws RefusedRequest where the rate is so low that the last of so many units would wait for too long. */
function assertSpread(units: number, perSecond: number): void {
  const hours = units / perSecond / 3_600;
  if (hours <= MAX_SPREAD_HOURS) return;
  const takes = `At ${perSecond} units per second the ${units} units take ${Math.ceil(hours)} hours`;
  // Rounded up, so that the rate that is named is taken.
  const least = Math.ceil((units / (MAX_SPREAD_HOURS * 3_600)) * 1000) / 1000;
  const help = `Give a rate of ${least} or more (perSecond, --rate), or choose fewer units.`;
  const message = `${takes}; the longest allowed is ${MAX_SPREAD_HOURS}. ${help} Received ${perSecond}.`;
  throw new RefusedRequest([{ parameter: 'perSecond', received: String(perSecond), message }]);
}

/**
 * Brings chosen units back: each under its next generation, for the publisher to send; its old message is deleted only
 * after the new one is planned in the ledger.
 */
export async function redrive(
  ports: TendPorts,
  request: RedriveUnits,
  requestId: string,
  deadline: Deadline,
): Promise<ActView> {
  const { actor, reason, perSecond, beyondGenerations } = request;
  const startAt = Math.max(request.startAt ?? 0, ports.clock.now());
  const move: MoveUnit = async ({ runId, unit, generation }, position) => {
    const change = nextGeneration(generation, ports.clock.now(), dueAt(startAt, perSecond, position));
    const moved = await ports.ledger.moveUnit({ runId, unit }, 'redrive', { generation }, change);
    return moved.kind === 'moved';
  };
  const done = await actOnUnits(
    ports,
    {
      act: { act: 'redrive', actor, reason, requestId },
      request,
      eligibility: { permanent: 'only-if-named', beyondGenerations, cancelledRuns: 'left-out' },
      move,
      ...(perSecond === undefined ? {} : { check: (units) => assertSpread(units, perSecond) }),
    },
    deadline,
    () => publishDue(ports, deadline),
  );
  const spaced = done.dryRun ? Math.max(0, done.selected - request.from) : done.moved;
  const paced = perSecond !== undefined && spaced > 0;
  return { ...done, paceEndsAt: paced ? formatInstant(dueAt(startAt, perSecond, spaced)) : null };
}
