import type { EpochMillis } from '../identity/instant.ts';
import type { PastPause } from '../ledger/items.ts';
import type { Clock, Ledger, Stops } from '../ports/index.ts';

/** What the gate says of a run at this moment. `pauses` is time in which no unit of the policy could be worked on. */
export type Passage =
  | { readonly kind: 'open'; readonly pauses: readonly PastPause[] }
  | { readonly kind: 'paused' }
  | { readonly kind: 'cancelled' };

/** An answer is believed for so long, in milliseconds. */
export const STOPS_BELIEVED_MILLIS = 5_000;

const RUNS_REMEMBERED = 100;

/**
 * Asked before every target call: whether a person has paused the policy or cancelled the run. One per process, so that
 * what it read a moment ago serves the next unit too. Throws PortError where the ledger does not answer; then nobody
 * knows, and nothing may be touched.
 */
export class Gate {
  readonly #ledger: Pick<Ledger, 'readStops'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #read = new Map<string, { readonly at: EpochMillis; readonly stops: Stops }>();

  constructor(ledger: Pick<Ledger, 'readStops'>, clock: Pick<Clock, 'now'>) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  async ask(policyId: string, runId: string): Promise<Passage> {
    const { control, runStatus } = await this.#stops(policyId, runId);
    if (runStatus === 'cancelled') return { kind: 'cancelled' };
    return control.pause === undefined ? { kind: 'open', pauses: control.pauses } : { kind: 'paused' };
  }

  async #stops(policyId: string, runId: string): Promise<Stops> {
    // The age of an answer counts from the question.
    const at = this.#clock.now();
    const known = this.#read.get(runId);
    if (known !== undefined && at >= known.at && at - known.at < STOPS_BELIEVED_MILLIS) return known.stops;
    const stops = await this.#ledger.readStops(policyId, runId);
    if (this.#read.size >= RUNS_REMEMBERED) this.#read.clear();
    this.#read.set(runId, { at, stops });
    return stops;
  }
}
