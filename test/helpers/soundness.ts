import { isDeepStrictEqual } from 'node:util';
import { digestOf } from '../../lib/core/identity/encode.ts';
import { batchUnit, operationKey, ordinalOf, positionOf, splitUnitOf } from '../../lib/core/identity/keys.ts';
import type { RunItem, Slice, UnitItem } from '../../lib/core/ledger/items.ts';
import { isTerminalUnit } from '../../lib/core/ledger/lifecycle.ts';
import { PROCESSED } from '../../lib/core/ledger/outcomes.ts';
import { parseReference } from '../../lib/core/publish/reference.ts';
import { verifyTrail } from '../../lib/core/read/audit.ts';
import {
  type Delivery,
  expiryWitnessOf,
  isHeld,
  keyOfId,
  type RecordWrite,
  type Row,
  witnessOf,
} from '../model/index.ts';
import type { Deployment } from './deployment.ts';

/** Something that must never be so. */
export class Unsound extends Error {}

function must(holds: boolean, sentence: string): void {
  if (!holds) throw new Unsound(sentence);
}

/** Watches a deployment from its beginning for what only shows while it runs. Collects; `checkSound` throws. */
export function watch(deployment: Deployment): readonly string[] {
  const seen: string[] = [];
  deployment.queue.onAcknowledge = (delivery) => {
    if (!isAccountedFor(deployment, delivery))
      seen.push('a message was acknowledged before its unit was accounted for');
  };
  deployment.ledger.onRunMoved = (before, after) => {
    const begunAnew = before.status === 'refused';
    if (after.checkpoint.nextOrdinal < before.checkpoint.nextOrdinal && !begunAnew) {
      seen.push('a checkpoint moved backwards (P9)');
    }
    if ((after.published?.batches ?? 0) < (before.published?.batches ?? 0))
      seen.push('publishing moved backwards (P9)');
    if (before.frozenAt !== undefined && JSON.stringify(after.plan) !== JSON.stringify(before.plan)) {
      seen.push('a frozen plan was changed');
    }
  };
  return seen;
}

/** Invariant 4: completion, quarantine or deferral is in the ledger, or the delivery had been overtaken. */
function isAccountedFor(deployment: Deployment, { body }: Delivery): boolean {
  const { runs, units, badMessages } = deployment.ledger.contents();
  const digest = digestOf(['message', body]);
  if (badMessages.some((message) => message.digest === digest)) return true;
  const parsed = parseReference(body);
  if (parsed.kind === 'bad') return false;
  const { runId, unit: name, generation } = parsed.reference;
  // What it was not begun with is accounted for by the run itself.
  if (runs.some((run) => run.runId === runId && run.status === 'cancelled')) return true;
  const unit = units.find((candidate) => candidate.runId === runId && candidate.unit === name);
  if (unit === undefined) return false;
  if (unit.generation > generation || isTerminalUnit(unit.state)) return true;
  // Deferred; that another delivery has begun since is that delivery's affair.
  return waits(unit) || unit.notBefore !== undefined;
}

/** For a person. */
function waits({ state }: UnitItem): boolean {
  return state === 'quarantined' || state === 'uncertain';
}

/** What must hold at rest, whatever happened on the way. */
export function checkSound(deployment: Deployment, seen: readonly string[]): void {
  must(seen.length === 0, seen.join('; '));
  const { runs } = deployment.ledger.contents();
  must(runs.length > 0, 'there is no run');
  for (const run of runs) checkRun(deployment, run);
  checkWrites(deployment, runs);
  must(deployment.stops.violations.length === 0, deployment.stops.violations.join('; '));
  checkTrails(deployment);
  const mismatch = deployment.log.events.find((event) => event.name === 'proof_mismatch');
  must(mismatch === undefined, 'the reconciler found a mismatch');
}

/** Every act is in a chain that ends at its head, and every generation beyond the first has an act that made it. */
function checkTrails(deployment: Deployment): void {
  const { runs, units, audit } = deployment.ledger.contents();
  for (const run of runs) {
    const entries = audit.filter(({ scope }) => scope === run.runId).map(({ entry }) => entry);
    const faults = verifyTrail(entries, run.auditHead);
    must(faults.length === 0, faults.map(({ message }) => message).join('; '));
    for (const { unit, generation, state } of units.filter(({ runId }) => runId === run.runId)) {
      const acts = entries.filter((entry) => entry.units.includes(unit));
      const redrives = acts.filter(({ act }) => act === 'redrive').length;
      must(redrives >= generation, `unit ${unit} is of generation ${generation} and was redriven ${redrives} times`);
      must(state !== 'abandoned' || acts.some(({ act }) => act === 'abandon'), `nobody abandoned unit ${unit}`);
    }
  }
}

function planOf(deployment: Deployment, run: RunItem): readonly Slice[] {
  const { slices } = deployment.ledger.contents();
  return slices.filter((slice) => slice.runId === run.runId && slice.ordinal < (run.plan?.batches ?? 0));
}

function checkRun(deployment: Deployment, run: RunItem): void {
  const { plan, closing } = run;
  if (run.status === 'reported' || run.status === 'refused') {
    must(!sentFor(deployment, run), `a run that is ${run.status} published messages`);
    must(run.refusals.length > 0 === (run.status === 'refused'), `a run that is ${run.status} and gives no reason`);
    return;
  }
  must(run.refusals.length === 0, 'a run that went on has reasons not to');
  if (plan === undefined || closing === undefined)
    throw new Unsound(`run ${run.runId} ended as ${run.status} unplanned`);
  const slices = planOf(deployment, run);
  const { tenants, units } = deployment.ledger.contents();
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const planned = sum(slices.map((slice) => slice.entries.length));
  must(slices.length === plan.batches && planned === plan.records, 'the plan is not what its slices hold');
  must(plan.discovered === plan.records + plan.held + plan.overLimit, 'discovered is not planned + held + over limit');
  for (const name of plan.tenants === 0 ? [] : (['discovered', 'held', 'overLimit'] as const)) {
    const ofRun = tenants.filter((tenant) => tenant.runId === run.runId);
    // A try that was refused may have left reports of its own, of an older epoch.
    const epoch = Math.max(...ofRun.map((tenant) => tenant.epoch));
    const reported = sum(ofRun.filter((tenant) => tenant.epoch === epoch).map((tenant) => tenant[name]));
    must(reported === plan[name], `the tenants' ${name} do not add up`);
  }
  const { processed, skipped, remaining } = closing;
  must(plan.records === processed + skipped + remaining, 'planned is not processed + skipped + remaining');
  let open = 0;
  for (const slice of slices) {
    const batch = batchUnit(slice.ordinal);
    const ofBatch = units.filter((one) => one.runId === run.runId && ordinalOf(one.unit) === slice.ordinal);
    const unit = ofBatch.find((one) => one.unit === batch);
    const names = (unit?.split ?? []).map((position) => splitUnitOf(batch, position));
    const children = ofBatch.filter((one) => one.unit !== batch).map((one) => one.unit);
    must(
      isDeepStrictEqual([...names].sort(), [...children].sort()),
      `batch ${batch} names ${names.join()} and has ${children.join()}`,
    );
    if (unit === undefined) must(run.status === 'cancelled', `batch ${batch} is absent in a run that is ${run.status}`);
    for (const one of ofBatch) {
      if (one.state === 'committed') checkUnit(deployment, run, slice, one);
      else if (waits(one)) open += one.records;
      else if (one.state === 'cancelled')
        must(run.status === 'cancelled', `unit ${one.unit} is cancelled, its run not`);
      else must(one.state === 'abandoned', `unit ${one.unit} is ${one.state} in a run that is ${run.status}`);
    }
  }
  must(remaining === open, 'remaining is not what the waiting units hold');
  if (run.status !== 'cancelled') {
    must((run.status === 'complete') === (open === 0), `a run with ${open} records remaining is ${run.status}`);
  }
}

function sentFor({ queue }: Deployment, run: RunItem): boolean {
  return queue.sent.some(({ body }) => {
    const parsed = parseReference(body);
    return parsed.kind === 'reference' && parsed.reference.runId === run.runId;
  });
}

/** Each record that the ledger calls processed was written by us, each that it calls skipped was not. */
function checkUnit(deployment: Deployment, run: RunItem, slice: Slice, unit: UnitItem): void {
  const { writes, changedAfterwards } = deployment.records;
  let unseen = 0;
  const alone = positionOf(unit.unit);
  const split = new Set(unit.split ?? []);
  const own = [...slice.entries.entries()].filter(([place]) =>
    alone === undefined ? !split.has(place) : place === alone,
  );
  for (const [position, { key }] of own) {
    const operation = operationOn(run, key);
    const written = writes.some((write) => write.key === key && write.operationKey === operation);
    const skipped = Object.values(unit.exceptions ?? {}).some((positions) => positions.includes(position));
    if (!written && !skipped) unseen += 1;
    must(!written || !skipped || changedAfterwards.has(key), `${key} counts as skipped and was written`);
  }
  // Who deleted what a later try found gone is not known, so it may have been somebody else.
  must(
    unseen <= (unit.counts?.gone ?? 0),
    `unit ${unit.unit} counts ${unseen} records as processed that were not written`,
  );
  const processed = PROCESSED.reduce((total, outcome) => total + (unit.counts?.[outcome] ?? 0), 0);
  const exceptions = Object.values(unit.exceptions ?? {}).reduce((total, positions) => total + positions.length, 0);
  must(processed + exceptions === own.length, `unit ${unit.unit} does not account for each of its records`);
}

/** The record's guard, judged from what stood there, whatever the write's condition said. */
function checkWrites(deployment: Deployment, runs: readonly RunItem[]): void {
  const { settings, records } = deployment;
  const plans = runs.flatMap((run) =>
    planOf(deployment, run).flatMap((slice) =>
      slice.entries.map((entry) => [operationOn(run, entry.key), { run, witness: entry.witness }] as const),
    ),
  );
  const planned = new Map(plans);
  const operations = new Set<string>();
  for (const write of records.writes) {
    const { key, before, after, operationKey: operation } = write;
    if (before === undefined) throw new Unsound(`${key} was removed and came back`);
    const { run, witness } = planned.get(operation) ?? {};
    must(!isHeld(before, settings), `${key} was held`);
    if (after === undefined) checkDeletion(deployment, write, run);
    else must(before[settings.stateAttribute] === settings.eligibleState, `${key} was not in the eligible state`);
    must(
      witness === (after === undefined ? expiryWitnessOf : witnessOf)(before, settings),
      `${key} was not as planned`,
    );
    must(!operations.has(operation), `${key} was changed twice by one operation`);
    operations.add(operation);
  }
  for (const row of records.rows()) checkRow(deployment, row);
}

/** Only what an expiry of ours left untouched, and long enough ago. */
function checkDeletion({ settings, records }: Deployment, write: RecordWrite, run: RunItem | undefined): void {
  const { key, before } = write;
  must(before?.[settings.stateAttribute] === settings.expiredState, `${key} was deleted and not expired`);
  const ours = records.writes.find(
    ({ after }) =>
      after !== undefined && after[settings.operationKeyAttribute] === before?.[settings.operationKeyAttribute],
  );
  must(ours?.key === key, `${key} was deleted and not expired by us`);
  must(run !== undefined && (ours?.at ?? 0) < run.cutoff, `${key} was deleted before its grace was over`);
}

function operationOn({ policyId, policyVersion, cutoff, kind }: RunItem, recordKey: string): string {
  return operationKey({ policyId, policyVersion, recordKey, cutoff, kind });
}

/** No record is in the state we set without a write of ours. */
function checkRow({ settings, records }: Deployment, row: Row): void {
  if (row[settings.stateAttribute] !== settings.expiredState) return;
  const key = keyOfId(String(row[settings.partitionKeyAttribute]));
  if (records.expiredByHand.has(key)) return;
  const write = records.writes.findLast((candidate) => candidate.key === key);
  must(write?.operationKey === row[settings.operationKeyAttribute], `${key} is expired and does not say by what`);
}

/** Everything that has to be the same however often something crashed on the way: table and totals, without times. */
export function endOf(deployment: Deployment): unknown {
  const { settings, records } = deployment;
  const { runs, tenants } = deployment.ledger.contents();
  return {
    rows: records.rows().map((row) => {
      const { [settings.expiredAtAttribute]: expiredAt, ...rest } = row;
      return { ...rest, expired: typeof expiredAt === 'string' };
    }),
    runs: runs.map(({ runId, status, plan, published, closing, cutoff }) => {
      const { closedAt, ...totals } = closing ?? { closedAt: 0 };
      return { runId, status, plan, published, totals, cutoff };
    }),
    tenants: tenants.map(({ epoch, ...report }) => report),
    badMessages: deployment.ledger.contents().badMessages.length,
    deadLetters: deployment.queue.deadLetters.copies().length,
  };
}
