import { formatInstant } from '../identity/instant.ts';
import type { RunNote } from '../ledger/items.ts';
import type { UnitState } from '../ledger/lifecycle.ts';
import type { Problem } from '../policy/parse.ts';
import type { Settings } from '../policy/settings.ts';
import type { UnitView, WindowView } from '../views.ts';
import type { Finding } from './finding.ts';
import type { RecordNow } from './record-now.ts';

/** What happened to one record in one run, as `explain --json` prints it. Instants are ISO-8601 in UTC. */
export interface ExplainView {
  readonly runId: string;
  readonly status: string;
  /** In the record source's own spelling. */
  readonly key: string;
  readonly finding: Finding;
  /** Why the run is refused; empty otherwise. */
  readonly refusals: readonly Problem[];
  readonly notes: readonly RunNote[];
  /** Due records that the run could not take, for its limit; null before the plan is made. */
  readonly overLimit: number | null;
  readonly rule: {
    readonly policyId: string;
    readonly policyVersion: string;
    readonly policyDigest: string;
    readonly kind: string;
    readonly scheduledTime: string;
    /** State and timestamp by which records were due; those of the expiry where the run deletes. */
    readonly state: string;
    readonly timestampAttribute: string;
    /** Exclusive. */
    readonly cutoff: string;
    /** Null where everything before the cutoff is due. */
    readonly window: WindowView | null;
    /** All settings as they were when the run was made. */
    readonly settings: Settings;
  };
  /** The key of this run's change of the record; an expiry leaves it there, a deletion leaves nothing. */
  readonly operationKey: string;
  /** Null where the record is in no slice of the plan. */
  readonly planned: PlannedView | null;
  readonly recordNow: RecordNowView;
}

export interface PlannedView {
  readonly batch: string;
  /** Within the batch, from 0. */
  readonly position: number;
  readonly batchRecords: number;
  readonly tenant: string;
  /** What the record must still have, as the record source spells it: its timestamp, and more for a deletion. */
  readonly witness: string;
  readonly writeUnits: number;
  /** False where the frozen list no longer matches its own digest. */
  readonly sliceIntact: boolean;
  readonly state: UnitState;
  /** Null where no delivery has begun it yet. */
  readonly unit: UnitView | null;
  /** True where the target answered for exactly the planned records of the batch; null before it is committed. */
  readonly accountedFor: boolean | null;
  /** What people did to the batch, oldest first. */
  readonly acts: readonly ActView[];
}

export interface ActView {
  readonly act: string;
  readonly actor: string;
  readonly reason: string;
  readonly requestId: string;
  /** Null where the audit entry no longer says it. */
  readonly at: string | null;
}

export interface RecordNowView {
  readonly kind: RecordNow['kind'];
  /** The error's code, where the record could not be read. */
  readonly error: string | null;
  readonly state: string | null;
  /** The one by which the record is due: the time of expiry where the run deletes. */
  readonly timestamp: string | null;
  readonly unreadable: string | null;
  readonly heldBy: readonly string[];
  readonly operationKey: string | null;
  readonly carriesOurKey: boolean;
}

export function viewRecordNow(now: RecordNow, carriesOurKey: boolean): RecordNowView {
  const record = now.kind === 'present' ? now.record : undefined;
  const timestamp = record?.timestamp;
  return {
    kind: now.kind,
    error: now.kind === 'unreachable' ? now.error : null,
    state: record?.state ?? null,
    timestamp: timestamp?.kind === 'readable' ? formatInstant(timestamp.millis) : null,
    unreadable: timestamp?.kind === 'unreadable' ? timestamp.reason : null,
    heldBy: record?.heldBy ?? [],
    operationKey: record?.operationKey ?? null,
    carriesOurKey,
  };
}
