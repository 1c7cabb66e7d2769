import type { AuditEntry, Control, RunItem, UnitItem } from '../../../lib/core/ledger/items.ts';
import type { ActAnswer } from '../../../lib/core/redrive/act.ts';
import type { LedgerContents } from '../../model/ledger.ts';
import type { RecordWrite, Row } from '../../model/records.ts';

/** One thing that happened, with the true time at which it took effect. */
export type Happening = { readonly at: number } & (
  | { readonly kind: 'run'; readonly before: RunItem; readonly after: RunItem }
  | { readonly kind: 'unit'; readonly edge: string; readonly before: UnitItem | undefined; readonly after: UnitItem }
  | { readonly kind: 'control'; readonly policyId: string; readonly before: Control; readonly after: Control }
  | { readonly kind: 'audit'; readonly scope: string; readonly entry: AuditEntry }
  | { readonly kind: 'sent'; readonly body: string; readonly run: RunItem | undefined }
  /** `unit`, `run` and `badMessage` as the ledger had them at that moment. */
  | {
      readonly kind: 'acknowledged';
      readonly body: string;
      readonly run: RunItem | undefined;
      readonly unit: UnitItem | undefined;
      readonly badMessage: boolean;
    }
  /** A consumer calls the target; at the moment of the request, not of its effect. */
  | { readonly kind: 'call'; readonly operationKeys: readonly string[] }
  /** What became of a record by other hands than ours. */
  | { readonly kind: 'person'; readonly key: string; readonly row: Row | undefined }
  | { readonly kind: 'act'; readonly requestId: string; readonly answer: ActAnswer }
);

/** Names of a record's attributes and the values that matter, as the policy under test has them. */
export interface Vocabulary {
  readonly key: string;
  readonly tenant: string;
  readonly timestamp: string;
  readonly state: string;
  readonly eligible: string;
  readonly expired: string;
  readonly expiredAt: string;
  readonly operationKey: string;
  readonly holds: readonly string[];
}

/** Everything that the checker judges from: what is stored, what happened, and nothing that the core computes. */
export interface Evidence {
  readonly vocabulary: Vocabulary;
  readonly policyId: string;
  readonly control: Control;
  readonly ledger: LedgerContents;
  /** The record table at the beginning and now. */
  readonly firstRows: readonly Row[];
  readonly rows: readonly Row[];
  /** Writes of the pipeline in their order. */
  readonly writes: readonly RecordWrite[];
  readonly happenings: readonly Happening[];
  /** Events of the reconciler that say that a proof does not hold. */
  readonly mismatches: number;
}
