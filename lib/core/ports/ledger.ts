import type { EpochMillis } from '../identity/instant.ts';
import type { UnitId } from '../identity/keys.ts';
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
} from '../ledger/items.ts';
import type { RunEdge, RunStatus, UnitEdge } from '../ledger/lifecycle.ts';

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

/** An open unit as the sparse index shows it: eventually consistent. */
export type OpenUnit = UnitRef &
  Pick<UnitItem, 'generation' | 'tenant' | 'records' | 'attempts' | 'since'> &
  Pick<UnitItem, 'reason' | 'errorClass' | 'failureClass' | 'copiedAt' | 'copiedGeneration'>;

export type OpenUnitsWanted =
  | { readonly state: 'planned'; readonly dueAt: EpochMillis }
  | { readonly state: 'quarantined' | 'uncertain' };

/** What may stop a unit between two target calls. */
export interface Stops {
  readonly control: Control;
  readonly runStatus: RunStatus | undefined;
}

/** `moved` also where the same request had made the move before. `control` is the item as it stands. */
export type ControlMoved =
  | { readonly kind: 'moved'; readonly control: Control }
  | { readonly kind: 'refused'; readonly control: Control };

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
  /** As `slices`, in larger pages: without the records. */
  sliceHeads(runId: string, from: number, before: number): Promise<readonly SliceHead[]>;
  /** A page of tallies in order, as `slices`. */
  tallies(runId: string, from: number, before: number): Promise<readonly Tally[]>;
  tenants(runId: string, cursor: string | undefined): Promise<Page<TenantReport>>;
  /** A page of units in order of ordinals, each batch before the records split from it. */
  units(runId: string, cursor: string | undefined): Promise<Page<UnitItem>>;

  /** Loads runs, slices and units of up to 10 deliveries in one BatchGetItem; result in the order of `refs`. */
  load(refs: readonly UnitRef[]): Promise<readonly LoadedUnit[]>;
  readUnit(ref: UnitRef): Promise<UnitItem | undefined>;
  moveUnit(ref: UnitRef, edge: UnitEdge, guard: UnitGuard, change: UnitChange): Promise<UnitMoved>;

  /**
   * Commits a batch without the records that failed, and puts each of those as a unit of its own, in one transaction: a
   * split unit exists exactly where its batch names its position. `change.split` holds the positions.
   */
  splitUnit(
    ref: UnitRef,
    guard: UnitGuard,
    change: UnitChange & { readonly split: readonly number[] },
    children: readonly SplitUnit[],
  ): Promise<UnitMoved>;

  /** `NO_CONTROL` where the policy has no control item. */
  readControl(policyId: string): Promise<Control>;
  /** The control item and the run's status in one read. */
  readStops(policyId: string, runId: string): Promise<Stops>;
  /** Pauses where nothing is paused; sets `intake` to `to-disable`. */
  pause(policyId: string, pause: Pause): Promise<ControlMoved>;
  /**
   * Ends the pause that began at `since`, remembers it among `pauses`, and sets `intake` to `to-enable`. Refused where
   * another pause stands, or none.
   */
  resume(policyId: string, since: EpochMillis, now: EpochMillis): Promise<ControlMoved>;
  /** Notes that the event source mapping is as it should be, where `intake` is still `done`; else it has moved on. */
  settleIntake(policyId: string, done: 'to-disable' | 'to-enable'): Promise<'settled' | 'moved-on'>;

  /** Putting the same selection again is putting it. */
  putSelection(selection: Selection): Promise<void>;
  readSelection(policyId: string, digest: string): Promise<Selection | undefined>;

  /** What a policy version meant when a plan of it was first frozen; undefined where none was. */
  versionDigest(policyId: string, policyVersion: string): Promise<string | undefined>;
  /** Makes a version mean this digest where it means nothing yet; `other` where it means another. */
  claimVersion(policyId: string, policyVersion: string, digest: string): Promise<'claimed' | 'other'>;

  /** Runs that are not finished, or closed around a quarantine. Eventually consistent. */
  openRuns(cursor: string | undefined): Promise<Page<string>>;
  /** Planned units due at `now`, or quarantined units; oldest first within a shard. Eventually consistent. */
  openUnits(wanted: OpenUnitsWanted, cursor: string | undefined): Promise<Page<OpenUnit>>;

  /**
   * Puts the entry and moves the head behind it, in one transaction, where the head still counts `headCount` entries: by
   * default the entry's number. `occupied`: the head stands, and an item that it does not know is at the entry's place.
   */
  appendAudit(scope: AuditScope, entry: AuditEntry, headCount?: number): Promise<'appended' | 'moved-on' | 'occupied'>;
  auditTrail(scope: AuditScope, cursor: string | undefined): Promise<Page<AuditEntry>>;
  /** Keeps the first sighting: reason and time. */
  recordBadMessage(message: BadMessage): Promise<void>;
  readBadMessage(policyId: string, digest: string): Promise<BadMessage | undefined>;
  /** Notes that a person gave the message up; the first time stays. */
  abandonBadMessage(policyId: string, digest: string, at: EpochMillis): Promise<void>;
  badMessages(policyId: string, cursor: string | undefined): Promise<Page<BadMessage>>;
}
