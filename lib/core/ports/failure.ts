/**
 * What a failure means, decided once at the adapter. `transient`: try again. `permanent`: trying again cannot help.
 * `deferred`: not now, and nobody's fault. `uncertain`: an effect may or may not have happened.
 */
export type FailureClass = 'transient' | 'permanent' | 'deferred' | 'uncertain';

export interface Failure {
  readonly class: FailureClass;
  /** The error's code or name, never its message: messages may quote record content. */
  readonly error: string;
  readonly requestId?: string;
  /** The service refused the call as a whole, so nothing came of it; absent where something may have. */
  readonly effect?: 'none';
  /** Code or name of the error beneath, such as `ECONNRESET`; never its message. */
  readonly cause?: string;
}

/** A port call that failed. The cause is for debugging and is never logged whole. */
export class PortError extends Error {
  readonly failure: Failure;

  constructor(operation: string, failure: Failure, cause?: unknown) {
    super(`${operation} failed: ${failure.error} (${failure.class})`, { cause });
    this.name = 'PortError';
    this.failure = failure;
  }
}

/** The failure behind anything thrown; what no adapter classified is transient, so that nothing is given up on it. */
export function failureOf(error: unknown): Failure {
  if (error instanceof PortError) return error.failure;
  return { class: 'transient', error: error instanceof Error ? error.name : typeof error };
}
