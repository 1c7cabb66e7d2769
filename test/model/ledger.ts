import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import { ordinalOf } from '../../lib/core/identity/keys.ts';
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
} from '../../lib/core/ledger/items.ts';
import {
  forgottenBy,
  isOpenRun,
  RUN_EDGES,
  type RunEdge,
  staysOpen,
  type UnitEdge,
} from '../../lib/core/ledger/lifecycle.ts';
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
} from '../../lib/core/ports/index.ts';
import { LaggingIndex } from './lagging-index.ts';
import { byKey, invalid, padded, scopeKey, unitKey } from './ledger-keys.ts';
import { PolicyItems } from './ledger-policy.ts';
import { UnitItems, type UnitMove } from './ledger-units.ts';
import { keysetPage, type Paging } from './paging.ts';
import { copyOf, samePlain } from './plain.ts';
import type { Mischief } from './world.ts';

export interface LedgerOptions {
  readonly paging: Paging;
  /** Changes that the indexes may be behind; `settle` brings them up to date. */
  readonly indexLag: number;
  /** All but `checked` are mutants of a test: puts or moves that do not look at the epoch. */
  readonly epochs: 'checked' | 'ignored-by-puts' | 'ignored-by-moves';
  /** `torn` is the mutant of a test: split records are put outside the transaction of their batch. */
  readonly splits: 'one-transaction' | 'torn';
  /** Told of what a reader got that was less than the truth, or nothing. */
  readonly note: (what: Mischief) => void;
}

export interface LedgerContents {
  readonly runs: readonly RunItem[];
  readonly slices: readonly Slice[];
  readonly tenants: readonly TenantReport[];
  readonly units: readonly UnitItem[];
  readonly badMessages: readonly BadMessage[];
  readonly audit: readonly { readonly scope: string; readonly entry: AuditEntry }[];
  readonly selections: readonly Selection[];
}

const DEFAULTS: LedgerOptions = {
  paging: { size: 3, emptyPages: 'none' },
  indexLag: 0,
  epochs: 'checked',
  splits: 'one-transaction',
  note: () => {},
};
const LOAD_LIMIT = 10;

/** The run ledger in memory, with the conditions of the real one. Nothing that goes in or out is shared. */
export class MemoryLedger implements Ledger {
  /** Called after every move of a run with what it was and what it is. */
  onRunMoved: (before: RunItem, after: RunItem) => void = () => {};
  /** Called after every entry of an audit trail. */
  onAudited: (scope: AuditScope, entry: AuditEntry) => void = () => {};
  readonly #options: LedgerOptions;
  readonly #runs = new Map<string, RunItem>();
  readonly #slices = new Map<string, Slice>();
  readonly #tallies = new Map<string, Tally>();
  readonly #tenants = new Map<string, TenantReport>();
  readonly #audit = new Map<string, AuditEntry>();
  readonly #policies = new PolicyItems();
  readonly #units: UnitItems;
  readonly #runIndex: LaggingIndex<RunItem>;
  readonly #openRuns: LaggingIndex<string>;

  constructor(options: Partial<LedgerOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options };
    this.#runIndex = new LaggingIndex(this.#options.indexLag);
    this.#openRuns = new LaggingIndex(this.#options.indexLag);
    this.#units = new UnitItems(this.#options.indexLag, this.#options.splits);
  }

  /** Called after every move of a unit that took effect. */
  set onUnitMoved(listener: (move: UnitMove) => void) {
    this.#units.onMoved = listener;
  }

  /** Called after every change of a policy's switch. */
  set onControl(listener: (before: Control, after: Control) => void) {
    this.#policies.onControl = listener;
  }

  /** What is stored at this moment, for a test to judge. */
  contents(): LedgerContents {
    const sorted = <T>(items: ReadonlyMap<string, T>) =>
      [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
    return {
      runs: sorted(this.#runs),
      slices: sorted(this.#slices),
      tenants: sorted(this.#tenants),
      units: sorted(this.#units.items),
      badMessages: sorted(this.#policies.badMessages),
      audit: [...this.#audit]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, entry]) => ({ scope: key.split(' ')[1] ?? '', entry })),
      selections: this.#policies.selections,
    };
  }

  /** One run and one unit as they stand, for a test that looks on. */
  peek(ref: UnitRef): { readonly run: RunItem | undefined; readonly unit: UnitItem | undefined } {
    return { run: this.#runs.get(ref.runId), unit: this.#units.read(ref) };
  }

  knowsBadMessage(policyId: string, digest: string): boolean {
    return this.#policies.badMessage(policyId, digest) !== undefined;
  }

  settle(): void {
    for (const index of [this.#runIndex, this.#openRuns, this.#units]) index.settle();
  }

  async createRun(run: RunItem): Promise<CreatedRun> {
    const existing = this.#runs.get(run.runId);
    if (existing !== undefined) return { kind: 'exists', run: copyOf(existing) };
    this.#storeRun(run, isOpenRun(run.status) ? 'in' : 'out');
    this.#runIndex.set(run.runId, copyOf(run));
    return { kind: 'created' };
  }

  async readRun(runId: string): Promise<RunItem | undefined> {
    return copyOf(this.#runs.get(runId));
  }

  async runIds(policyId: string, limit: number, cursor: string | undefined): Promise<Page<string>> {
    const runs = this.#runIndex.sorted().flatMap(([, run]) => (run.policyId === policyId ? [run] : []));
    const keyed = runs.map((run) => ({
      id: run.runId,
      key: `${padded(9e15 - run.scheduledTime)} ${run.policyVersion}`,
    }));
    const page = keysetPage(keyed.sort(byKey), (run) => run.key, cursor, { ...this.#options.paging, size: limit });
    return { items: page.items.map((run) => run.id), next: page.next };
  }

  async takeLease(runId: string, seen: Lease, owner: string, now: EpochMillis, until: EpochMillis): Promise<RunMoved> {
    const run = this.#runs.get(runId);
    const free = run !== undefined && run.lease.epoch === seen.epoch && run.lease.until <= now;
    if (!free) return { kind: 'refused', run: copyOf(run) };
    return {
      kind: 'moved',
      run: this.#storeRun({ ...run, lease: { owner, until, epoch: seen.epoch + 1 } }, 'as-it-was'),
    };
  }

  async moveRun(runId: string, edge: RunEdge, epoch: number | undefined, change: RunChange): Promise<RunMoved> {
    const run = this.#runs.get(runId);
    const { from, to }: { from: readonly string[]; to: RunItem['status'] } = RUN_EDGES[edge];
    const fenced = epoch !== undefined && this.#options.epochs !== 'ignored-by-moves' && run?.lease.epoch !== epoch;
    if (run === undefined || fenced || !from.includes(run.status)) return { kind: 'refused', run: copyOf(run) };
    const { leaseUntil, ...set } = copyOf(change);
    const lease = leaseUntil === undefined ? run.lease : { ...run.lease, until: leaseUntil };
    const forgotten = Object.fromEntries(forgottenBy(edge).map((name) => [name, undefined]));
    const moved = this.#storeRun({ ...run, ...forgotten, ...set, lease, status: to }, staysOpen(edge) ? 'in' : 'out');
    this.onRunMoved(run, moved);
    return { kind: 'moved', run: moved };
  }

  async putSlice(slice: Slice): Promise<FencedWrite> {
    return this.#putFenced(this.#slices, `${slice.runId} ${padded(slice.ordinal)}`, slice);
  }

  async putTally(tally: Tally): Promise<FencedWrite> {
    return this.#putFenced(this.#tallies, `${tally.runId} ${padded(tally.number)}`, tally);
  }

  async putTenant(report: TenantReport): Promise<FencedWrite> {
    return this.#putFenced(this.#tenants, `${report.runId} ${report.tenant}`, report);
  }

  async slices(runId: string, from: number, before: number): Promise<readonly Slice[]> {
    return this.#range(this.#slices, runId, from, before);
  }

  async sliceHeads(runId: string, from: number, before: number): Promise<readonly SliceHead[]> {
    const heads = this.#range(this.#slices, runId, from, before);
    return heads.map(({ ordinal, tenant, keysDigest, entries }) => ({
      ordinal,
      tenant,
      keysDigest,
      records: entries.length,
    }));
  }

  async tallies(runId: string, from: number, before: number): Promise<readonly Tally[]> {
    return this.#range(this.#tallies, runId, from, before);
  }

  async tenants(runId: string, cursor: string | undefined): Promise<Page<TenantReport>> {
    return this.#page(this.#tenants, `${runId} `, cursor);
  }

  async units(runId: string, cursor: string | undefined): Promise<Page<UnitItem>> {
    return this.#page(this.#units.items, `${runId} `, cursor);
  }

  async load(refs: readonly UnitRef[]): Promise<readonly LoadedUnit[]> {
    if (refs.length < 1 || refs.length > LOAD_LIMIT) throw invalid('load');
    return refs.map((ref) =>
      copyOf({
        run: this.#runs.get(ref.runId),
        slice: this.#slices.get(`${ref.runId} ${padded(ordinalOf(ref.unit))}`),
        unit: this.#units.items.get(unitKey(ref)),
      }),
    );
  }

  async readUnit(ref: UnitRef): Promise<UnitItem | undefined> {
    return this.#units.read(ref);
  }

  async moveUnit(ref: UnitRef, edge: UnitEdge, guard: UnitGuard, change: UnitChange): Promise<UnitMoved> {
    return this.#units.move(ref, edge, guard, change);
  }

  async splitUnit(
    ref: UnitRef,
    guard: UnitGuard,
    change: UnitChange & { readonly split: readonly number[] },
    children: readonly SplitUnit[],
  ): Promise<UnitMoved> {
    return this.#units.split(ref, guard, change, children);
  }

  async readControl(policyId: string): Promise<Control> {
    return this.#policies.control(policyId);
  }

  async readStops(policyId: string, runId: string): Promise<Stops> {
    return { control: this.#policies.control(policyId), runStatus: this.#runs.get(runId)?.status };
  }

  async pause(policyId: string, pause: Pause): Promise<ControlMoved> {
    return this.#policies.pause(policyId, pause);
  }

  async resume(policyId: string, since: EpochMillis, now: EpochMillis): Promise<ControlMoved> {
    return this.#policies.resume(policyId, since, now);
  }

  async settleIntake(policyId: string, done: 'to-disable' | 'to-enable'): Promise<'settled' | 'moved-on'> {
    return this.#policies.settleIntake(policyId, done);
  }

  async putSelection(selection: Selection): Promise<void> {
    this.#policies.putSelection(selection);
  }

  async readSelection(policyId: string, digest: string): Promise<Selection | undefined> {
    return this.#policies.selection(policyId, digest);
  }

  async versionDigest(policyId: string, policyVersion: string): Promise<string | undefined> {
    return this.#policies.versionDigest(policyId, policyVersion);
  }

  async claimVersion(policyId: string, policyVersion: string, digest: string): Promise<'claimed' | 'other'> {
    return this.#policies.claimVersion(policyId, policyVersion, digest);
  }

  async openRuns(cursor: string | undefined): Promise<Page<string>> {
    if (this.#openRuns.isBehind) this.#options.note('stale index read');
    const page = keysetPage(this.#openRuns.sorted(), ([key]) => key, cursor, this.#options.paging);
    return this.#noted({ items: page.items.map(([, runId]) => runId), next: page.next });
  }

  async openUnits(wanted: OpenUnitsWanted, cursor: string | undefined): Promise<Page<OpenUnit>> {
    if (this.#units.isBehind) this.#options.note('stale index read');
    return this.#noted(this.#units.openUnits(wanted, cursor, this.#options.paging));
  }

  async appendAudit(
    scope: AuditScope,
    entry: AuditEntry,
    headCount = entry.number,
  ): Promise<'appended' | 'moved-on' | 'occupied'> {
    const run = scope.kind === 'run' ? this.#runs.get(scope.runId) : undefined;
    const head =
      scope.kind === 'run' ? run?.auditHead : (this.#policies.control(scope.policyId).auditHead ?? { count: 0 });
    const key = `${scopeKey(scope)}${padded(entry.number)}`;
    if (head?.count !== headCount) return 'moved-on';
    if (this.#audit.has(key)) return 'occupied';
    this.#audit.set(key, copyOf(entry));
    const moved = { count: entry.number + 1, hash: entry.hash };
    if (run !== undefined) this.#storeRun({ ...run, auditHead: moved }, 'as-it-was');
    else if (scope.kind === 'policy') this.#policies.setAuditHead(scope.policyId, moved);
    this.onAudited(scope, entry);
    return 'appended';
  }

  /** What somebody with access to the table puts into a trail behind its head's back. */
  plantAudit(scope: AuditScope, entry: AuditEntry): void {
    this.#audit.set(`${scopeKey(scope)}${padded(entry.number)}`, copyOf(entry));
  }

  async auditTrail(scope: AuditScope, cursor: string | undefined): Promise<Page<AuditEntry>> {
    return this.#page(this.#audit, scopeKey(scope), cursor);
  }

  async recordBadMessage(message: BadMessage): Promise<void> {
    this.#policies.recordBadMessage(message);
  }

  async readBadMessage(policyId: string, digest: string): Promise<BadMessage | undefined> {
    return this.#policies.badMessage(policyId, digest);
  }

  async abandonBadMessage(policyId: string, digest: string, at: EpochMillis): Promise<void> {
    this.#policies.abandonBadMessage(policyId, digest, at);
  }

  async badMessages(policyId: string, cursor: string | undefined): Promise<Page<BadMessage>> {
    return this.#page(this.#policies.badMessages, `${policyId} `, cursor);
  }

  /** Only a move takes a run into the index of open runs, or out of it. */
  #storeRun(run: RunItem, index: 'in' | 'out' | 'as-it-was'): RunItem {
    const stored = copyOf(run);
    this.#runs.set(run.runId, stored);
    if (index !== 'as-it-was') this.#openRuns.set(run.runId, index === 'in' ? run.runId : undefined);
    return stored;
  }

  #putFenced<T extends { readonly epoch: number }>(items: Map<string, T>, key: string, item: T): FencedWrite {
    const existing = items.get(key);
    if (existing !== undefined && this.#options.epochs !== 'ignored-by-puts') {
      if (existing.epoch > item.epoch) return 'superseded';
      if (existing.epoch === item.epoch) return samePlain(existing, item) ? 'written' : 'superseded';
    }
    items.set(key, copyOf(item));
    return 'written';
  }

  #range<T>(items: Map<string, T>, runId: string, from: number, before: number): readonly T[] {
    const keys = [...items.keys()].filter(
      (key) => key >= `${runId} ${padded(from)}` && key < `${runId} ${padded(before)}`,
    );
    return keys
      .sort()
      .slice(0, this.#options.paging.size)
      .flatMap((key) => copyOf(items.get(key)) ?? []);
  }

  #page<T>(items: ReadonlyMap<string, T>, prefix: string, cursor: string | undefined): Page<T> {
    const entries = [...items].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
    const page = keysetPage(entries, ([key]) => key, cursor, this.#options.paging);
    return this.#noted({ items: page.items.map(([, item]) => copyOf(item)), next: page.next });
  }

  #noted<T>(page: Page<T>): Page<T> {
    if (page.items.length === 0 && page.next !== undefined) this.#options.note('empty filtered page');
    return page;
  }
}
