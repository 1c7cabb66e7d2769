import type { AuditEntry, AuditHead } from '../../../lib/core/ledger/items.ts';
import type { ActAnswer } from '../../../lib/core/redrive/act.ts';
import { auditHash, NO_TRAIL, selectionDigest } from './definitions.ts';
import type { Happening } from './evidence.ts';
import type { CaseFile } from './file.ts';

/** Every act is in a chain that ends at its head; every generation and every stop has an act that explains it. */
export function checkTrails(file: CaseFile): void {
  const { ledger, policyId, control } = file.evidence;
  for (const { runId, auditHead } of ledger.runs) checkTrail(file, runId, auditHead);
  checkTrail(file, policyId, control.auditHead ?? NO_TRAIL);
  checkSelections(file);
  const told: Happening[] = [];
  for (const one of file.evidence.happenings) {
    if (one.kind === 'unit') checkUnitMove(file, told, one);
    if (one.kind === 'run' && one.after.status === 'cancelled' && one.before.status !== 'cancelled') {
      if (!named(told, one.after.runId, 'cancel')) file.fault(`nobody cancelled ${one.after.runId}`);
    }
    if (one.kind === 'control') checkSwitch(file, told, one);
    if (one.kind === 'act') checkAnswer(file, told, one);
    if (one.kind === 'audit' || one.kind === 'control') told.push(one);
  }
}

function checkTrail({ evidence, fault }: CaseFile, scope: string, head: AuditHead): void {
  const entries = evidence.ledger.audit.filter((one) => one.scope === scope).map(({ entry }) => entry);
  let previous = NO_TRAIL.hash;
  for (const [place, entry] of entries.entries()) {
    const where = `entry ${entry.number} of the trail of ${scope}`;
    if (entry.number !== place) fault(`${where} stands where entry ${place} should`);
    if (entry.previousHash !== previous) fault(`${where} is not chained to the one before it`);
    if (auditHash(entry) !== entry.hash) fault(`${where} is not what was written`);
    if (entry.actor === '' || entry.reason === '') fault(`${where} has no name or no reason`);
    previous = entry.hash;
  }
  if (head.count !== entries.length || head.hash !== previous) {
    fault(`the trail of ${scope} has ${entries.length} entries and its head says ${head.count}, or another hash`);
  }
}

function checkSelections({ evidence, fault }: CaseFile): void {
  const whole = new Set<string>();
  for (const { act, units, digest } of evidence.ledger.selections) {
    if (selectionDigest(act, units) !== digest) fault(`selection ${digest} is not what its digest says`);
    whole.add(digest);
  }
  for (const { entry } of evidence.ledger.audit) {
    if (entry.selection !== undefined && !whole.has(entry.selection))
      fault(`an act names a selection that is not there`);
  }
}

function entriesOf(told: readonly Happening[], scope: string, act: string): readonly AuditEntry[] {
  return told.flatMap((one) =>
    one.kind === 'audit' && one.scope === scope && one.entry.act === act ? [one.entry] : [],
  );
}

function named(told: readonly Happening[], scope: string, act: string, unit?: string): boolean {
  return entriesOf(told, scope, act).some(({ units }) => unit === undefined || units.includes(unit));
}

/** The record of an act comes before the act. */
function checkUnitMove({ fault }: CaseFile, told: readonly Happening[], move: Happening & { kind: 'unit' }): void {
  const { before, after } = move;
  const { runId, unit, generation } = after;
  if (after.state === 'abandoned' && before?.state !== 'abandoned' && !named(told, runId, 'abandon', unit)) {
    fault(`nobody abandoned unit ${unit} of ${runId}`);
  }
  if (generation === (before?.generation ?? 0)) return;
  if (generation !== (before?.generation ?? 0) + 1) fault(`unit ${unit} of ${runId} skipped a generation`);
  const redrives = entriesOf(told, runId, 'redrive').filter(({ units }) => units.includes(unit)).length;
  if (redrives < generation)
    fault(`unit ${unit} of ${runId} is of generation ${generation} and was redriven ${redrives} times`);
}

function switchOf({ before, after }: Happening & { kind: 'control' }): 'pause' | 'resume' | undefined {
  if (before.pause?.at === after.pause?.at) return undefined;
  return after.pause === undefined ? 'resume' : 'pause';
}

/** As many entries as there were switches, this one included. */
function checkSwitch({ fault }: CaseFile, told: readonly Happening[], move: Happening & { kind: 'control' }): void {
  const act = switchOf(move);
  if (act === undefined) return;
  const before = told.filter((one) => one.kind === 'control' && switchOf(one) === act).length;
  if (entriesOf(told, move.policyId, act).length <= before) fault(`nobody told the trail of a ${act}`);
}

/** What an act says that it did is in the trail under the request that asked for it. */
function checkAnswer({ fault }: CaseFile, told: readonly Happening[], { requestId, answer }: ActHappening): void {
  const under = (scope: string, act: string) =>
    entriesOf(told, scope, act).filter((one) => one.requestId === requestId);
  const say = (what: string) => fault(`request ${requestId} says that it ${what}, and the trail does not know`);
  if (!('act' in answer)) return;
  if ('moved' in answer) {
    for (const { runId, unit } of answer.dryRun ? [] : answer.units) {
      if (!under(runId, answer.act).some(({ units }) => units.includes(unit))) say(`moved unit ${unit} of ${runId}`);
    }
  } else if ('policyId' in answer) {
    if (answer.result === 'done' && under(answer.policyId, answer.act).length === 0) say(`did ${answer.act}`);
  } else if ('closedUnits' in answer) {
    if (answer.result === 'done' && under(answer.runId, 'cancel').length === 0) say(`cancelled ${answer.runId}`);
  }
}

type ActHappening = Happening & { readonly kind: 'act'; readonly answer: ActAnswer };
