import type { UnitItem } from '../../../lib/core/ledger/items.ts';
import { digestOfKeys, link, NO_CHAIN, placeOf, sameChain } from './definitions.ts';
import {
  accountedFor,
  type BatchFile,
  type CaseFile,
  countsOf,
  isOver,
  isProcessed,
  type RunFile,
  total,
  waits,
} from './file.ts';

/** What became of each planned record: one outcome, or an open unit that says why. */
export function checkOutcomes(file: CaseFile): void {
  for (const one of file.runs) {
    if (one.run.status === 'reported') checkReported(file, one);
    for (const batch of one.batches) checkBatch(file, one, batch);
    checkTotals(file, one);
  }
}

function checkReported({ evidence, fault }: CaseFile, { run }: RunFile): void {
  if (evidence.ledger.units.some(({ runId }) => runId === run.runId)) fault(`${run.runId} only reports and has units`);
}

function checkBatch(file: CaseFile, { run }: RunFile, { slice, batch, split }: BatchFile): void {
  const { fault } = file;
  const name = `batch ${slice.ordinal} of ${run.runId}`;
  const promised = batch?.split ?? [];
  const found = split.map(({ unit }) => placeOf(unit).position ?? -1);
  if (promised.toSorted().join() !== found.toSorted().join()) {
    fault(`${name} names ${promised.join() || 'no record'} as split and has ${found.join() || 'none'}`);
  }
  if (batch === undefined) {
    if (run.status !== 'cancelled' && run.status !== 'reported')
      fault(`${name} has no item and its run is ${run.status}`);
    return;
  }
  const positions = slice.entries.map((_entry, position) => position).filter((at) => !promised.includes(at));
  checkUnit(
    file,
    run.status,
    slice.entries,
    batch,
    batch.state === 'committed' ? positions : [...positions, ...promised],
  );
  for (const unit of split) checkUnit(file, run.status, slice.entries, unit, [placeOf(unit.unit).position ?? -1]);
}

type Entries = BatchFile['slice']['entries'];

function checkUnit(file: CaseFile, status: string, entries: Entries, unit: UnitItem, own: readonly number[]): void {
  const { fault } = file;
  const name = `unit ${unit.unit} of ${unit.runId}`;
  if (unit.state === 'committed') {
    checkCommitted(file, entries, unit, own);
    return;
  }
  if (waits(unit)) {
    if (!unit.reason || !unit.errorClass || !unit.failureClass) fault(`${name} is ${unit.state} and does not say why`);
  } else if (unit.state === 'cancelled') {
    if (status !== 'cancelled') fault(`${name} is cancelled and its run is ${status}`);
  } else if (unit.state !== 'abandoned') {
    fault(`${name} is ${unit.state} at rest, in a run that is ${status}`);
  }
  if (unit.state !== 'cancelled' && unit.records !== own.length) {
    fault(`${name} says it is of ${unit.records} records and is of ${own.length}`);
  }
}

/** Each record that the ledger calls processed was written by us, each that it calls skipped was not. */
function checkCommitted(file: CaseFile, entries: Entries, unit: UnitItem, own: readonly number[]): void {
  const { evidence, fault, planned } = file;
  const name = `unit ${unit.unit} of ${unit.runId}`;
  const outcomes = new Map<number, string>();
  for (const [outcome, positions] of Object.entries(unit.exceptions ?? {})) {
    for (const position of positions) {
      if (outcomes.has(position)) fault(`record ${position} of ${name} has two outcomes`);
      if (!own.includes(position)) fault(`record ${position} is no part of ${name} and has an outcome there`);
      outcomes.set(position, outcome);
    }
  }
  let unseen = 0;
  for (const position of own) {
    const key = entries[position]?.key ?? '';
    const write = writeOf(file, unit.runId, key);
    const outcome = outcomes.get(position);
    if (outcome === undefined && write === undefined) unseen += 1;
    if (outcome === undefined || write === undefined) continue;
    // A person may have put another record in its place or taken our mark off it, or a later run of ours deleted it.
    const touched =
      evidence.happenings.some((one) => one.kind === 'person' && one.key === key && one.at >= write.at) ||
      evidence.writes.some((other) => other.key === key && other !== write && other.at >= write.at);
    if (!touched) fault(`${key} counts as ${outcome} in ${name} and was written`);
  }
  const counts = new Map(countsOf(unit));
  // Who deleted what a later try found gone is not known, so it may have been somebody else.
  if (unseen > (counts.get('gone') ?? 0)) fault(`${name} counts ${unseen} records as processed that were not written`);
  for (const [outcome, count] of counts) {
    const listed = [...outcomes.values()].filter((one) => one === outcome).length;
    if (!isProcessed(outcome) && listed !== count) fault(`${name} counts ${count} ${outcome} and lists ${listed}`);
  }
  const processed = total([...counts].filter(([outcome]) => isProcessed(outcome)).map(([, count]) => count));
  if (processed + outcomes.size !== own.length) {
    fault(`${name} has ${own.length} records and accounts for ${processed + outcomes.size}`);
  }
  const keys = own.map((position) => entries[position]?.key ?? '');
  if (unit.keysDigest !== digestOfKeys(keys)) fault(`${name} does not account for exactly its keys`);
  for (const [position, outcome] of outcomes) checkSkip(file, name, entries[position]?.key ?? '', outcome);

  function writeOf({ evidence: { writes } }: CaseFile, runId: string, key: string) {
    return writes.find((write) => write.key === key && planned.get(write.operationKey)?.run.runId === runId);
  }
}

/** A skip has a ground in what the record once was. */
function checkSkip({ evidence, fault }: CaseFile, name: string, key: string, outcome: string): void {
  const { vocabulary, firstRows, happenings, writes } = evidence;
  const keyOf = (id: unknown) => JSON.stringify([`S${String(id)}`]);
  const versions = [
    firstRows.find((row) => keyOf(row[vocabulary.key]) === key),
    ...happenings.flatMap((one) => (one.kind === 'person' && one.key === key ? [one.row] : [])),
    ...writes.filter((write) => write.key === key).map(({ after }) => after),
  ];
  if (outcome === 'absent' && !versions.slice(1).includes(undefined))
    fault(`${key} is absent in ${name} and always was there`);
  const held = versions.some((row) => vocabulary.holds.some((hold) => !!row?.[hold]));
  if (outcome === 'held' && !held) fault(`${key} is held in ${name} and never was`);
}

/** Totals of a finished run, from its units. */
function checkTotals({ fault }: CaseFile, { run, batches }: RunFile): void {
  const { closing, plan, status, runId } = run;
  const finished = status === 'complete' || status === 'complete_with_quarantine' || status === 'cancelled';
  if (!finished) {
    if (status !== 'reported' && status !== 'refused') fault(`${runId} is ${status} at rest`);
    return;
  }
  if (closing === undefined) {
    fault(`${runId} is ${status} and has no totals`);
    return;
  }
  const units = batches.flatMap(({ batch, split }) => [...(batch === undefined ? [] : [batch]), ...split]);
  const open = total(units.filter(waits).map(({ records }) => records));
  const ended = units.filter(({ state }) => isOver(state));
  const count = (wanted: (outcome: string) => boolean) =>
    total(ended.flatMap(countsOf).flatMap(([outcome, number]) => (wanted(outcome) ? [number] : [])));
  const abandoned = total(ended.map((unit) => (unit.state === 'abandoned' ? unit.records - accountedFor(unit) : 0)));
  const processed = count(isProcessed);
  const records = plan?.records ?? 0;
  const cancelled =
    status === 'cancelled' ? records - processed - count((one) => !isProcessed(one)) - abandoned - open : 0;
  const skipped = count((one) => !isProcessed(one)) + abandoned + cancelled;
  const expected = { processed, skipped, abandoned, cancelled, remaining: open };
  for (const [name, number] of Object.entries(expected)) {
    const said = closing[name as keyof typeof expected];
    if (said !== number) fault(`${runId} closed with ${name} ${said} where its units hold ${number}`);
  }
  if (records !== closing.processed + closing.skipped + closing.remaining) {
    fault(`${runId} planned ${records}, which is not what it processed, skipped and left`);
  }
  for (const outcome of new Set([...Object.keys(closing.outcomes), ...ended.flatMap(countsOf).map(([name]) => name)])) {
    const said = Object.entries(closing.outcomes).find(([name]) => name === outcome)?.[1] ?? 0;
    const number = count((one) => one === outcome);
    if (said !== number) fault(`${runId} closed with ${said} ${outcome} where its units hold ${number}`);
  }
  checkCompleteness({ fault }, { run, batches }, open);
}

/** Complete means that everything is over, and that planned, published and terminal agree. */
function checkCompleteness({ fault }: Pick<CaseFile, 'fault'>, { run, batches }: RunFile, open: number): void {
  const { closing, plan, published, status, runId } = run;
  if (status === 'cancelled' || closing === undefined || plan === undefined || published === undefined) return;
  if ((status === 'complete') !== (open === 0)) fault(`${runId} is ${status} with ${open} records open`);
  let terminal = NO_CHAIN;
  for (const { slice, batch, split } of batches) {
    const units = batch === undefined ? [] : [batch, ...split];
    if (units.length === 0 || !units.every(({ state }) => isOver(state))) continue;
    const told = total(units.map((unit) => (unit.state === 'abandoned' ? unit.records : accountedFor(unit))));
    terminal = link(terminal, told, digestOfKeys(slice.entries.map(({ key }) => key)));
  }
  if (!sameChain(terminal, closing)) fault(`the terminal digest of ${runId} is not that of its batches`);
  if (status === 'complete' && !(sameChain(plan, published) && sameChain(plan, closing))) {
    fault(`${runId} is complete and planned, published and terminal do not agree`);
  }
}
