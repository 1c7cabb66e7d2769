import type { EpochMillis } from '../identity/instant.ts';
import type { UnitId } from '../identity/keys.ts';
import type {
  AuditEntry,
  BadMessage,
  Lease,
  RunChange,
  RunItem,
  Slice,
  Tally,
  TenantReport,
  UnitChange,
  UnitItem,
} from '../ledger/items.ts';
import type { RunEdge, UnitEdge } from '../ledger/lifecycle.ts';

export type CreatedRun = { readonly kind: 'created' } | { readonly kind: 'exists'; readonly run: RunItem };

/** A conditional change of a run. Refused: the run is not in a state the edge may leave, or the epoch is another. */
export type RunMoved =
  | { readonly kind: 'moved'; readonly run: RunItem }
  | { readonly kind: 'refused'; readonly run: RunItem | undefined };

/**
 * A conditional change of a unit. Refused: its state, generation or attempts are not what the guard says. `unit` is
 * the item as it stands.
 */
export type UnitMoved =
  | { readonly kind: 'moved'; readonly unit: UnitItem }
  | { readonly kind: 'refused'; readonly unit: UnitItem | undefined };

/**
 * A put that succeeds only where no item of the same or a newer epoch is. `written` also where the same epoch had
 * written the same content before (our own put whose answer was lost).
 */
export type FencedWrite = 'written' | 'superseded';

export interface UnitGuard {
  readonly generation: number;
  /** Where given, the attempts the item must have; 0 also matches an item that does not exist. */
  readonly attempts?: number;
  /** What a new item is made of, for edges that may make one. */
  readonly make?: Pick<UnitItem, 'tenant' | 'records'>;
}

export interface UnitRef {
  readonly runId: string;
  readonly unit: UnitId;
}

/** What a consumer needs to judge one delivery. */
export interface LoadedUnit {
  readonly run: RunItem | undefined;
  readonly slice: Slice | undefined;
  readonly unit: UnitItem | undefined;
}

/** An open unit as the sparse index shows it: eventually consistent, identifiers only. */
export interface OpenUnit extends UnitRef {
  readonly generation: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Undefined at the end, and only there. */
  readonly next: string | undefined;
}

export type AuditScope =
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'policy'; readonly policyId: string };

/**
 * The run ledger. Each method is one call to the store, so that a crash can be put before and after every one.
 * Reads are strongly consistent unless said otherwise. Throws PortError.
 */
export interface Ledger {
  /** Puts the run and its pointer in the policy's index in one transaction, where no run of this id is. */
  createRun(run: RunItem): Promise<CreatedRun>;
  readRun(runId: string): Promise<RunItem | undefined>;
  /** Pages of a policy's runs, newest scheduled time first; ids only. Eventually consistent. */
  runIds(policyId: string, limit: number, cursor: string | undefined): Promise<Page<string>>;
  /** Takes the lease where its epoch is still `seen.epoch` and it has lapsed at `now`; the new epoch is one higher. */
  takeLease(runId: string, seen: Lease, owner: string, now: EpochMillis, until: EpochMillis): Promise<RunMoved>;
  /** Moves a run along an edge. With an epoch, only its holder may; without one the status alone is the guard. */
  moveRun(runId: string, edge: RunEdge, epoch: number | undefined, change: RunChange): Promise<RunMoved>;

  putSlice(slice: Slice): Promise<FencedWrite>;
  putTally(tally: Tally): Promise<FencedWrite>;
  putTenant(report: TenantReport): Promise<FencedWrite>;
  /** A page of slices in order of ordinals, `from` included and `before` excluded; empty only where none is there. */
  slices(runId: string, from: number, before: number): Promise<readonly Slice[]>;
  /** A page of tallies in order, as `slices`. */
  tallies(runId: string, from: number, before: number): Promise<readonly Tally[]>;
  tenants(runId: string, cursor: string | undefined): Promise<Page<TenantReport>>;
  /** A page of units in order of ordinals, each batch before the records split from it. */
  units(runId: string, cursor: string | undefined): Promise<Page<UnitItem>>;

  /** Loads runs, slices and units of up to 10 deliveries in one BatchGetItem; result in the order of `refs`. */
  load(refs: readonly UnitRef[]): Promise<readonly LoadedUnit[]>;
  readUnit(ref: UnitRef): Promise<UnitItem | undefined>;
  moveUnit(ref: UnitRef, edge: UnitEdge, guard: UnitGuard, change: UnitChange): Promise<UnitMoved>;

  /** What a policy version meant when a plan of it was first frozen; undefined where none was. */
  versionDigest(policyId: string, policyVersion: string): Promise<string | undefined>;
  /** Makes a version mean this digest where it means nothing yet; `other` where it means another. */
  claimVersion(policyId: string, policyVersion: string, digest: string): Promise<'claimed' | 'other'>;

  /** Runs that are not finished, or closed around a quarantine. Eventually consistent. */
  openRuns(cursor: string | undefined): Promise<Page<string>>;
  /** Planned units due at `now`, or quarantined units; oldest first within a shard. Eventually consistent. */
  openUnits(
    wanted: { readonly state: 'planned'; readonly dueAt: EpochMillis } | { readonly state: 'quarantined' },
    cursor: string | undefined,
  ): Promise<Page<OpenUnit>>;

  /** Puts the entry where its number is the head's count, and moves the head, in one transaction. */
  appendAudit(scope: AuditScope, entry: AuditEntry): Promise<'appended' | 'moved-on'>;
  auditTrail(scope: AuditScope, cursor: string | undefined): Promise<Page<AuditEntry>>;
  /** Keeps the first sighting: reason and time. */
  recordBadMessage(message: BadMessage): Promise<void>;
  badMessages(policyId: string, cursor: string | undefined): Promise<Page<BadMessage>>;
}
