import { keysDigest } from '../identity/digests.ts';
import { formatInstant } from '../identity/instant.ts';
import { batchUnit, operationKey, positionOf, splitUnitOf } from '../identity/keys.ts';
import type { AuditEntry, RunItem, Slice, UnitItem } from '../ledger/items.ts';
import { earlierRuns, expiredByUs } from '../plan/history.ts';
import { digestOfSlice } from '../plan/open-slices.ts';
import type { Ledger } from '../ports/index.ts';
import { viewUnit, viewWindow } from '../views.ts';
import { auditedAt } from './audit.ts';
import { type ActView, type ExplainView, type PlannedView, viewRecordNow } from './explain-view.ts';
import { findInPlan, type Place } from './find-record.ts';
import { type Finding, judgePlanned, judgeUnplanned, soughtState, unitStateOf } from './finding.ts';
import { everyItem } from './pages.ts';
import { planOf } from './plan-of.ts';
import type { RecordLookup, RecordNow, RecordState } from './record-now.ts';

export interface ExplainPorts {
  readonly ledger: Ledger;
  readonly records: RecordLookup;
}

/**
 * Explains one record in one run. `candidates` are the keys that a person may have meant; the first that is in the
 * plan is taken, else the first that the record table can have.
 */
export async function explainRecord(
  { ledger, records }: ExplainPorts,
  run: RunItem,
  candidates: readonly string[],
): Promise<ExplainView> {
  const place = await findInPlan(ledger, run, candidates);
  const { key, now } = await lookUpFirst(records, run, place === undefined ? candidates : [place.entry.key]);
  const { policyId, policyVersion, policyDigest, cutoff, kind, settings } = run;
  const ours = operationKey({ policyId, policyVersion, recordKey: key, cutoff, kind });
  const carriesKey = now.kind === 'present' && now.record.operationKey === ours;
  const unit = place && (await unitOf(ledger, run, place));
  return {
    runId: run.runId,
    status: run.status,
    key,
    finding:
      place === undefined
        ? await judgeUnplanned(run, now, (record) => isExpiredByUs(ledger, run, key, record))
        : judgePlace(run, place, unit, carriesKey),
    refusals: run.refusals,
    notes: run.notes,
    overLimit: planOf(run)?.overLimit ?? null,
    rule: {
      policyId,
      policyVersion,
      policyDigest,
      kind,
      scheduledTime: formatInstant(run.scheduledTime),
      state: soughtState(run),
      timestampAttribute: kind === 'delete' ? settings.expiredAtAttribute : settings.timestampAttribute,
      cutoff: formatInstant(cutoff),
      window: viewWindow(run),
      settings,
    },
    operationKey: ours,
    planned: place === undefined ? null : await viewPlace(ledger, run, place, unit),
    recordNow: viewRecordNow(now, carriesKey),
  };
}

/** The unit that a record is in: its batch, or itself where it was split from it. */
async function unitOf(ledger: Ledger, { runId }: RunItem, { slice, position }: Place): Promise<UnitItem | undefined> {
  const batch = batchUnit(slice.ordinal);
  const unit = await ledger.readUnit({ runId, unit: batch });
  const isSplit = unit?.split?.includes(position) ?? false;
  return isSplit ? ledger.readUnit({ runId, unit: splitUnitOf(batch, position) }) : unit;
}

/** As the dispatcher does. */
const RUNS_TO_LOOK_AT = 5_000;

async function isExpiredByUs(ledger: Ledger, run: RunItem, key: string, record: RecordState): Promise<boolean> {
  const { witness, tenant, timestamp, heldBy, operationKey } = record;
  const runs = await earlierRuns(ledger, run, RUNS_TO_LOOK_AT);
  const held = heldBy.length > 0;
  const seen = { key, witness, tenant, timestamp, held, operationKey: operationKey ?? undefined, writeUnits: 0 };
  return expiredByUs(run.policyId, runs)(seen);
}

async function lookUpFirst(
  records: RecordLookup,
  run: RunItem,
  keys: readonly string[],
): Promise<{ readonly key: string; readonly now: RecordNow }> {
  for (const key of keys) {
    const now = await records.lookUp(run.settings, key);
    if (now.kind !== 'not-a-key') return { key, now };
  }
  return { key: keys[0] ?? '', now: { kind: 'not-a-key' } };
}

function judgePlace(run: RunItem, place: Place, unit: UnitItem | undefined, carriesKey: boolean): Finding {
  return judgePlanned(run, unitStateOf(run, place.slice.ordinal, unit), unit, place.position, carriesKey);
}

async function viewPlace(
  ledger: Ledger,
  run: RunItem,
  { slice, position, entry }: Place,
  unit: UnitItem | undefined,
): Promise<PlannedView> {
  const batch = batchUnit(slice.ordinal);
  const acts: ActView[] = [];
  for await (const audited of everyItem((cursor) => ledger.auditTrail({ kind: 'run', runId: run.runId }, cursor))) {
    if (audited.units.includes(unit?.unit ?? batch)) acts.push(viewAct(audited));
  }
  return {
    batch,
    position,
    batchRecords: slice.entries.length,
    tenant: slice.tenant,
    witness: entry.witness,
    writeUnits: entry.writeUnits,
    sliceIntact: digestOfSlice(slice) === slice.digest,
    state: unitStateOf(run, slice.ordinal, unit),
    unit: unit === undefined ? null : viewUnit(unit),
    accountedFor: isAccountedFor(slice, position, unit),
    acts,
  };
}

/** Whether a committed unit's digest is that of the keys which it should have accounted for. */
function isAccountedFor(slice: Slice, position: number, unit: UnitItem | undefined): boolean | null {
  if (unit?.state !== 'committed') return null;
  const alone = positionOf(unit.unit) !== undefined;
  const split = new Set(unit.split ?? []);
  const own = slice.entries.filter((_entry, place) => (alone ? place === position : !split.has(place)));
  return unit.keysDigest === keysDigest(own.map(({ key }) => key));
}

function viewAct(entry: AuditEntry): ActView {
  const { act, actor, reason, requestId } = entry;
  return { act, actor, reason, requestId, at: auditedAt(entry) };
}
