import { displayKey } from '../../aws/targets/dynamodb/keys.ts';
import { untagged } from '../../aws/targets/dynamodb/values.ts';
import type { UnitState } from '../../core/ledger/lifecycle.ts';
import type { ActView, ExplainView, PlannedView } from '../../core/read/explain-view.ts';
import type { UnitView } from '../../core/views.ts';
import { sayFinding } from './finding.ts';
import { reasons } from './reasons.ts';
import { counts, fields, orDash } from './text.ts';

export function renderExplain(view: ExplainView): string {
  const planned = view.planned === null ? [] : renderPlanned(view, view.planned);
  return fields([
    ['Record', displayKey(view.key)],
    ['Run', `${view.runId} (${view.status})`],
    ['Answer', sayFinding(view)],
    ...reasons(view),
    ['Rule', ruleLines(view)],
    ...planned,
    ['Operation key', view.operationKey],
    ['Record now', recordLines(view)],
  ]);
}

function ruleLines({ rule }: ExplainView): string[] {
  const { settings, timestampAttribute, window } = rule;
  const holds =
    settings.holdAttributes === '' ? 'no hold attributes' : `held back where set: ${settings.holdAttributes}`;
  const lines = [
    `policy ${rule.policyId}, version ${rule.policyVersion}, digest ${rule.policyDigest}`,
    `${rule.kind} in mode ${settings.mode}, table ${settings.recordTableName}`,
    `due where ${settings.stateAttribute} is ${JSON.stringify(rule.state)} and ${timestampAttribute} (${settings.timestampFormat}) is before`,
    `${rule.cutoff}: ${sayDays(rule)} before the scheduled time ${rule.scheduledTime}`,
  ];
  if (window !== null) lines.push(`and not before ${window.from}: window of ${window.days} days`);
  if (rule.kind === 'delete') {
    lines.push(`and ${settings.operationKeyAttribute} is the key of an earlier run of this policy, which expired it`);
  }
  return [...lines, holds];
}

function sayDays({ kind, settings }: ExplainView['rule']): string {
  return kind === 'delete' ? `${settings.graceDays} days of grace` : `${settings.retentionDays} days`;
}

const SPLIT = 'split from its batch, because it failed where others did not';

function renderPlanned({ rule }: ExplainView, planned: PlannedView): [string, string | string[]][] {
  const { batch, position, batchRecords, tenant, witness, sliceIntact } = planned;
  const place = [
    `batch ${batch}, record ${position + 1} of ${batchRecords}, tenant ${tenant}`,
    `with ${sayWitness(rule, witness)}`,
  ];
  if (!sliceIntact) place.push('THE FROZEN LIST OF THIS BATCH DOES NOT MATCH ITS DIGEST');
  const acts = planned.acts.length === 0 ? [] : [['Acts', planned.acts.map(sayAct)] satisfies [string, string[]]];
  const alone = planned.unit !== null && planned.unit.unit !== batch;
  const what = alone ? `Unit ${planned.unit?.unit}` : 'Batch';
  return [['Planned', place], [what, [...(alone ? [SPLIT] : []), ...batchLines(planned)]], ...acts];
}

function sayWitness({ kind, timestampAttribute, settings }: ExplainView['rule'], witness: string): string {
  if (kind !== 'delete') return `${timestampAttribute} ${sayStored(witness)}`;
  const [expiredAt = '', key = ''] = partsOf(witness);
  return `${timestampAttribute} ${sayStored(expiredAt)} and ${settings.operationKeyAttribute} ${sayStored(key)}`;
}

/** A witness that cannot be taken apart is shown as it is. */
function partsOf(witness: string): readonly string[] {
  try {
    return [JSON.parse(witness)].flat().map(String);
  } catch {
    return [witness];
  }
}

function sayStored(text: string): string {
  const stored = untagged(text);
  return stored?.S ?? stored?.N ?? text;
}

function batchLines({ state, unit, accountedFor }: PlannedView): string[] {
  if (unit === null) return [`${state}, not started by any delivery`];
  const lines = [
    `${state} since ${unit.since}, attempts ${unit.attempts}, generation ${unit.generation}`,
    `last attempt started ${orDash(unit.startedAt)}, finished ${orDash(unit.finishedAt)}`,
  ];
  if (unit.reason !== null) lines.push(sayReason(state, unit));
  if (accountedFor !== null) lines.push(`outcomes: ${counts(unit.outcomes)}`);
  if (accountedFor === false) lines.push('THE TARGET DID NOT ANSWER FOR EXACTLY THE PLANNED RECORDS');
  return lines;
}

/** The reason of the last failure stays with a unit that came back. */
function sayReason(state: UnitState, { reason, errorClass, failureClass, requestId }: UnitView): string {
  const request = requestId === null ? '' : `, request ${requestId}`;
  const error = failureClass === null ? orDash(errorClass) : `${orDash(errorClass)} (${failureClass})`;
  return `${state === 'quarantined' ? 'because of' : 'before that:'} ${reason}, ${error}${request}`;
}

function sayAct({ at, act, actor, reason }: ActView): string {
  return `${at ?? 'at an unreadable time,'} ${act} by ${actor}: ${reason}`;
}

function recordLines({ recordNow, rule }: ExplainView): string[] {
  const { kind, error, state, timestamp, unreadable, heldBy, operationKey, carriesOurKey } = recordNow;
  if (kind === 'unreachable') {
    return [`could not be read (${error}): it takes dynamodb:GetItem on table ${rule.settings.recordTableName}`];
  }
  if (kind !== 'present') return ['there is none'];
  const { stateAttribute } = rule.settings;
  const { timestampAttribute } = rule;
  const whose = rule.kind === 'delete' ? 'the operation key' : "another operation's key";
  const other = operationKey === null ? 'carries no operation key' : `carries ${whose} ${operationKey}`;
  return [
    carriesOurKey ? "carries this run's operation key" : other,
    `${stateAttribute} ${state === null ? 'missing' : JSON.stringify(state)}`,
    `${timestampAttribute} ${timestamp ?? `unreadable (${unreadable})`}`,
    heldBy.length === 0 ? 'not held' : `held back by ${heldBy.join(', ')}`,
  ];
}
