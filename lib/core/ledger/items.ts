import type { Cost } from '../cost/cost.ts';
import type { Quote } from '../cost/quote.ts';
import type { DigestChain } from '../identity/digests.ts';
import type { EpochMillis } from '../identity/instant.ts';
import type { RunKind, UnitId } from '../identity/keys.ts';
import type { Problem } from '../policy/parse.ts';
import type { Settings } from '../policy/settings.ts';
import type { UnreadableReason } from '../policy/timestamp.ts';
import type { FailureClass } from '../ports/failure.ts';
import type { RunStatus, UnitState } from './lifecycle.ts';
import type { Outcome, OutcomeCounts } from './outcomes.ts';

/** Who works on a run. The epoch fences every write; the time only says when somebody else may try. */
export interface Lease {
  readonly owner: string;
  /** 0 where the lease was given back. */
  readonly until: EpochMillis;
  /** Grows by one with every taking. */
  readonly epoch: number;
}

/** Where discovery stands. Everything below `nextOrdinal` and `nextTally` is part of the plan, nothing else is. */
export interface Checkpoint {
  readonly nextOrdinal: number;
  readonly nextTally: number;
  /** Records in the slices below `nextOrdinal`. */
  readonly planned: number;
  /** By segment: the cursor to go on from, or `done`. A segment without an entry has not begun. */
  readonly cursors: Readonly<Record<string, SegmentCursor>>;
}

export type SegmentCursor = { readonly kind: 'at'; readonly cursor: string } | { readonly kind: 'done' };

export const NO_CHECKPOINT: Checkpoint = { nextOrdinal: 0, nextTally: 0, planned: 0, cursors: {} };

/** Totals at freeze. `discovered` = planned records + `held` + `overLimit`. */
export interface PlanTotals extends DigestChain {
  readonly discovered: number;
  readonly held: number;
  /** Due beyond the records per run: counted, not planned, found again next time. */
  readonly overLimit: number;
  /** Records in the state that the run looks for, due or not; null where discovery sees due records only. */
  readonly examined: number | null;
  /** Null where discovery goes through an index that leaves unreadable records out. */
  readonly unreadable: Readonly<Partial<Record<UnreadableReason, number>>> | null;
  readonly tenants: number;
  readonly oldest: EpochMillis | null;
  /** Write units that carrying out the plan should take on the record table. */
  readonly quotedWriteUnits: number;
}

/** How far the queue has confirmed. The chain's `batches` is the next ordinal to publish. */
export type Published = DigestChain;

/** Totals at close, made from the batch items. */
export interface ClosingTotals extends DigestChain {
  readonly outcomes: OutcomeCounts;
  readonly processed: number;
  readonly skipped: number;
  /** Records of units that a person gave up, and of units that a cancelled run left undone; part of `skipped`. */
  readonly abandoned: number;
  readonly cancelled: number;
  readonly remaining: number;
  readonly closedAt: EpochMillis;
}

export interface AuditHead {
  readonly count: number;
  readonly hash: string;
}

export interface RunItem {
  readonly runId: string;
  readonly policyId: string;
  readonly policyVersion: string;
  readonly scheduledTime: EpochMillis;
  /** Exclusive: a record exactly at the cutoff is kept. */
  readonly cutoff: EpochMillis;
  readonly kind: RunKind;
  readonly status: RunStatus;
  /** The policy as it was when the run was made; messages are judged against it. */
  readonly settings: Settings;
  readonly policyDigest: string;
  /** The schedule, or the ARN of the person who triggered it. */
  readonly startedBy: string;
  readonly createdAt: EpochMillis;
  readonly lease: Lease;
  readonly checkpoint: Checkpoint;
  readonly plan?: PlanTotals;
  readonly frozenAt?: EpochMillis;
  readonly published?: Published;
  readonly publishedAt?: EpochMillis;
  readonly closing?: ClosingTotals;
  readonly cancelledAt?: EpochMillis;
  /** Planning and publishing; the units carry their own. */
  readonly cost: Cost;
  /** What the run will cost in all, made when its plan was frozen; absent of runs frozen before there were quotes. */
  readonly quote?: Quote;
  /** What it did cost, made when it was closed. */
  readonly invoice?: Quote;
  /** Passes of the reconciler in a row that found both queues empty while units were unresolved. */
  readonly emptyPasses: number;
  readonly auditHead: AuditHead;
  /** Why the run is refused; empty otherwise. */
  readonly refusals: readonly Problem[];
  /** What a person should know of a run that went on all the same. */
  readonly notes: readonly RunNote[];
}

/**
 * `first_run`: the policy has no earlier complete or reported run. `empty_where_records_were`: not one record is in the
 * state that earlier runs found records in; the table may be the wrong one. `cap_would_refuse`: in report-only, a cap
 * that an enforcing run would trip. `cost_off_quote`: it did not cost what it was to cost.
 */
export interface RunNote {
  readonly note: 'first_run' | 'empty_where_records_were' | 'cap_would_refuse' | 'cost_off_quote';
  readonly message: string;
}

/** The parts of a run that a move may set. */
export type RunChange = Partial<
  Pick<
    RunItem,
    | 'checkpoint'
    | 'plan'
    | 'frozenAt'
    | 'published'
    | 'publishedAt'
    | 'closing'
    | 'cancelledAt'
    | 'cost'
    | 'quote'
    | 'invoice'
    | 'emptyPasses'
    | 'refusals'
    | 'notes'
    | 'settings'
    | 'policyDigest'
    | 'cutoff'
    | 'kind'
  > & { leaseUntil: EpochMillis }
>;

export interface SliceEntry {
  readonly key: string;
  readonly witness: string;
  /** Write units that the transition of this record should take, its indexes included. */
  readonly writeUnits: number;
}

/** The frozen list of one batch. */
export interface Slice {
  readonly runId: string;
  readonly ordinal: number;
  readonly epoch: number;
  readonly tenant: string;
  readonly entries: readonly SliceEntry[];
  readonly keysDigest: string;
  readonly digest: string;
}

/** What publishing needs to know of a slice. */
export type SliceHead = Pick<Slice, 'ordinal' | 'tenant' | 'keysDigest'> & { readonly records: number };

/** What discovery counted for one tenant. */
export interface TenantCounts {
  readonly discovered: number;
  readonly held: number;
  readonly planned: number;
  readonly overLimit: number;
  readonly oldest: EpochMillis | null;
}

/** What discovery counted between two checkpoints. */
export interface Tally {
  readonly runId: string;
  readonly number: number;
  readonly epoch: number;
  /** Records seen in the state that the run looks for. */
  readonly examined: number;
  readonly tenants: Readonly<Record<string, TenantCounts>>;
  readonly unreadable: Readonly<Partial<Record<UnreadableReason, number>>>;
}

/** The report of one tenant, written at freeze. */
export interface TenantReport extends TenantCounts {
  readonly runId: string;
  readonly tenant: string;
  readonly epoch: number;
}

/** Records of a unit that were not processed, by outcome, as positions in the slice. */
export type Exceptions = { readonly [K in Outcome]?: readonly number[] };

/** A unit's state. Under 1 KB, so that each change costs one write unit. */
export interface UnitItem {
  readonly runId: string;
  readonly unit: UnitId;
  readonly tenant: string;
  readonly records: number;
  readonly state: UnitState;
  /** Attempts in this generation. */
  readonly attempts: number;
  readonly generation: number;
  /** When this generation was planned, where that is not when the run was frozen: the age cap counts from it. */
  readonly bornAt?: EpochMillis;
  /** When the unit last entered its state. */
  readonly since: EpochMillis;
  /** The delivery that started it last; a write whose answer was lost is recognised by it. */
  readonly claim?: string;
  readonly startedAt?: EpochMillis;
  readonly finishedAt?: EpochMillis;
  readonly notBefore?: EpochMillis;
  readonly counts?: OutcomeCounts;
  /** Absent where the unit had too many to keep under 1 KB; the counts are always whole. */
  readonly exceptions?: Exceptions;
  /** Of the keys that the target returned outcomes for. */
  readonly keysDigest?: string;
  /** Positions of the records that became units of their own; they stay counted in this batch. */
  readonly split?: readonly number[];
  readonly reason?: string;
  /** Of the last failure; kept between attempts. */
  readonly errorClass?: string;
  readonly failureClass?: FailureClass;
  readonly requestId?: string;
  /** When its labelled copy was last put into the dead-letter queue, and of which generation. */
  readonly copiedAt?: EpochMillis;
  readonly copiedGeneration?: number;
  readonly cost?: Cost;
}

/** The parts of a unit that a move may set. */
export type UnitChange = Partial<
  Pick<
    UnitItem,
    | 'attempts'
    | 'generation'
    | 'bornAt'
    | 'claim'
    | 'startedAt'
    | 'finishedAt'
    | 'notBefore'
    | 'counts'
    | 'exceptions'
    | 'keysDigest'
    | 'split'
    | 'reason'
    | 'errorClass'
    | 'failureClass'
    | 'requestId'
    | 'copiedAt'
    | 'copiedGeneration'
    | 'cost'
  >
> &
  Pick<UnitItem, 'since'>;

/** A record split from its batch, as it is first put: for a person to decide. */
export type SplitUnit = Pick<UnitItem, 'unit' | 'tenant' | 'attempts' | 'since' | 'reason' | 'errorClass'> &
  Pick<UnitItem, 'failureClass' | 'requestId' | 'bornAt' | 'startedAt' | 'finishedAt'> & {
    readonly state: 'quarantined' | 'uncertain';
  };

/** A body that could not be read; the body itself is never stored. */
export interface BadMessage {
  readonly policyId: string;
  /** SHA-256 of the body, base64url. */
  readonly digest: string;
  readonly reason: string;
  readonly at: EpochMillis;
  /** Once a person gave it up; its message is then removed wherever it is met. */
  readonly abandonedAt?: EpochMillis;
}

/** One act of a person. */
export interface AuditEntry {
  readonly number: number;
  readonly act: string;
  readonly actor: string;
  readonly reason: string;
  readonly requestId: string;
  readonly units: readonly UnitId[];
  /** Digest of the selection that the units were taken from. */
  readonly selection?: string;
  readonly at: EpochMillis;
  readonly previousHash: string;
  readonly hash: string;
  /** Attributes that are not of the kind that was written; they read as empty. Absent of an entry that is whole. */
  readonly damaged?: readonly string[];
}

/** Who paused a policy, and why. */
export interface Pause {
  readonly actor: string;
  readonly reason: string;
  readonly requestId: string;
  readonly at: EpochMillis;
}

/** A pause that is over. */
export interface PastPause {
  readonly from: EpochMillis;
  readonly until: EpochMillis;
}

/** The policy's switch. The guarantee of a pause; the event source mapping is only its economy. */
export interface Control {
  readonly pause: Pause | undefined;
  /** The latest `PAUSES_KEPT`, oldest first: time that no unit is to be held older for. */
  readonly pauses: readonly PastPause[];
  /** What is still to be done to the event source mapping; undefined where it is as it should be. */
  readonly intake: 'to-disable' | 'to-enable' | undefined;
  readonly auditHead: AuditHead | undefined;
}

export const NO_CONTROL: Control = { pause: undefined, pauses: [], intake: undefined, auditHead: undefined };

/** Older ones are forgotten; a unit that was held up by one of those counts as older than it is, and a person decides. */
export const PAUSES_KEPT = 20;

/** A unit as a selection names it: what arrives later, or comes back under another generation, is not in it. */
export interface SelectedUnit {
  readonly runId: string;
  readonly unit: UnitId;
  readonly generation: number;
}

/** What an act chose, frozen. Its digest is its name. */
export interface Selection {
  readonly policyId: string;
  /** What it was made for; no other act takes it. */
  readonly act: 'redrive' | 'abandon';
  readonly digest: string;
  readonly at: EpochMillis;
  /** Sorted by run, then by ordinal and position. */
  readonly units: readonly SelectedUnit[];
}
