import type { Row } from '../../model/records.ts';
import { operationKey } from './definitions.ts';
import type { Evidence, Vocabulary } from './evidence.ts';

const DAY = 86_400_000;

/** What a run in calm weather began with. */
export interface Calm {
  readonly runId: string;
  /** The record table when the run was dispatched; nobody changed a record until it ended. */
  readonly rows: readonly Row[];
  /** Whether discovery sees holds; where it does not, a held record is planned and kept by its own condition. */
  readonly holds: 'seen' | 'unseen';
}

function keyOf(row: Row, { key }: Vocabulary): string {
  return JSON.stringify([`S${String(row[key])}`]);
}

/** What is wrong with a run to expire that nothing and nobody disturbed: it must find and change exactly what is due. */
export function faultsOfCalm(
  { vocabulary, ledger, writes }: Evidence,
  { runId, rows, holds }: Calm,
): readonly string[] {
  const run = ledger.runs.find((one) => one.runId === runId);
  if (run?.frozenAt === undefined) return [`${runId} ends as ${run?.status ?? 'nothing'} in calm weather`];
  const { windowDays, recordsPerRun, mode } = run.settings;
  const isHeld = (row: Row) => vocabulary.holds.some((name) => !!row[name]);
  const due = rows.filter((row) => {
    const at = Date.parse(String(row[vocabulary.timestamp]));
    const inWindow = windowDays === null || at >= run.cutoff - windowDays * DAY;
    return row[vocabulary.state] === vocabulary.eligible && at < run.cutoff && inWindow;
  });
  const wanted = due.filter((row) => holds === 'unseen' || !isHeld(row));
  const keys = new Set(wanted.map((row) => keyOf(row, vocabulary)));
  const planned = ledger.slices
    .filter((slice) => slice.runId === runId && slice.ordinal < (run.plan?.batches ?? 0))
    .flatMap(({ entries }) => entries.map(({ key }) => key));
  const faults: string[] = [];
  const room = Math.min(keys.size, recordsPerRun ?? keys.size);
  for (const key of planned) if (!keys.has(key)) faults.push(`${runId} plans ${key}, which is not due`);
  if (planned.length !== room) faults.push(`${runId} plans ${planned.length} records where ${room} are due`);
  if (run.plan?.held !== due.length - keys.size) faults.push(`${runId} counts ${run.plan?.held} held records`);
  if (mode === 'report-only') return faults;
  if (run.status !== 'complete') faults.push(`${runId} is ${run.status} in calm weather`);
  const held = new Set(due.filter(isHeld).map((row) => keyOf(row, vocabulary)));
  const written = new Set(writes.map((write) => write.operationKey));
  for (const key of planned) {
    if (written.has(operationKey(run, key)) === held.has(key)) {
      faults.push(`${key} is ${held.has(key) ? 'held and was' : 'due and was not'} written by ${runId}`);
    }
  }
  return faults;
}
