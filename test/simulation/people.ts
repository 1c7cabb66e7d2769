import { DAY_MILLIS, formatInstant } from '../../lib/core/identity/instant.ts';
import type { UnitItem } from '../../lib/core/ledger/items.ts';
import { isFinishedRun } from '../../lib/core/ledger/lifecycle.ts';
import type { ActAnswer } from '../../lib/core/redrive/act.ts';
import { idOfKey } from '../model/index.ts';
import { BEGINNING } from './config.ts';
import type { PersonKind, RecordKind } from './coverage.ts';
import type { Stage } from './stage.ts';

const NAMED = { actor: 'someone', reason: 'to see what happens' };

interface Asked {
  readonly kind: PersonKind;
  readonly event: Readonly<Record<string, unknown>>;
}

/** Asks the redrive function for something, as a person would. */
export function ask(stage: Stage, { kind, event }: Asked): void {
  const invocation = stage.invocation('act');
  stage.tell(() => `a person asks for ${kind}: ${JSON.stringify(event)} (${invocation.name})`);
  stage.start(stage.deployment.act({ ...NAMED, ...event }, invocation), (ended) => {
    if (ended.kind !== 'done') return;
    stage.journal.act(invocation.name, ended.value);
    if (tookEffect(ended.value)) stage.met.add(`person: ${kind}`);
    if ('moved' in ended.value && ended.value.dryRun && ended.value.selected > 0) {
      const { selection } = ended.value;
      if (stage.random.chance(0.5)) ask(stage, heldTo(selection));
      else stage.selection = selection;
    }
  });
}

function tookEffect(answer: ActAnswer): boolean {
  if (!('act' in answer)) return false;
  if ('moved' in answer) return answer.dryRun ? answer.selected > 0 : answer.moved > 0;
  return 'result' in answer ? answer.result === 'done' : true;
}

/** One of the acts that a person has; resuming is likelier than pausing, else nothing would ever be done. */
export function act(stage: Stage): void {
  ask(stage, drawAct(stage));
}

function drawAct(stage: Stage): Asked {
  const { random, deployment } = stage;
  const { units, runs, badMessages } = deployment.ledger.contents();
  const what = random.below(100);
  const waiting = units.filter(({ state }) => state === 'quarantined');
  if (waiting.length > 0 && random.chance(0.95)) {
    const filter = random.pick(filtersOf(random.pick(waiting)));
    return what < 12 ? { kind: 'abandon', event: { act: 'abandon', filter } } : drawRedrive(stage, filter);
  }
  if (what < 12) return { kind: 'pause', event: { act: 'pause' } };
  if (what < 60) return { kind: 'resume', event: { act: 'resume' } };
  if (what < 68 && runs.length > 0) return { kind: 'cancel', event: { act: 'cancel', run: random.pick(runs).runId } };
  const bad = badMessages.length === 0 ? undefined : random.pick(badMessages);
  if (bad !== undefined && what < 80) return { kind: 'abandon', event: { act: 'abandon', message: bad.digest } };
  return drawRedrive(stage, { tenant: 'big' });
}

function filtersOf({ runId, unit, tenant, reason = 'none' }: UnitItem): readonly object[] {
  return [{ run: runId, unit }, { run: runId }, { tenant }, { reason }, { reason, tenant }];
}

function heldTo(selection: string): Asked {
  return {
    kind: 'redrive held to its selection',
    event: { act: 'redrive', selection, beyondGenerations: true },
  };
}

/** Brings quarantined units back in one of the ways there are. */
function drawRedrive(stage: Stage, filter: object): Asked {
  const { random, selection } = stage;
  if (selection !== undefined && random.chance(0.8)) {
    stage.selection = undefined;
    return heldTo(selection);
  }
  const event = { act: 'redrive', beyondGenerations: random.chance(0.5) };
  const asked: readonly Asked[] = [
    { kind: 'redrive by filter', event: { ...event, filter } },
    { kind: 'redrive all', event: { ...event, all: true } },
    { kind: 'redrive all', event: { ...event, all: true } },
    { kind: 'redrive at a rate', event: { ...event, filter, perSecond: random.pick([0.01, 0.1, 1]) } },
    { kind: 'redrive with a limit', event: { ...event, filter, limit: 1 } },
    { kind: 'dry run', event: { act: 'redrive', filter, dryRun: true } },
    { kind: 'dry run', event: { act: 'redrive', all: true, dryRun: true } },
  ];
  return random.pick(asked);
}

/** Somebody who is not of the pipeline changes a record, or makes writes of it fail. */
export function changeRecord(stage: Stage): void {
  const { random, deployment, journal } = stage;
  const { records, target } = deployment;
  const rows = records.rows();
  if (rows.length === 0) return;
  const id = random.chance(0.6) ? plannedId(stage) : String(random.pick(rows).id);
  const change: Readonly<Record<RecordKind, () => unknown>> = {
    reactivated: () => records.reactivate(id),
    restored: () => records.restore(id),
    closed: () => records.close(id),
    held: () => records.hold(id),
    released: () => records.release(id),
    touched: () => records.touch(id, formatInstant(BEGINNING - (366 + random.below(100)) * DAY_MILLIS)),
    're-created': () => records.recreate(id),
    removed: () => rows.length > 3 && records.remove(id),
    'expired by hand': () => records.expireByHand(id),
    poisoned: () =>
      target.poison(id, { class: random.pick(['permanent', 'permanent', 'transient'] as const), error: 'Poison' }),
    healed: () => target.heal(id),
  };
  const kind = random.pick(WEIGHTED);
  const before = records.row(id);
  change[kind]();
  const happened = records.row(id) !== before || (before !== undefined && (kind === 'poisoned' || kind === 'healed'));
  if (happened) stage.met.add(`record: ${kind}`);
  stage.tell(() => `somebody's doing: ${id} is ${kind}`);
  if (records.row(id) !== before) journal.person(id);
}

/** A record of a plan that is under way, where there is one: elsewhere hardly anybody is in our way. */
function plannedId({ random, deployment }: Stage): string {
  const { slices, runs } = deployment.ledger.contents();
  const open = new Set(runs.flatMap(({ runId, status }) => (isFinishedRun(status) ? [] : [runId])));
  const keys = slices.flatMap(({ runId, entries }) => (open.has(runId) ? entries.map(({ key }) => key) : []));
  return keys.length > 0 ? idOfKey(random.pick(keys)) : String(random.pick(deployment.records.rows()).id);
}

/** Poison is what most of the quarantine is made of. */
const WEIGHTED: readonly RecordKind[] = [
  ...(['reactivated', 'restored', 'closed', 'held', 'released', 'touched', 're-created', 'removed'] as const),
  ...(['expired by hand', 'poisoned', 'poisoned', 'poisoned', 'poisoned', 'poisoned', 'poisoned', 'healed'] as const),
];
