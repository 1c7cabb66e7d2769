import type { Settings } from '../policy/settings.ts';
import type { ReadTimestamp } from '../policy/timestamp.ts';

/** A record as it stands at this moment: what the policy names and nothing else of it. */
export interface RecordState {
  /** Null where the state attribute is missing or no text. */
  readonly state: string | null;
  /** The time of expiry where the policy deletes. */
  readonly timestamp: ReadTimestamp;
  /** What a plan would note of the record now, spelled as in the plan. */
  readonly witness: string;
  /** Undefined where the policy names a tenant attribute and the record has no readable one. */
  readonly tenant: string | undefined;
  /** Names of the attributes that hold it back; their values stay where they are. */
  readonly heldBy: readonly string[];
  readonly operationKey: string | null;
}

/**
 * What a look at the record table found. `not-a-key`: the table has no keys of this form. `unreachable`: it could not
 * be read, with the error's code.
 */
export type RecordNow =
  | { readonly kind: 'present'; readonly record: RecordState }
  | { readonly kind: 'absent' }
  | { readonly kind: 'not-a-key' }
  | { readonly kind: 'unreachable'; readonly error: string };

/** Reads one record, strongly consistent, for a person who asks about it. Never throws for what the table answers. */
export interface RecordLookup {
  lookUp(settings: Settings, key: string): Promise<RecordNow>;
}
