import { type EpochMillis, parseInstant } from '../identity/instant.ts';
import type { Problem } from '../policy/parse.ts';

/** What the schedule, a person or the reconciler asks of the dispatcher. */
export interface DispatchRequest {
  readonly scheduledTime: EpochMillis;
  /** `schedule`, `reconciler`, or the ARN of a person. Kept as who started the run. */
  readonly startedBy: string;
  /** The run to go on with, whatever version the policy has by now; absent: this version's run, made where there is none. */
  readonly runId?: string;
}

/** How the message of every refusal begins; a function's caller may have nothing else to tell it by. */
export const REFUSED = 'Refused, nothing was changed.';

/** A request or configuration that must not be carried out. Nothing was changed. */
export class RefusedRequest extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`${REFUSED} ${problems.map((problem) => problem.message).join(' ')}`);
    this.name = 'RefusedRequest';
    this.problems = problems;
  }
}

const FUTURE_TOLERANCE_MILLIS = 5 * 60_000;

function refuse(received: unknown, message: string): never {
  const text = received === undefined ? '(nothing)' : JSON.stringify(received);
  throw new RefusedRequest([{ parameter: 'scheduledTime', received: text, message: `${message} Received ${text}.` }]);
}

/**
 * Reads the dispatcher's event. The scheduled time must be an instant in whole seconds, not more than five minutes
 * ahead of `now`: a clock that runs ahead would make everything look due (pitfall P6).
 */
export function readDispatchRequest(event: unknown, now: EpochMillis): DispatchRequest {
  if (typeof event !== 'object' || event === null) {
    return refuse(event, 'The event must be an object with a scheduledTime.');
  }
  const { scheduledTime, startedBy, runId } = event as {
    scheduledTime?: unknown;
    startedBy?: unknown;
    runId?: unknown;
  };
  if (typeof scheduledTime !== 'string') return refuse(scheduledTime, 'scheduledTime must be text.');
  if (scheduledTime.startsWith('<')) {
    return refuse(
      scheduledTime,
      'scheduledTime is a placeholder that the scheduler did not fill in: invoke the function with a real time.',
    );
  }
  const millis = parseInstant(scheduledTime);
  if (millis === undefined || millis % 1000 !== 0) {
    return refuse(scheduledTime, 'scheduledTime must be a UTC instant in whole seconds, like 2026-01-01T00:00:00Z.');
  }
  if (millis > now + FUTURE_TOLERANCE_MILLIS) {
    return refuse(scheduledTime, 'scheduledTime is more than five minutes ahead of now.');
  }
  return {
    scheduledTime: millis,
    startedBy: typeof startedBy === 'string' && startedBy !== '' ? startedBy : 'schedule',
    ...(typeof runId === 'string' ? { runId } : {}),
  };
}
