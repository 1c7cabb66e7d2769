import type { RecordWrite, Row } from '../../model/records.ts';
import type { Vocabulary } from './evidence.ts';
import type { CaseFile, Planned } from './file.ts';

const DAY = 86_400_000;

function isHeld(row: Row, { holds }: Vocabulary): boolean {
  return holds.some((name) => ![undefined, null, false, ''].includes(row[name] as string | boolean | null | undefined));
}

/** A stored value behind its type, as a plan keeps it. */
function spelled(value: unknown): string {
  if (value === undefined) return 'missing:';
  if (value === null) return 'NULL:';
  if (typeof value === 'string') return `S:${value}`;
  return typeof value === 'number' ? `N:${value}` : 'other:';
}

function keyOf(row: Row, { key }: Vocabulary): string {
  return JSON.stringify([`S${String(row[key])}`]);
}

/** Each write of the pipeline, judged from the record as it stood, whatever the write's own condition said. */
export function checkWrites(file: CaseFile): void {
  const done = new Set<string>();
  for (const write of file.evidence.writes) {
    const { key, before, operationKey } = write;
    if (done.has(operationKey)) file.fault(`${key} was changed twice by one operation`);
    done.add(operationKey);
    const planned = file.planned.get(operationKey);
    if (before === undefined) file.fault(`${key} was removed and came back`);
    else if (planned === undefined) file.fault(`${key} was written under a key that no plan gives it`);
    else if (write.after === undefined) checkDeletion(file, write, before, planned);
    else checkExpiry(file, write, before, write.after, planned);
  }
  checkMarks(file);
}

/** Reads the witness's instant; NaN where it is none. */
function dueAt(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

function checkBoth({ evidence, fault }: CaseFile, { key }: RecordWrite, before: Row, planned: Planned): void {
  const { mode } = planned.run.settings;
  if (planned.entry.key !== key) fault(`${key} was written under the key of ${planned.entry.key}`);
  if (mode === 'report-only') fault(`${key} was written by ${planned.run.runId}, which only reports`);
  if (isHeld(before, evidence.vocabulary)) fault(`${key} was held and was written`);
}

function checkExpiry(file: CaseFile, write: RecordWrite, before: Row, after: Row, planned: Planned): void {
  const { evidence, fault } = file;
  const { vocabulary } = evidence;
  const { key, operationKey } = write;
  checkBoth(file, write, before, planned);
  const { settings, cutoff, kind } = planned.run;
  if (kind !== 'expire') fault(`${key} was expired by a run that is to ${kind}`);
  if (before[vocabulary.state] !== vocabulary.eligible) fault(`${key} was not in the eligible state and was written`);
  if (spelled(before[vocabulary.timestamp]) !== planned.entry.witness) fault(`${key} was active again and was written`);
  const at = dueAt(before[vocabulary.timestamp]);
  const inWindow = settings.windowDays === null || at >= cutoff - settings.windowDays * DAY;
  if (!(at < cutoff && inWindow)) fault(`${key} was not due and was written`);
  if (after[vocabulary.operationKey] !== operationKey || after[vocabulary.state] !== vocabulary.expired) {
    fault(`${key} was written and does not carry its operation key and the expired state`);
  }
  const ours = [vocabulary.state, vocabulary.expiredAt, vocabulary.operationKey];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of names) {
    if (!ours.includes(name) && before[name] !== after[name]) fault(`the write of ${key} changed its ${name}`);
  }
}

/** Only what an expiry of ours left untouched, and long enough ago. */
function checkDeletion(file: CaseFile, write: RecordWrite, before: Row, planned: Planned): void {
  const { evidence, fault } = file;
  const { vocabulary, writes } = evidence;
  const { key } = write;
  checkBoth(file, write, before, planned);
  if (planned.run.kind !== 'delete') fault(`${key} was deleted by a run that is to ${planned.run.kind}`);
  if (before[vocabulary.state] !== vocabulary.expired) fault(`${key} was deleted and was not expired`);
  const carried = before[vocabulary.operationKey];
  const witness = JSON.stringify([spelled(before[vocabulary.expiredAt]), typeof carried === 'string' ? carried : '']);
  if (planned.entry.witness !== witness) fault(`${key} was expired anew since the plan and was deleted`);
  const ours = writes.find(({ after, operationKey }) => after !== undefined && operationKey === carried);
  if (ours?.key !== key) fault(`${key} was deleted and was not expired by us`);
  if (!(dueAt(before[vocabulary.expiredAt]) < planned.run.cutoff))
    fault(`${key} was deleted before its grace was over`);
}

/** No record is in the state that we set without a write of ours, or a person who says so. */
function checkMarks({ evidence, fault }: CaseFile): void {
  const { vocabulary, rows, writes, happenings, firstRows } = evidence;
  const known = new Set<Row>(firstRows);
  for (const one of happenings) if (one.kind === 'person' && one.row !== undefined) known.add(one.row);
  const last = new Map(writes.map((write) => [write.key, write]));
  for (const row of rows) {
    if (known.has(row)) continue;
    const key = keyOf(row, vocabulary);
    if (last.get(key)?.after !== row) fault(`${key} is not as anybody left it`);
  }
}
