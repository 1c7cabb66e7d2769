import { keysDigest } from '../identity/digests.ts';
import { ordinalOf, positionOf } from '../identity/keys.ts';
import type { SelectedUnit } from '../ledger/items.ts';
import { RefusedRequest } from '../plan/request.ts';
import type { Deadline, Ledger } from '../ports/index.ts';
import { audit } from './audit.ts';
import { sayReceived } from './received.ts';
import type { Named, UnitsRequest } from './request.ts';
import { type TendPorts, tendDeadLetters } from './tend.ts';
import { actOnUnits } from './units.ts';
import type { ActView, MessageAbandonedView } from './views.ts';

/**
 * What the unit accounts for once it is given up: the keys of its frozen list, by the word of a person, since no target
 * has answered for them. Undefined where the slice is gone.
 */
async function keysOf(ledger: Ledger, { runId, unit }: SelectedUnit): Promise<string | undefined> {
  const ordinal = ordinalOf(unit);
  const position = positionOf(unit);
  const [slice] = await ledger.slices(runId, ordinal, ordinal + 1);
  if (position === undefined) return slice?.keysDigest;
  const key = slice?.entries[position]?.key;
  return key === undefined ? undefined : keysDigest([key]);
}

/** Gives chosen units up for good. Their records are counted as skipped, and the run can close. */
export async function abandon(
  ports: TendPorts,
  request: UnitsRequest,
  requestId: string,
  deadline: Deadline,
): Promise<ActView> {
  const { actor, reason } = request;
  const move = async (selected: SelectedUnit) => {
    const { runId, unit, generation } = selected;
    const now = ports.clock.now();
    const digest = await keysOf(ports.ledger, selected);
    const change = { since: now, finishedAt: now, ...(digest === undefined ? {} : { keysDigest: digest }) };
    return (await ports.ledger.moveUnit({ runId, unit }, 'abandon', { generation }, change)).kind === 'moved';
  };
  const done = await actOnUnits(
    ports,
    {
      act: { act: 'abandon', actor, reason, requestId },
      request,
      eligibility: { permanent: 'allowed', beyondGenerations: 'allowed', cancelledRuns: 'allowed' },
      move,
    },
    deadline,
    async () => 0,
  );
  return { ...done, paceEndsAt: null };
}

const LETTERS_PER_ACT = 20_000;

/** Gives up a message that could not be read, and removes it from the dead-letter queue. */
export async function abandonMessage(
  ports: TendPorts,
  { actor, reason, digest }: Named & { readonly digest: string },
  requestId: string,
  deadline: Deadline,
): Promise<MessageAbandonedView> {
  const { ledger, clock, policyId } = ports;
  const known = await ledger.readBadMessage(policyId, digest);
  if (known === undefined) {
    const message = `No message of this digest is known; \`list\` shows those that are. Received ${sayReceived(digest)}.`;
    throw new RefusedRequest([{ parameter: 'message', received: sayReceived(digest), message }]);
  }
  if (known.abandonedAt === undefined) {
    const act = { act: 'abandon', actor, reason, requestId } as const;
    await audit(ports, { kind: 'policy', policyId }, act, { units: [`message ${digest}`] }, clock.now());
    await ledger.abandonBadMessage(policyId, digest, clock.now());
  }
  const { deleted } = await tendDeadLetters(ports, deadline, LETTERS_PER_ACT);
  return { act: 'abandon', message: digest, deleted };
}
