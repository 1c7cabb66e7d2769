import type { ReadTimestamp } from '../policy/timestamp.ts';

/** A record in the state that the run looks for, as discovery sees it: possibly stale, and only what the index carries. */
export interface DiscoveredRecord {
  /** The primary key in the source's canonical spelling. */
  readonly key: string;
  /** The value that must still be there at the write; opaque to core. */
  readonly witness: string;
  /** Undefined where the policy names a tenant attribute and the record has no readable one. */
  readonly tenant: string | undefined;
  readonly timestamp: ReadTimestamp;
  /** False also where the index does not carry the hold: the write's own condition decides. */
  readonly held: boolean;
  /** The operation key that the record carries; undefined where it has none or the run does not ask for it. */
  readonly operationKey: string | undefined;
  /** Write units that its transition should take. */
  readonly writeUnits: number;
}

export interface RecordPage {
  /** May be empty while more is to come (pitfall P11). */
  readonly records: readonly DiscoveredRecord[];
  /** Where the next page begins; undefined at the end, and only there. */
  readonly next: string | undefined;
}

/** Where records are found. Pages hold records in the eligible state only. */
export interface RecordSource {
  /** False where records without a readable timestamp are not seen at all. */
  readonly seesUnreadable: boolean;
  /** False where only due records are seen, so that nobody knows of how many they are a share. */
  readonly seesAll: boolean;
  /** Stable names of the parts that can be read side by side; together they cover everything once. */
  readonly segments: readonly string[];
  page(segment: string, cursor: string | undefined): Promise<RecordPage>;
}
