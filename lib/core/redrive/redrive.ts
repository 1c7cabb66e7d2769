import { type EpochMillis, formatInstant } from '../identity/instant.ts';
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
    },
    deadline,
    () => publishDue(ports, deadline),
  );
  const paced = perSecond !== undefined && done.moved > 0;
  return { ...done, paceEndsAt: paced ? formatInstant(dueAt(startAt, perSecond, done.moved)) : null };
}
