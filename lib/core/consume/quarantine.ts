import { keysDigest } from '../identity/digests.ts';
import { digestOf } from '../identity/encode.ts';
import { batchUnit, splitUnitOf } from '../identity/keys.ts';
import type { SplitUnit, UnitItem } from '../ledger/items.ts';
import type { Failure, Meter, Target } from '../ports/index.ts';
import { groupOf } from '../publish/reference.ts';
import { accountFor, type Failures, mayTryAgain, type Outcomes } from './apply.ts';
import { type CopyPorts, ensureCopies, hasCopy, sendCopy } from './copies.ts';
import type { Decision, Told } from './delivery.ts';
import type { Work } from './judge.ts';

export interface QuarantinePorts extends CopyPorts {
  readonly meter: Meter;
}

/** Records of one batch that may become units of their own; when more fail, the fault is hardly theirs. */
export const ISOLATION_LIMIT = 25;

/** Why a unit is given up, and by which failure. */
export interface GivenUp {
  readonly reason: string;
  readonly failure: Failure;
  readonly told: Told;
  /** What the delivery achieved before, for the ledger. */
  readonly outcomes?: Outcomes;
}

/** What a unit keeps of a failure: codes and ids, never a message. */
export function noted({ error, class: failureClass, requestId }: Failure) {
  return { errorClass: error, failureClass, ...(requestId === undefined ? {} : { requestId }) };
}

/**
 * Gives up on a unit: the state in the ledger first, then the labelled copy in the dead-letter queue, then the
 * acknowledgement. A crash in between brings the message back, and the missing steps are done then.
 */
export async function quarantineUnit(
  ports: QuarantinePorts,
  work: Work,
  body: string,
  { reason, failure, told, outcomes }: GivenUp,
): Promise<Decision> {
  const { reference, slice, records } = work;
  const now = ports.clock.now();
  const moved = await ports.ledger.moveUnit(
    reference,
    'quarantine',
    { generation: reference.generation, make: { tenant: slice.tenant, records: records.size } },
    {
      since: now,
      finishedAt: now,
      reason,
      ...noted(failure),
      ...(outcomes === undefined ? {} : { counts: accountFor(work, outcomes).counts }),
      cost: ports.meter.take(),
    },
  );
  const { unit } = moved;
  // Somebody else settled it meanwhile; whoever did has seen to the message of that state.
  if (unit?.state !== 'quarantined' || unit.generation !== reference.generation) {
    return { kind: 'acknowledge', why: 'stale', told: {} };
  }
  if (!hasCopy(unit)) await sendCopy(ports, body, unit);
  return { kind: 'acknowledge', why: 'quarantined', told: { failure, ...told, reason } };
}

/** A unit whose effect nobody knows waits for a person to resolve it; it is never tried again by itself. */
export async function doubtUnit(
  ports: QuarantinePorts,
  { reference }: Work,
  body: string,
  { reason, failure, told }: GivenUp,
): Promise<Decision> {
  const now = ports.clock.now();
  const moved = await ports.ledger.moveUnit(
    reference,
    'doubt',
    { generation: reference.generation },
    { since: now, finishedAt: now, reason, ...noted(failure), cost: ports.meter.take() },
  );
  if (moved.unit?.state !== 'uncertain') return { kind: 'acknowledge', why: 'stale', told: {} };
  await sendCopy(ports, body, moved.unit);
  return { kind: 'acknowledge', why: 'uncertain', told: { failure, ...told, reason } };
}

/** True where the records that failed can be told from a batch that went well otherwise. */
export function mayIsolate({ reference, slice }: Work, outcomes: Outcomes, failures: Failures): boolean {
  const isBatch = reference.unit === batchUnit(slice.ordinal);
  return isBatch && outcomes.size > 0 && failures.size <= ISOLATION_LIMIT;
}

function childOf(work: Work, started: UnitItem, position: number, failure: Failure, target: Target, now: number) {
  const doubtful = failure.class === 'uncertain' && !mayTryAgain(failure, target);
  const { attempts, startedAt, bornAt } = started;
  const child: SplitUnit = {
    unit: splitUnitOf(work.reference.unit, position),
    tenant: work.slice.tenant,
    state: doubtful ? 'uncertain' : 'quarantined',
    attempts,
    since: now,
    finishedAt: now,
    reason: reasonOf(failure, target),
    ...noted(failure),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(bornAt === undefined ? {} : { bornAt }),
  };
  return child;
}

/** Why a record, or a unit, of this failure is given up after its last try. */
export function reasonOf(failure: Failure, target: Target): string {
  if (failure.class === 'permanent') return 'permanent_failure';
  return mayTryAgain(failure, target) ? 'attempts_spent' : 'effect_unknown';
}

/**
 * Commits a batch without the few records that failed for good, and makes each of those a unit of its own: its
 * neighbours are done at once, and a redrive touches only it.
 */
export async function isolateRecords(
  ports: QuarantinePorts & { readonly target: Target },
  work: Work,
  started: UnitItem,
  { outcomes, failures, told }: { readonly outcomes: Outcomes; readonly failures: Failures; readonly told: Told },
): Promise<Decision | 'moved-on'> {
  const { reference } = work;
  const now = ports.clock.now();
  const failed = [...work.records].flatMap(([position, { key }]) => {
    const failure = failures.get(key);
    return failure === undefined ? [] : [{ position, failure }];
  });
  const children = failed.map(({ position, failure }) => childOf(work, started, position, failure, ports.target, now));
  const moved = await ports.ledger.splitUnit(
    reference,
    { generation: reference.generation },
    {
      since: now,
      finishedAt: now,
      ...accountFor(work, outcomes),
      keysDigest: keysDigest([...outcomes.keys()]),
      split: failed.map(({ position }) => position),
      cost: ports.meter.take(),
    },
    children,
  );
  if (moved.kind === 'refused') return 'moved-on';
  await ensureCopies(
    ports,
    work.run,
    children.map(({ unit }) => unit),
  );
  const isolated = failed.map(({ position, failure }) => ({
    unit: splitUnitOf(reference.unit, position),
    reason: reasonOf(failure, ports.target),
    failure,
  }));
  return { kind: 'acknowledge', why: 'isolated', told: { ...told, isolated } };
}

/** Quarantines a body that cannot be trusted, under the digest of what was received. It is never stored or logged. */
export async function quarantineMessage(
  ports: Pick<QuarantinePorts, 'ledger' | 'queue' | 'clock'>,
  policyId: string,
  body: string,
  reason: string,
): Promise<Decision> {
  const digest = messageDigest(body);
  await ports.ledger.recordBadMessage({ policyId, digest, reason, at: ports.clock.now() });
  await ports.queue.sendDeadLetter(body, { reason, digest }, groupOf(digest));
  const failure: Failure = { class: 'permanent', error: reason };
  return { kind: 'acknowledge', why: 'bad_message', told: { failure } };
}

/** The identity of a message that cannot be read. */
export function messageDigest(body: string): string {
  return digestOf(['message', body]);
}
