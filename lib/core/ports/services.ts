import type { Cost } from '../cost/cost.ts';
import type { EpochMillis } from '../identity/instant.ts';

/** The time, as this host believes it. */
export interface Clock {
  now(): EpochMillis;
  /** Waits; in tests, moves virtual time. */
  sleep(millis: number): Promise<void>;
}

/** Randomness for jitter and names of lease owners; never for the identity of work. */
export interface Random {
  /** 0 inclusive to 1 exclusive. */
  next(): number;
}

export type Verified = 'valid' | 'forged' | 'unknown-key';

/** Signs batch references with the current key of the ring and verifies with any key that is not too long retired. */
export interface Signer {
  /** Key id and MAC over the content, which is already in one canonical encoding. */
  sign(content: Uint8Array): Promise<{ readonly keyId: string; readonly mac: string }>;
  /** `unknown-key` after one refetch of the ring: transient, not forged. */
  verify(content: Uint8Array, keyId: string, mac: string): Promise<Verified>;
}

/** A small fixed shape, so that any store can remember it (pitfall P47). */
export interface RememberedResult {
  readonly state: 'committed';
  readonly keysDigest: string;
}

export type OnceResult =
  | { readonly kind: 'ran'; readonly result: RememberedResult }
  | { readonly kind: 'remembered'; readonly result: RememberedResult }
  | { readonly kind: 'in-progress-elsewhere' };

/**
 * The idempotency record of a delivery: a lease and the memory of the answer. It only saves work; it may fail to
 * remember, forget, or let two bodies run at once.
 */
export interface Idempotency {
  /** Throws what the body threw, and then remembers nothing. Other failures are PortErrors. */
  once(key: string, body: () => Promise<RememberedResult>): Promise<OnceResult>;
}

/** Counts calls and request units of every client of this process. */
export interface Meter {
  /** What was counted since the last call of `take`. */
  take(): Cost;
}

/** A run to go on with. Named by its id: the policy may have another version by now, and the scheduled time a second run. */
export interface Resumption {
  readonly runId: string;
  readonly scheduledTime: EpochMillis;
}

/** Starts the dispatcher for a run that lapsed or ran out of time. */
export interface Resumer {
  resume(run: Resumption): Promise<void>;
}

/** Whether the queue's messages reach the consumers at all: the event source mapping. */
export interface Intake {
  /** Says the same again without harm. */
  set(state: 'on' | 'off'): Promise<void>;
}

/** Ends long work in time. */
export interface Deadline {
  remainingMillis(): number;
}

export type LogLevel = 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | null>>;

/**
 * Structured events, one line each; identifiers and counts only, never record content. Events that `TERMINAL_EVENTS`
 * names are also kept where they outlive the routine ones.
 */
export interface Log {
  event(level: LogLevel, name: string, fields: LogFields): void;
}

/** Events that end something or that a person caused. The rest is routine. */
export const TERMINAL_EVENTS: ReadonlySet<string> = new Set([
  'unit_quarantined',
  'unit_uncertain',
  'message_quarantined',
  'unattributed_redrive',
  'refused',
  'run_closed',
  'run_cancelled',
  'run_overdue',
  'proof_mismatch',
  'dead_letters_missing',
  'audit',
  'audit_foreign_entry',
  'pause_not_audited',
]);
