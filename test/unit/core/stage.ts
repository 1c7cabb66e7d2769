import { type ConsumePorts, consume } from '../../../lib/core/consume/consume.ts';
import type { Decision } from '../../../lib/core/consume/delivery.ts';
import { prepareEvent } from '../../../lib/core/consume/prepare.ts';
import { Gate } from '../../../lib/core/control/gate.ts';
import { DAY_MILLIS, formatInstant } from '../../../lib/core/identity/instant.ts';
import type { RunItem, UnitItem } from '../../../lib/core/ledger/items.ts';
import type { DispatchPorts } from '../../../lib/core/plan/dispatch.ts';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import type { Deadline, FailureClass } from '../../../lib/core/ports/index.ts';
import type { ReconcilePorts } from '../../../lib/core/reconcile/reconcile.ts';
import { Deployment, type DeploymentOptions } from '../../helpers/deployment.ts';
import { type Delivery, MemoryMeter, type Row, testSettings, type World } from '../../model/index.ts';

/** Where a world begins, and the scheduled time of its first run. */
export const SCHEDULED = Date.UTC(2026, 0, 1);
/** Of that run, with the 365 days of `testSettings`. */
export const CUTOFF = SCHEDULED - 365 * DAY_MILLIS;
export const OLD = '2020-01-01T00:00:00.000Z';

/** An account that has long been due. */
export function account(id: string, more: Row = {}): Row {
  return { id, tenant: 't1', status: 'ACTIVE', lastActivity: OLD, ...more };
}

/** `count` due accounts of one tenant, in order of their ids. */
export function accounts(count: number, more: Row = {}): readonly Row[] {
  return Array.from({ length: count }, (_, number) => account(`a${String(number).padStart(4, '0')}`, more));
}

/** A table in which so many records are not due: what is unreadable beside them is a small share of it. */
export const FEW_OF_MANY = { source: { others: 1_000 } } as const;

/** The pipeline on models over these rows. */
export function deploy(
  rows: readonly Row[],
  settings: Partial<Record<SettingKey, string>> = {},
  options: Partial<Omit<DeploymentOptions, 'rows' | 'settings'>> = {},
): Deployment {
  return new Deployment({ ...options, rows, settings: testSettings({ discoverySegments: '1', ...settings }) });
}

/** `deploy`, dispatched: the messages wait in the queue. */
export async function published(...parameters: Parameters<typeof deploy>): Promise<Deployment> {
  const stage = deploy(...parameters);
  const end = await stage.dispatch();
  if (end.kind !== 'done') throw new Error(`the dispatch ended as ${end.kind}`);
  return stage;
}

/** The port with some of its methods replaced. */
export function altered<T extends object>(port: T, changes: Partial<T>): T {
  return new Proxy(port, {
    get: (target, name) => {
      const change: unknown = Reflect.get(changes, name);
      if (change !== undefined) return change;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function commonPorts({ ledger, queue, signer, world, log }: Deployment) {
  return { ledger, queue, signer, log, clock: world.clock(), random: world.random, meter: new MemoryMeter() };
}

export function dispatchPorts(stage: Deployment, more: Partial<DispatchPorts> = {}): DispatchPorts {
  return {
    ...commonPorts(stage),
    sourceFor: async (run) => stage.source.forRun(run),
    probe: stage.probe,
    owner: 'dispatcher',
    ...more,
  };
}

export function reconcilePorts(stage: Deployment, more: Partial<ReconcilePorts> = {}): ReconcilePorts {
  const { resumer, log, intake, settings } = stage;
  return { ...commonPorts(stage), resumer, log, intake, policyId: settings.policyId, ...more };
}

export function consumePorts(stage: Deployment, more: Partial<ConsumePorts> = {}): ConsumePorts {
  const common = commonPorts(stage);
  return {
    ...common,
    target: stage.target,
    idempotency: stage.idempotency.on(common.clock),
    admission: stage.admission,
    gate: new Gate(more.ledger ?? common.ledger, common.clock),
    log: stage.log,
    policyId: stage.settings.policyId,
    owner: 'consumer',
    ...more,
  };
}

/** The same time left at every look. */
export function timeLeft(millis = 800_000): Deadline {
  return { remainingMillis: () => millis };
}

/** Ends so long from now by virtual time. */
export function endsIn(world: World, millis: number): Deadline {
  const end = world.millis + millis;
  return { remainingMillis: () => end - world.millis };
}

/** A decision without what is only told of it. */
export type Brief =
  | Pick<Extract<Decision, { kind: 'acknowledge' }>, 'kind' | 'why'>
  | (Pick<Extract<Decision, { kind: 'retry' }>, 'kind' | 'why' | 'afterSeconds'> & {
      readonly errorClass: string;
      readonly failureClass: FailureClass;
    });

export function brief(decision: Decision): Brief {
  if (decision.kind === 'acknowledge') return { kind: decision.kind, why: decision.why };
  const { kind, why, afterSeconds, told } = decision;
  return { kind, why, afterSeconds, errorClass: told.failure.error, failureClass: told.failure.class };
}

/** Decides deliveries as one event and acknowledges nothing. */
export async function decide(
  stage: Deployment,
  deliveries: readonly Delivery[],
  more: Partial<ConsumePorts> = {},
  deadline: Deadline = timeLeft(),
): Promise<readonly Brief[]> {
  const ports = consumePorts(stage, more);
  const prepared = await prepareEvent({ ledger: ports.ledger, signer: stage.signer }, deliveries);
  const decisions: Brief[] = [];
  for (const delivery of deliveries) {
    const known = prepared.get(delivery.messageId);
    if (known === undefined) throw new Error('a delivery was not prepared');
    decisions.push(brief(await consume(ports, delivery, known, deadline)));
  }
  return decisions;
}

/** The only message that is visible now. */
export async function receiveOne(stage: Deployment): Promise<Delivery> {
  const [delivery, ...others] = await stage.queue.receive(10);
  if (delivery === undefined || others.length > 0) throw new Error(`${others.length} further deliveries`);
  return delivery;
}

/** The same body as a new message, as a resend or a redrive makes it. */
export function resent(delivery: Delivery, messageId = `${delivery.messageId}-again`): Delivery {
  return { ...delivery, messageId, handle: `handle of ${messageId}`, receiveCount: 1 };
}

export async function theRun(stage: Deployment, runId = stage.runId): Promise<RunItem> {
  const run = await stage.ledger.readRun(runId);
  if (run === undefined) throw new Error(`no run ${runId}`);
  return run;
}

export async function theUnit(stage: Deployment, unit = '0'): Promise<UnitItem> {
  const item = await stage.ledger.readUnit({ runId: stage.runId, unit });
  if (item === undefined) throw new Error(`no unit ${unit}`);
  return item;
}

/** Record keys of the frozen plan, slice by slice. */
export function plannedIds(stage: Deployment): readonly (readonly string[])[] {
  return stage.ledger.contents().slices.map((slice) => slice.entries.map((entry) => JSON.parse(entry.key)[0].slice(1)));
}

/** Ids of the records that stand in the expired state. */
export function expiredIds(stage: Deployment): readonly string[] {
  const { stateAttribute, expiredState } = stage.settings;
  return stage.records.rows().flatMap((row) => (row[stateAttribute] === expiredState ? [String(row.id)] : []));
}

export function instant(millis: number): string {
  return formatInstant(millis);
}
