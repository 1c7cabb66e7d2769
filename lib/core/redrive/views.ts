import type { Cost } from '../cost/cost.ts';
import type { UnitView } from '../views.ts';

/** Who paused a policy and why. */
export interface PauseView {
  readonly actor: string;
  readonly reason: string;
  readonly since: string;
  readonly requestId: string;
}

/** One quarantined unit as the open index shows it: perhaps a moment old. Instants are ISO-8601 in UTC. */
export interface OpenUnitView {
  readonly runId: string;
  readonly unit: string;
  readonly tenant: string;
  readonly state: 'quarantined' | 'uncertain';
  readonly records: number;
  readonly attempts: number;
  readonly generation: number;
  readonly reason: string | null;
  readonly errorClass: string | null;
  readonly failureClass: string | null;
  readonly since: string;
  readonly ageHours: number;
  /** When the dead-letter queue drops its message at the latest; null where no copy is known. The ledger entry stays. */
  readonly messageExpiresAt: string | null;
}

/** Units that wait for the same reason. */
export interface QuarantineGroup {
  readonly reason: string | null;
  readonly errorClass: string | null;
  readonly failureClass: string | null;
  readonly units: number;
  readonly records: number;
  readonly oldest: string;
  readonly newest: string;
  /** When the dead-letter queue drops the first of their messages at the latest. */
  readonly firstMessageExpiresAt: string | null;
}

export interface BadMessageView {
  readonly digest: string;
  readonly reason: string;
  readonly at: string;
  readonly abandonedAt: string | null;
}

/** What waits for a person, as `quarantine --json` prints it. */
export interface QuarantineView {
  readonly paused: PauseView | null;
  readonly units: number;
  readonly records: number;
  readonly groups: readonly QuarantineGroup[];
  /** The oldest ones, as many as were asked for. */
  readonly listed: readonly OpenUnitView[];
  /** True where there are more units than were counted. */
  readonly truncated: boolean;
  /** Messages in each queue, as SQS estimates them. */
  readonly queues: { readonly work: number; readonly deadLetter: number };
  /** Of the whole policy, whatever the filter. */
  readonly badMessages: readonly BadMessageView[];
  /** True where there are more than are listed; they come up as those listed are given up. */
  readonly badMessagesTruncated: boolean;
}

/** A unit that an act chose. */
export interface SelectedUnitView {
  readonly runId: string;
  readonly unit: string;
  readonly generation: number;
}

/** Why quarantined units that matched the filter, or that a selection names, were not moved, in units. */
export interface LeftOut {
  /** Failed for good, and not named by unit, reason or error class. */
  readonly permanent: number;
  /** At their last generation. */
  readonly generations: number;
  /** Of a run that was cancelled. */
  readonly cancelledRun: number;
}

/** What `redrive` or `abandon` did, or with a dry run would do. */
export interface ActView {
  readonly act: 'redrive' | 'abandon';
  readonly dryRun: boolean;
  /** Digest of the frozen selection; the real call can be held to it. */
  readonly selection: string;
  readonly selected: number;
  /** Of a dry run: all that were selected; else those that this call moved. */
  readonly units: readonly SelectedUnitView[];
  readonly moved: number;
  /** Selected, but no longer as the selection names them: somebody else, or an earlier call, had moved them. */
  readonly alreadyMoved: number;
  /** Selected and not looked at yet: call again with the same selection. */
  readonly left: number;
  /** Place in the selection for `from` of the next call; null where nothing is left. */
  readonly next: number | null;
  readonly leftOut: LeftOut;
  /** True where more matched than one selection holds. */
  readonly truncated: boolean;
  /** Messages put into the work queue by this call. */
  readonly published: number;
  /** Copies removed from the dead-letter queue by this call. */
  readonly deleted: number;
  /**
   * When the last of the spaced units is due; pass it as `startAt` to go on at the same rate. Of a dry run: when it would
   * be if it were no dry run. Null without a rate.
   */
  readonly paceEndsAt: string | null;
}

/** What became of a message that could not be read. */
export interface MessageAbandonedView {
  readonly act: 'abandon';
  readonly message: string;
  readonly deleted: number;
}

/** The policy's switch after `pause` or `resume`. */
export interface SwitchView {
  readonly act: 'pause' | 'resume';
  readonly policyId: string;
  /** `already`: it was so before; by whom stands in `paused`. */
  readonly result: 'done' | 'already';
  readonly paused: PauseView | null;
  /** Whether the event source mapping follows; where it does not yet, the reconciler sees to it. */
  readonly intake: 'settled' | 'pending';
  /** Messages put into the work queue by a resume. */
  readonly published: number;
}

export interface CancelView {
  readonly act: 'cancel';
  readonly runId: string;
  readonly result: 'done' | 'already';
  /** Units whose items were closed by this call; those never started have no item and count by their run. */
  readonly closedUnits: number;
}

/** One entry of an audit trail. */
export interface AuditEntryView {
  /** Null where the item's key is no entry's. */
  readonly number: number | null;
  readonly act: string;
  readonly actor: string;
  readonly reason: string;
  /** Null where the entry no longer says it. */
  readonly at: string | null;
  readonly requestId: string;
  readonly units: readonly string[];
  readonly selection: string | null;
  readonly hash: string;
  /** Names of its attributes that are not of the kind that was written: gone, of another type, or added. */
  readonly damaged: readonly string[];
  /** The CloudTrail event that should confirm it, and the id to look for; null where there is only a time. */
  readonly confirmedBy: { readonly event: 'Invoke' | 'StartMessageMoveTask'; readonly requestId: string | null };
}

/** What is wrong with a trail, and with which entry; `number` is null where an entry is missing at the end. */
export interface AuditFault {
  readonly number: number | null;
  readonly fault:
    | 'altered'
    | 'missing'
    | 'not-chained'
    | 'cut-off'
    | 'beyond-head'
    | 'selection-missing'
    | 'selection-altered';
  readonly message: string;
}

/** A trail and whether it holds, as `audit --json` prints it. */
export interface AuditView {
  readonly scope: string;
  readonly head: { readonly count: number; readonly hash: string };
  readonly entries: readonly AuditEntryView[];
  readonly faults: readonly AuditFault[];
  readonly verified: boolean;
}

/** One unit with everything that a person needs to decide, as `inspect --json` prints it. */
export interface InspectView {
  readonly unit: UnitView;
  readonly run: {
    readonly runId: string;
    readonly status: string;
    readonly kind: string;
    readonly mode: string;
    readonly policyVersion: string;
    readonly cutoff: string;
  };
  readonly ageHours: number;
  /** When the dead-letter queue drops its message at the latest; null where no copy is known. */
  readonly messageExpiresAt: string | null;
  readonly cost: Cost;
  /** Positions of this batch that became units of their own. */
  readonly split: readonly number[];
  /** The first keys of its records, in the plan's spelling. */
  readonly keys: readonly string[];
  readonly keysTruncated: boolean;
  /** What a redrive would meet; `allowed` needs no more than a name and a reason. */
  readonly redrive: {
    readonly verdict: 'allowed' | 'name-it' | 'beyond-generations' | 'run-cancelled' | 'not-quarantined';
    readonly message: string;
  };
  /** The acts that name it, oldest first. */
  readonly acts: readonly AuditEntryView[];
}
