import type { RunItem, UnitItem } from '../../../lib/core/ledger/items.ts';
import { digest, instant, placeOf } from './definitions.ts';
import type { Happening } from './evidence.ts';
import { type CaseFile, isOver, waits } from './file.ts';

/** What only shows while it happens: order, and who did what at whose moment. */
export function checkConduct(file: CaseFile): void {
  const stops = new Stops();
  for (const one of file.evidence.happenings) {
    switch (one.kind) {
      case 'run':
        checkRunMove(file, one);
        if (one.after.status === 'cancelled') stops.begin(one.after.runId, one.at);
        break;
      case 'unit':
        checkUnitMove(file, one);
        break;
      case 'control':
        if (one.after.pause !== undefined) stops.begin('policy', one.at);
        else stops.end('policy');
        break;
      case 'sent':
        checkSent(file, one);
        break;
      case 'acknowledged':
        if (!isAccountedFor(one))
          file.fault(`a message was acknowledged before its unit was accounted for: ${unitIn(one.body)}`);
        break;
      case 'call':
        checkCall(file, stops, one);
        break;
      default:
    }
  }
}

/** How long a stop may take to be noticed, from the moment at which it is in the ledger. */
const NOTICED_MILLIS = 10_000;

class Stops {
  readonly #since = new Map<string, number>();

  begin(what: string, at: number): void {
    if (!this.#since.has(what)) this.#since.set(what, at);
  }

  end(what: string): void {
    this.#since.delete(what);
  }

  isInForce(what: string, at: number): boolean {
    const since = this.#since.get(what);
    return since !== undefined && at > since + NOTICED_MILLIS;
  }
}

/** Nothing is written while a pause is in force, or of a run that is cancelled; a stop takes ten seconds to be noticed. */
function checkCall({ planned, fault }: CaseFile, stops: Stops, call: Happening & { kind: 'call' }): void {
  if (stops.isInForce('policy', call.at)) fault('the target was called while the policy was paused');
  const runs = new Set(call.operationKeys.map((key) => planned.get(key)?.run));
  for (const run of runs) {
    if (run === undefined) fault('the target was called for a record that no plan has');
    else if (stops.isInForce(run.runId, call.at)) fault(`the target was called for ${run.runId}, which is cancelled`);
  }
}

const RUN_EDGES: Readonly<Record<string, readonly string[]>> = {
  planning: ['planning', 'reported', 'refused', 'publishing', 'cancelled'],
  refused: ['planning'],
  reported: [],
  awaiting_approval: ['publishing', 'cancelled'],
  publishing: ['publishing', 'draining', 'cancelled'],
  draining: ['draining', 'complete', 'complete_with_quarantine', 'cancelled'],
  complete: [],
  complete_with_quarantine: ['draining'],
  cancelled: ['cancelled'],
};

function checkRunMove({ fault }: CaseFile, { before, after }: Happening & { kind: 'run' }): void {
  const { runId } = after;
  if (!(RUN_EDGES[before.status] ?? []).includes(after.status)) {
    fault(`${runId} went from ${before.status} to ${after.status}`);
  }
  if (before.status === 'refused') return;
  if (after.checkpoint.nextOrdinal < before.checkpoint.nextOrdinal) fault(`a checkpoint of ${runId} moved backwards`);
  if ((after.published?.batches ?? 0) < (before.published?.batches ?? 0))
    fault(`publishing of ${runId} moved backwards`);
  if (before.frozenAt !== undefined && before.status !== 'planning' && changed(before, after)) {
    fault(`the frozen plan of ${runId} was changed`);
  }
  if (before.cutoff !== after.cutoff) fault(`the cutoff of ${runId} moved`);
}

function changed(before: RunItem, after: RunItem): boolean {
  const plan = (run: RunItem) => JSON.stringify([run.plan, run.frozenAt, run.settings, run.policyDigest]);
  return plan(before) !== plan(after);
}

const UNIT_EDGES: Readonly<Record<string, readonly string[]>> = {
  planned: ['planned', 'published', 'in_progress', 'quarantined', 'cancelled'],
  published: ['planned', 'in_progress', 'quarantined', 'cancelled'],
  in_progress: ['in_progress', 'committed', 'planned', 'published', 'quarantined', 'uncertain', 'cancelled'],
  quarantined: ['quarantined', 'planned', 'abandoned'],
  uncertain: ['planned', 'committed', 'abandoned'],
};

function checkUnitMove({ fault }: CaseFile, { before, after }: Happening & { kind: 'unit' }): void {
  const name = `unit ${after.unit} of ${after.runId}`;
  if (before === undefined) {
    if (placeOf(after.unit).position !== undefined) fault(`${name} came from nowhere`);
    if (after.generation !== 0) fault(`${name} began with generation ${after.generation}`);
    return;
  }
  if (!(UNIT_EDGES[before.state] ?? []).includes(after.state))
    fault(`${name} went from ${before.state} to ${after.state}`);
  if (after.generation < before.generation) fault(`${name} went back to an earlier generation`);
}

/** Nothing leaves before the plan is frozen, and never of a run that only reports. */
function checkSent({ evidence, fault }: CaseFile, { body, run }: Happening & { kind: 'sent' }): void {
  const message = read(body);
  const name = unitIn(body);
  if (run === undefined) {
    fault(`a message of no run was sent: ${name}`);
    return;
  }
  const { runId, status, cutoff, policyVersion } = run;
  if (status === 'planning' || status === 'reported' || status === 'refused' || run.frozenAt === undefined) {
    fault(`${runId} is ${status} and published ${name}`);
  }
  const saysSo = message.cutoff === instant(cutoff) && message.policyVersion === policyVersion;
  if (!saysSo) fault(`a message of ${runId} does not say its cutoff and version`);
  if (Buffer.byteLength(body) > 512) fault(`a message of ${runId} is longer than 512 bytes`);
  for (const row of evidence.firstRows) {
    if (body.includes(String(row[evidence.vocabulary.key]))) fault(`a message of ${runId} names a record`);
  }
}

/** Completion, quarantine or deferral is in the ledger, or the delivery had been overtaken. */
function isAccountedFor({ body, run, unit, badMessage }: Happening & { kind: 'acknowledged' }): boolean {
  if (badMessage || run?.status === 'cancelled') return true;
  if (unit === undefined) return false;
  return Number(read(body).generation) < unit.generation || isOver(unit.state) || isPutOff(unit);
}

/** For a person, or until later; that another delivery has begun since is that delivery's affair. */
function isPutOff(unit: UnitItem): boolean {
  return waits(unit) || unit.notBefore !== undefined;
}

function read(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function unitIn(body: string): string {
  const { runId, unit, generation } = read(body);
  return runId === undefined ? `message ${digest(['message', body])}` : `unit ${unit} of ${runId} @${generation}`;
}
