import { REMAINING_TIME_MARGIN_MILLIS } from '../policy/budget.ts';
import type { Admission, Clock, Deadline } from '../ports/index.ts';
import type { Pace } from './apply.ts';
import type { Work } from './judge.ts';

/** Whether a unit may start now; `whenever` where the policy sets no rate. */
export type Admittance =
  | { readonly kind: 'whenever' }
  | { readonly kind: 'paced'; readonly pace: Pace }
  | { readonly kind: 'later'; readonly afterSeconds: number };

const LONGEST_DELAY_SECONDS = 900;

/**
 * Asks for a unit's share of the records per second. A share is taken only where the rest of this invocation covers it;
 * else the unit waits in the queue, which spends no attempt.
 */
export async function admit(
  ports: { readonly admission: Admission; readonly clock: Clock },
  { run, slice }: Work,
  deadline: Deadline,
): Promise<Admittance> {
  const { recordsPerSecond } = run.settings;
  if (recordsPerSecond === null) return { kind: 'whenever' };
  const now = ports.clock.now();
  const records = slice.entries.length;
  const lasts = (records / recordsPerSecond) * 1000;
  const latest = now + deadline.remainingMillis() - lasts - 2 * REMAINING_TIME_MARGIN_MILLIS;
  const dimension = { name: 'records', perSecond: recordsPerSecond };
  const admitted = await ports.admission.acquire([dimension], records, now, latest);
  if (admitted.kind === 'granted') return { kind: 'paced', pace: admitted };
  const wait = Math.ceil((admitted.until - now) / 1000);
  return { kind: 'later', afterSeconds: Math.min(LONGEST_DELAY_SECONDS, Math.max(1, wait)) };
}
