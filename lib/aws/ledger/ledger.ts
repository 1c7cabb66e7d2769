import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { EpochMillis } from '../../core/identity/instant.ts';
import { ordinalOf } from '../../core/identity/keys.ts';
import type {
  AuditEntry,
  BadMessage,
  Control,
  Lease,
  Pause,
  RunChange,
  RunItem,
  Selection,
  Slice,
  SliceHead,
  SplitUnit,
  Tally,
  TenantReport,
  UnitChange,
  UnitItem,
} from '../../core/ledger/items.ts';
import type { RunEdge, UnitEdge } from '../../core/ledger/lifecycle.ts';
import type {
  AuditScope,
  ControlMoved,
  CreatedRun,
  FencedWrite,
  Ledger,
  LoadedUnit,
  OpenUnit,
  OpenUnitsWanted,
  Page,
  RunMoved,
  Stops,
  UnitGuard,
  UnitMoved,
  UnitRef,
} from '../../core/ports/ledger.ts';
import type { Clock, Random } from '../../core/ports/services.ts';
import { refusal } from '../errors.ts';
import type { Attributes } from '../item-size.ts';
import { appendAudit } from './audit.ts';
import { decodeAudit } from './audit-item.ts';
import { abandonBadMessage, readBadMessage, recordBadMessage } from './bad-messages.ts';
import { batchGet } from './batch-get.ts';
import { pausePolicy, readControl, readStops, resumePolicy, settleIntake } from './control.ts';
import { beginsWith, between, type Clause } from './expression.ts';
import { putFenced } from './fenced.ts';
import { text } from './fields.ts';
import { decodeOpenUnit, openPage, openRuns, openUnits } from './open-index.ts';
import { decodeMessage, decodeTally, decodeTenant, encodeTally, encodeTenant } from './report-items.ts';
import { type Expiry, expiryAfter } from './retention.ts';
import { decodeRun, runKey } from './run-item.ts';
import { createRun, moveRun, takeLease } from './runs.ts';
import { LEDGER_KEY, policyPartition, runPartition, SK, scopePartition, sliceSort, tallySort } from './schema.ts';
import { putSelection, readSelection } from './selections.ts';
import { decodeSlice, decodeSliceHead, encodeSlice, SLICE_HEAD_ATTRIBUTES, sliceKey } from './slice-item.ts';
import { splitUnit } from './split.ts';
import { type ItemQuery, LedgerTable } from './table.ts';
import { decodeUnit, unitKey } from './unit-item.ts';
import { moveUnit } from './units.ts';
import { claimVersion, versionDigest } from './versions.ts';

export interface LedgerPorts {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** For the waits between reads of what a batch left unprocessed. */
  readonly clock: Clock;
  readonly random: Random;
  /** How long what this process writes is kept, from its last write. Absent: for ever. */
  readonly retentionDays?: number | undefined;
}

const LOAD_LIMIT = 10;

/** Slices are large once unpacked; a page of them is what a dispatcher holds in memory at once. */
const SLICES_PER_PAGE = 20;

/** Twenty calls of the queue; also what is sent again after a crash, at most. */
const SLICE_HEADS = { limit: 200, attributes: SLICE_HEAD_ATTRIBUTES };

/** The run ledger on one DynamoDB table. */
export class DynamoLedger implements Ledger {
  readonly #ports: LedgerPorts;
  readonly #table: LedgerTable;
  readonly #expiry: Expiry;

  constructor(ports: LedgerPorts) {
    this.#ports = ports;
    this.#table = new LedgerTable(ports.client, ports.tableName);
    this.#expiry = expiryAfter(ports.retentionDays, () => ports.clock.now());
  }

  createRun(run: RunItem): Promise<CreatedRun> {
    return createRun(this.#table, this.#expiry, run);
  }

  async readRun(runId: string): Promise<RunItem | undefined> {
    const item = await this.#table.get('readRun', runKey(runId));
    return item === undefined ? undefined : decodeRun(item);
  }

  async runIds(policyId: string, limit: number, cursor: string | undefined): Promise<Page<string>> {
    const page = await this.#table.query('runIds', {
      partition: policyPartition(policyId),
      range: startingWith(SK.runAt),
      order: 'descending',
      consistency: 'eventual',
      limit,
      cursor,
    });
    return { items: page.items.map((item) => item.runId?.S ?? ''), next: page.next };
  }

  takeLease(runId: string, seen: Lease, owner: string, now: EpochMillis, until: EpochMillis): Promise<RunMoved> {
    return takeLease(this.#table, runId, seen, { owner, now, until });
  }

  moveRun(runId: string, edge: RunEdge, epoch: number | undefined, change: RunChange): Promise<RunMoved> {
    return moveRun(this.#table, this.#expiry, runId, edge, epoch, change);
  }

  putSlice(slice: Slice): Promise<FencedWrite> {
    return this.#putFenced('putSlice', encodeSlice(slice), ['digest', 'keysDigest']);
  }

  putTally(tally: Tally): Promise<FencedWrite> {
    return this.#putFenced('putTally', encodeTally(tally), ['counts', 'examined']);
  }

  putTenant(report: TenantReport): Promise<FencedWrite> {
    const content = ['discovered', 'held', 'planned', 'overLimit', 'oldest'];
    return this.#putFenced('putTenant', encodeTenant(report), content);
  }

  slices(runId: string, from: number, before: number): Promise<readonly Slice[]> {
    return this.#range('slices', runId, sliceSort, from, before, decodeSlice);
  }

  sliceHeads(runId: string, from: number, before: number): Promise<readonly SliceHead[]> {
    return this.#range('sliceHeads', runId, sliceSort, from, before, decodeSliceHead, SLICE_HEADS);
  }

  tallies(runId: string, from: number, before: number): Promise<readonly Tally[]> {
    return this.#range('tallies', runId, tallySort, from, before, decodeTally);
  }

  tenants(runId: string, cursor: string | undefined): Promise<Page<TenantReport>> {
    return this.#page('tenants', runPartition(runId), SK.tenant, cursor, decodeTenant);
  }

  units(runId: string, cursor: string | undefined): Promise<Page<UnitItem>> {
    return this.#page('units', runPartition(runId), SK.batch, cursor, decodeUnit);
  }

  async load(refs: readonly UnitRef[]): Promise<readonly LoadedUnit[]> {
    if (refs.length < 1 || refs.length > LOAD_LIMIT) throw refusal('load', 'LoadLimit');
    const wanted = refs.map((ref) => ({
      run: runKey(ref.runId),
      slice: sliceKey(ref.runId, ordinalOf(ref.unit)),
      unit: unitKey(ref),
    }));
    // Two deliveries of one run share its item, and DynamoDB refuses a key that is asked for twice.
    const keys = new Map(wanted.flatMap((keys) => Object.values(keys)).map((key) => [nameOf(key), key]));
    const items = await batchGet(this.#ports, 'load', this.#ports.tableName, [...keys.values()]);
    const found = new Map(items.map((item) => [nameOf(item), item]));
    const decoded = <T>(key: Attributes, decode: (item: Attributes) => T): T | undefined => {
      const item = found.get(nameOf(key));
      return item === undefined ? undefined : decode(item);
    };
    return wanted.map(({ run, slice, unit }) => ({
      run: decoded(run, decodeRun),
      slice: decoded(slice, decodeSlice),
      unit: decoded(unit, decodeUnit),
    }));
  }

  async readUnit(ref: UnitRef): Promise<UnitItem | undefined> {
    const item = await this.#table.get('readUnit', unitKey(ref));
    return item === undefined ? undefined : decodeUnit(item);
  }

  moveUnit(ref: UnitRef, edge: UnitEdge, guard: UnitGuard, change: UnitChange): Promise<UnitMoved> {
    return moveUnit(this.#table, this.#expiry, ref, edge, guard, change);
  }

  splitUnit(
    ref: UnitRef,
    guard: UnitGuard,
    change: UnitChange & { readonly split: readonly number[] },
    children: readonly SplitUnit[],
  ): Promise<UnitMoved> {
    return splitUnit(this.#table, this.#expiry, ref, guard, change, children);
  }

  readControl(policyId: string): Promise<Control> {
    return readControl(this.#table, policyId);
  }

  readStops(policyId: string, runId: string): Promise<Stops> {
    return readStops(this.#ports, this.#ports.tableName, policyId, runId);
  }

  pause(policyId: string, pause: Pause): Promise<ControlMoved> {
    return pausePolicy(this.#table, policyId, pause);
  }

  resume(policyId: string, since: EpochMillis, now: EpochMillis): Promise<ControlMoved> {
    return resumePolicy(this.#table, policyId, since, now);
  }

  settleIntake(policyId: string, done: 'to-disable' | 'to-enable'): Promise<'settled' | 'moved-on'> {
    return settleIntake(this.#table, policyId, done);
  }

  putSelection(selection: Selection): Promise<void> {
    return putSelection(this.#table, this.#expiry, selection);
  }

  readSelection(policyId: string, digest: string): Promise<Selection | undefined> {
    return readSelection(this.#table, policyId, digest);
  }

  versionDigest(policyId: string, policyVersion: string): Promise<string | undefined> {
    return versionDigest(this.#table, policyId, policyVersion);
  }

  claimVersion(policyId: string, policyVersion: string, digest: string): Promise<'claimed' | 'other'> {
    return claimVersion(this.#table, policyId, policyVersion, digest);
  }

  async openRuns(cursor: string | undefined): Promise<Page<string>> {
    const page = await openPage(this.#ports.client, this.#ports.tableName, openRuns, cursor);
    return { items: page.items.map((item) => item.runId?.S ?? ''), next: page.next };
  }

  async openUnits(wanted: OpenUnitsWanted, cursor: string | undefined): Promise<Page<OpenUnit>> {
    const page = await openPage(this.#ports.client, this.#ports.tableName, openUnits(wanted), cursor);
    return { items: page.items.map(decodeOpenUnit), next: page.next };
  }

  appendAudit(
    scope: AuditScope,
    entry: AuditEntry,
    headCount = entry.number,
  ): Promise<'appended' | 'moved-on' | 'occupied'> {
    return appendAudit(this.#table, this.#expiry, scope, entry, headCount);
  }

  auditTrail(scope: AuditScope, cursor: string | undefined): Promise<Page<AuditEntry>> {
    return this.#page('auditTrail', scopePartition(scope), SK.audit, cursor, decodeAudit);
  }

  recordBadMessage(message: BadMessage): Promise<void> {
    return recordBadMessage(this.#table, this.#expiry, message);
  }

  readBadMessage(policyId: string, digest: string): Promise<BadMessage | undefined> {
    return readBadMessage(this.#table, policyId, digest);
  }

  abandonBadMessage(policyId: string, digest: string, at: EpochMillis): Promise<void> {
    return abandonBadMessage(this.#table, policyId, digest, at);
  }

  badMessages(policyId: string, cursor: string | undefined): Promise<Page<BadMessage>> {
    return this.#page('badMessages', policyPartition(policyId), SK.message, cursor, decodeMessage);
  }

  #putFenced(operation: string, item: Attributes, content: readonly string[]): Promise<FencedWrite> {
    return putFenced(this.#table, operation, { ...item, ...this.#expiry() }, content);
  }

  async #range<T>(
    operation: string,
    runId: string,
    sortOf: (number: number) => string,
    from: number,
    before: number,
    decode: (item: Attributes) => T,
    reading: Pick<ItemQuery, 'limit' | 'attributes'> = { limit: SLICES_PER_PAGE },
  ): Promise<readonly T[]> {
    if (from >= before) return [];
    const page = await this.#table.query(operation, {
      partition: runPartition(runId),
      range: (sortKey) => between(sortKey, text(sortOf(from)), text(sortOf(before - 1))),
      ...reading,
    });
    return page.items.map(decode);
  }

  async #page<T>(
    operation: string,
    partition: string,
    prefix: string,
    cursor: string | undefined,
    decode: (item: Attributes) => T,
  ): Promise<Page<T>> {
    const page = await this.#table.query(operation, { partition, range: startingWith(prefix), cursor });
    return { items: page.items.map(decode), next: page.next };
  }
}

function startingWith(prefix: string): (sortKey: string) => Clause {
  return (sortKey) => beginsWith(sortKey, text(prefix));
}

function nameOf(key: Attributes): string {
  return JSON.stringify([key[LEDGER_KEY.partitionKey]?.S, key[LEDGER_KEY.sortKey]?.S]);
}
