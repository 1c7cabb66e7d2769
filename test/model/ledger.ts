import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import { batchUnit, ordinalOf } from '../../lib/core/identity/keys.ts';
import type {
  AuditEntry,
  AuditHead,
  BadMessage,
  Lease,
  RunChange,
  RunItem,
  Slice,
  Tally,
  TenantReport,
  UnitChange,
  UnitItem,
} from '../../lib/core/ledger/items.ts';
import {
  isOpenRun,
  isOpenUnit,
  RUN_EDGES,
  type RunEdge,
  UNIT_EDGES,
  type UnitEdge,
} from '../../lib/core/ledger/lifecycle.ts';
import {
  type AuditScope,
  type CreatedRun,
  type FencedWrite,
  type Ledger,
  type LoadedUnit,
  type OpenUnit,
  type Page,
  PortError,
  type RunMoved,
  type UnitGuard,
  type UnitMoved,
  type UnitRef,
} from '../../lib/core/ports/index.ts';
import { LaggingIndex } from './lagging-index.ts';
import { keysetPage, type Paging } from './paging.ts';
import { copyOf, samePlain } from './plain.ts';

export interface LedgerOptions {
  readonly paging: Paging;
  /** Changes that the indexes may be behind; `settle` brings them up to date. */
  readonly indexLag: number;
  /** All but `checked` are mutants of a test: puts or moves that do not look at the epoch. */
  readonly epochs: 'checked' | 'ignored-by-puts' | 'ignored-by-moves';
}

export interface LedgerContents {
  readonly runs: readonly RunItem[];
  readonly slices: readonly Slice[];
  readonly tenants: readonly TenantReport[];
  readonly units: readonly UnitItem[];
  readonly badMessages: readonly BadMessage[];
}

const DEFAULTS: LedgerOptions = { paging: { size: 3, emptyPages: 'none' }, indexLag: 0, epochs: 'checked' };
const LOAD_LIMIT = 10;

/** The run ledger in memory, with the conditions of the real one. Nothing that goes in or out is shared. */
export class MemoryLedger implements Ledger {
  /** Called after every move of a run with what it was and what it is. */
  onRunMoved: (before: RunItem, after: RunItem) => void = () => {};
  readonly #options: LedgerOptions;
  readonly #runs = new Map<string, RunItem>();
  readonly #slices = new Map<string, Slice>();
  readonly #tallies = new Map<string, Tally>();
  readonly #tenants = new Map<string, TenantReport>();
  readonly #units = new Map<string, UnitItem>();
  readonly #audit = new Map<string, AuditEntry>();
  readonly #policyHeads = new Map<string, AuditHead>();
  readonly #badMessages = new Map<string, BadMessage>();
  readonly #versions = new Map<string, string>();
  readonly #runIndex: LaggingIndex<RunItem>;
  readonly #openRuns: LaggingIndex<string>;
  readonly #openUnits: LaggingIndex<UnitItem>;

  constructor(options: Partial<LedgerOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options };
    this.#runIndex = new LaggingIndex(this.#options.indexLag);
    this.#openRuns = new LaggingIndex(this.#options.indexLag);
    this.#openUnits = new LaggingIndex(this.#options.indexLag);
  }

  /** What is stored at this moment, for a test to judge. */
  contents(): LedgerContents {
    const sorted = <T>(items: Map<string, T>) =>
      [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
    return {
      runs: sorted(this.#runs),
      slices: sorted(this.#slices),
      tenants: sorted(this.#tenants),
      units: sorted(this.#units),
      badMessages: sorted(this.#badMessages),
    };
  }

  settle(): void {
    for (const index of [this.#runIndex, this.#openRuns, this.#openUnits]) index.settle();
  }

  async createRun(run: RunItem): Promise<CreatedRun> {
    const existing = this.#runs.get(run.runId);
    if (existing !== undefined) return { kind: 'exists', run: copyOf(existing) };
    this.#storeRun(run);
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
    return { kind: 'moved', run: this.#storeRun({ ...run, lease: { owner, until, epoch: seen.epoch + 1 } }) };
  }

  async moveRun(runId: string, edge: RunEdge, epoch: number | undefined, change: RunChange): Promise<RunMoved> {
    const run = this.#runs.get(runId);
    const { from, to }: { from: readonly string[]; to: RunItem['status'] } = RUN_EDGES[edge];
    const fenced = epoch !== undefined && this.#options.epochs !== 'ignored-by-moves' && run?.lease.epoch !== epoch;
    if (run === undefined || fenced || !from.includes(run.status)) return { kind: 'refused', run: copyOf(run) };
    const { leaseUntil, ...set } = copyOf(change);
    const lease = leaseUntil === undefined ? run.lease : { ...run.lease, until: leaseUntil };
    const moved = this.#storeRun({ ...run, ...set, lease, status: to });
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

  async tallies(runId: string, from: number, before: number): Promise<readonly Tally[]> {
    return this.#range(this.#tallies, runId, from, before);
  }

  async tenants(runId: string, cursor: string | undefined): Promise<Page<TenantReport>> {
    return this.#page(this.#tenants, `${runId} `, cursor);
  }

  async units(runId: string, cursor: string | undefined): Promise<Page<UnitItem>> {
    return this.#page(this.#units, `${runId} `, cursor);
  }

  async load(refs: readonly UnitRef[]): Promise<readonly LoadedUnit[]> {
    if (refs.length < 1 || refs.length > LOAD_LIMIT) throw invalid('load');
    return refs.map((ref) =>
      copyOf({
        run: this.#runs.get(ref.runId),
        slice: this.#slices.get(`${ref.runId} ${padded(ordinalOf(ref.unit))}`),
        unit: this.#units.get(unitKey(ref)),
      }),
    );
  }

  async readUnit(ref: UnitRef): Promise<UnitItem | undefined> {
    return copyOf(this.#units.get(unitKey(ref)));
  }

  async moveUnit(ref: UnitRef, edge: UnitEdge, guard: UnitGuard, change: UnitChange): Promise<UnitMoved> {
    const stored = this.#units.get(unitKey(ref));
    const { from, to, orAbsent }: { from: readonly string[]; to: UnitItem['state']; orAbsent: boolean } =
      UNIT_EDGES[edge];
    const unit = stored ?? (orAbsent ? newUnit(ref, guard) : undefined);
    const legal =
      unit !== undefined &&
      from.includes(unit.state) &&
      unit.generation === guard.generation &&
      (guard.attempts === undefined || unit.attempts === guard.attempts);
    if (!legal) return { kind: 'refused', unit: copyOf(stored) };
    const moved = copyOf({ ...unit, ...change, state: to });
    this.#units.set(unitKey(ref), moved);
    this.#openUnits.set(unitKey(ref), isOpenUnit(to) ? moved : undefined);
    return { kind: 'moved', unit: copyOf(moved) };
  }

  async versionDigest(policyId: string, policyVersion: string): Promise<string | undefined> {
    return this.#versions.get(`${policyId} ${policyVersion}`);
  }

  async claimVersion(policyId: string, policyVersion: string, digest: string): Promise<'claimed' | 'other'> {
    const key = `${policyId} ${policyVersion}`;
    const meaning = this.#versions.get(key) ?? digest;
    this.#versions.set(key, meaning);
    return meaning === digest ? 'claimed' : 'other';
  }

  async openRuns(cursor: string | undefined): Promise<Page<string>> {
    const page = keysetPage(this.#openRuns.sorted(), ([key]) => key, cursor, this.#options.paging);
    return { items: page.items.map(([, runId]) => runId), next: page.next };
  }

  async openUnits(
    wanted: { readonly state: 'planned'; readonly dueAt: EpochMillis } | { readonly state: 'quarantined' },
    cursor: string | undefined,
  ): Promise<Page<OpenUnit>> {
    const units = this.#openUnits
      .sorted()
      .map(([key, unit]) => ({ key: `${padded(dueAt(unit))} ${key}`, unit }))
      .filter(({ unit }) => unit.state === wanted.state && (wanted.state !== 'planned' || dueAt(unit) <= wanted.dueAt));
    const page = keysetPage(units.sort(byKey), (unit) => unit.key, cursor, this.#options.paging);
    const items = page.items.map(({ unit }) => ({ runId: unit.runId, unit: unit.unit, generation: unit.generation }));
    return { items, next: page.next };
  }

  async appendAudit(scope: AuditScope, entry: AuditEntry): Promise<'appended' | 'moved-on'> {
    const run = scope.kind === 'run' ? this.#runs.get(scope.runId) : undefined;
    const head = scope.kind === 'run' ? run?.auditHead : (this.#policyHeads.get(scope.policyId) ?? { count: 0 });
    const key = `${scopeKey(scope)}${padded(entry.number)}`;
    if (head?.count !== entry.number || this.#audit.has(key)) return 'moved-on';
    this.#audit.set(key, copyOf(entry));
    const moved = { count: entry.number + 1, hash: entry.hash };
    if (run !== undefined) this.#storeRun({ ...run, auditHead: moved });
    else if (scope.kind === 'policy') this.#policyHeads.set(scope.policyId, moved);
    return 'appended';
  }

  async auditTrail(scope: AuditScope, cursor: string | undefined): Promise<Page<AuditEntry>> {
    return this.#page(this.#audit, scopeKey(scope), cursor);
  }

  async recordBadMessage(message: BadMessage): Promise<void> {
    const key = `${message.policyId} ${message.digest}`;
    if (!this.#badMessages.has(key)) this.#badMessages.set(key, copyOf(message));
  }

  async badMessages(policyId: string, cursor: string | undefined): Promise<Page<BadMessage>> {
    return this.#page(this.#badMessages, `${policyId} `, cursor);
  }

  #storeRun(run: RunItem): RunItem {
    this.#runs.set(run.runId, copyOf(run));
    this.#openRuns.set(run.runId, isOpenRun(run.status) ? run.runId : undefined);
    return copyOf(run);
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

  #page<T>(items: Map<string, T>, prefix: string, cursor: string | undefined): Page<T> {
    const entries = [...items].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
    const page = keysetPage(entries, ([key]) => key, cursor, this.#options.paging);
    return { items: page.items.map(([, item]) => copyOf(item)), next: page.next };
  }
}

/** What an absent unit counts as: planned, never started, of the first generation. */
function newUnit(ref: UnitRef, guard: UnitGuard): UnitItem | undefined {
  if (guard.make === undefined) return undefined;
  const { runId, unit } = ref;
  return { runId, unit, ...guard.make, state: 'planned', attempts: 0, generation: 0, since: 0 };
}

function dueAt(unit: UnitItem): EpochMillis {
  return unit.state === 'planned' ? (unit.notBefore ?? unit.since) : unit.since;
}

function padded(number: number): string {
  return String(number).padStart(16, '0');
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1;
}

/** A batch sorts before the records split from it. */
function unitKey({ runId, unit }: UnitRef): string {
  const ordinal = ordinalOf(unit);
  const position = unit === batchUnit(ordinal) ? '' : `.${padded(Number(unit.slice(unit.indexOf('.') + 1)))}`;
  return `${runId} ${padded(ordinal)}${position}`;
}

function scopeKey(scope: AuditScope): string {
  return scope.kind === 'run' ? `run ${scope.runId} ` : `policy ${scope.policyId} `;
}

function invalid(operation: string): PortError {
  return new PortError(operation, { class: 'permanent', error: 'ValidationException' });
}
