import type { UnitChange, UnitItem } from '../../../lib/core/ledger/items.ts';
import { RefusedRequest } from '../../../lib/core/plan/request.ts';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import type { Failure } from '../../../lib/core/ports/index.ts';
import { readAudit } from '../../../lib/core/read/audit.ts';
import type {
  ActView,
  AuditView,
  CancelView,
  InspectView,
  MessageAbandonedView,
  QuarantineView,
  SwitchView,
} from '../../../lib/core/redrive/views.ts';
import type { Deployment, Invocation } from '../../helpers/deployment.ts';
import { type Ended, type Interference, NO_INTERFERENCE } from '../../helpers/process.ts';
import { settle } from '../../helpers/settle.ts';
import { Timeline } from '../../helpers/timeline.ts';
import type { Scenario } from '../../helpers/walker.ts';
import { accounts, published, theRun } from './stage.ts';

export const NAMED = { actor: 'arn:aws:iam::1:user/eve', reason: 'mended' };
export const DENIED: Failure = { class: 'permanent', error: 'AccessDeniedException' };
export const THROTTLED: Failure = { class: 'transient', error: 'ThrottlingException' };
export const MINUTE_MILLIS = 60_000;
export const HOUR_MILLIS = 60 * MINUTE_MILLIS;

interface Views {
  readonly list: QuarantineView;
  readonly inspect: InspectView;
  readonly redrive: ActView;
  readonly abandon: ActView;
  readonly 'abandon-message': MessageAbandonedView;
  readonly pause: SwitchView;
  readonly resume: SwitchView;
  readonly cancel: CancelView;
}

/** The value of an invocation that has to end well. */
export async function wellEnded<T>(ended: Promise<Ended<T>>): Promise<T> {
  const end = await ended;
  if (end.kind === 'done') return end.value;
  throw end.kind === 'failed' ? end.error : new Error(`crashed ${end.call}`);
}

/** Carries out one act with a name and a reason, and answers with its view. */
export async function ask<K extends keyof Views>(
  stage: Deployment,
  act: K,
  fields: object = {},
  invocation: Invocation = {},
): Promise<Views[K]> {
  const named = act === 'list' || act === 'inspect' ? {} : NAMED;
  const event = { act: act === 'abandon-message' ? 'abandon' : act, ...named, ...fields };
  return (await wellEnded(stage.act(event, invocation))) as Views[K];
}

/** What an act is refused for: one sentence after the other. */
export async function refusalOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof RefusedRequest) return error.problems.map(({ message }) => message).join(' ');
    throw error;
  }
  throw new Error('it was not refused');
}

/** Every record of these batches of three fails so: each batch waits as one unit, the run is closed around them. */
export async function batchesInQuarantine(
  batches: number,
  failing: readonly number[],
  failure: Failure = THROTTLED,
  settings: Partial<Record<SettingKey, string>> = {},
): Promise<Deployment> {
  const stage = await published(accounts(3 * batches), settings);
  for (const batch of failing) poisonBatch(stage, batch, failure);
  await settle(stage);
  const { status } = await theRun(stage);
  if (status !== 'complete_with_quarantine') throw new Error(`the run is ${status}`);
  return stage;
}

export function poisonBatch({ target }: Deployment, batch: number, failure: Failure = THROTTLED): void {
  for (let position = 0; position < 3; position += 1) {
    target.poison(`a${String(3 * batch + position).padStart(4, '0')}`, failure);
  }
}

/** Puts a unit of three records into quarantine without any delivery, labelled copy not included. */
export async function layDown(
  { ledger, world, runId }: Deployment,
  unit: string,
  change: Partial<UnitChange> & { readonly run?: string; readonly tenant?: string; readonly records?: number } = {},
): Promise<UnitItem> {
  const { run = runId, tenant = 't1', records = 3, ...rest } = change;
  const at = world.millis;
  const moved = await ledger.moveUnit(
    { runId: run, unit },
    'quarantine',
    { generation: 0, make: { tenant, records } },
    {
      since: at,
      finishedAt: at,
      reason: 'attempts_spent',
      errorClass: 'Throttled',
      failureClass: 'transient',
      ...rest,
    },
  );
  if (moved.kind !== 'moved') throw new Error(`unit ${unit} is ${moved.unit?.state}`);
  return moved.unit;
}

/** Units by name with the states in which they stand. */
export function statesOf({ ledger }: Deployment): Readonly<Record<string, string>> {
  return Object.fromEntries(ledger.contents().units.map(({ unit, state }) => [unit, state]));
}

export async function trailOf(stage: Deployment, of: 'run' | 'policy' = 'run'): Promise<AuditView> {
  const { policyId } = stage.settings;
  const scope = of === 'run' ? { kind: 'run' as const, runId: stage.runId } : { kind: 'policy' as const, policyId };
  const view = await readAudit(stage.ledger, scope);
  if (view === undefined) throw new Error('no trail');
  return view;
}

/** Generations that the dead letters are labelled with, by unit. */
export function lettersOf({ queue }: Deployment): Readonly<Record<string, readonly (string | undefined)[]>> {
  const letters = queue.deadLetters.copies();
  const named = Map.groupBy(letters, ({ body }) => String((JSON.parse(body) as { unit: string }).unit));
  return Object.fromEntries([...named].map(([unit, copies]) => [unit, copies.map(({ labels }) => labels.generation)]));
}

/** A person asks again until the function answers; looks at dead letters end meanwhile. */
export async function untilDone(stage: Deployment, event: object): Promise<void> {
  for (let tries = 0; tries < 6; tries += 1) {
    stage.world.advance(5 * MINUTE_MILLIS);
    if ((await stage.act({ ...NAMED, ...event })).kind === 'done') return;
  }
  throw new Error('the act never ended well');
}

/** The walker's trouble, kept to the calls of acts: the rest of the story has its own walks. */
export function onlyActs<S>(scenario: Scenario<S>): Scenario<S> {
  const kept = ({ fate }: Interference): Interference => ({
    fate: (call, moment) => (call.process.startsWith('redrive') ? fate(call, moment) : 'go'),
  });
  return { ...scenario, make: (interference) => scenario.make(kept(interference)) };
}

const TARGET_MILLIS = 700;
const PORT_MILLIS = 20;

/**
 * Three consumers side by side, for as long as they are given messages, and a person who acts after so long: when each
 * target call began, and when the act had answered.
 */
export async function actedAtWork(
  stage: Deployment,
  afterMillis: number,
  act: () => Promise<unknown>,
): Promise<{ readonly starts: readonly number[]; readonly answeredAt: number }> {
  const { world, crew } = stage;
  const timeline = new Timeline(world);
  const starts: number[] = [];
  const admit = ({ name }: { readonly name: string }) => {
    if (name === 'target.apply') starts.push(world.millis);
    return timeline.sleep(name === 'target.apply' ? TARGET_MILLIS : PORT_MILLIS);
  };
  crew.interference = { ...NO_INTERFERENCE, admit };
  const consumer = async () => {
    for (let next = await stage.receive(); next.length > 0; next = await stage.receive()) await stage.consume(next);
  };
  let answeredAt = 0;
  const person = async () => {
    await timeline.sleep(afterMillis);
    await act();
    answeredAt = world.millis;
  };
  await timeline.drive([consumer, consumer, consumer, person]);
  crew.interference = NO_INTERFERENCE;
  return { starts, answeredAt };
}
