import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { Ledger, Target, TargetCall } from '../../lib/core/ports/index.ts';
import type { World } from '../model/index.ts';

/** From the moment at which an act returned, until somebody asks for the opposite. */
interface Stop {
  readonly what: 'policy' | string;
  readonly from: EpochMillis;
  until: EpochMillis;
}

/** How long an answer to the question whether one may go on is believed. */
const BELIEVED_MILLIS = 5_000;

/** What people have stopped, by true time, and every target call that was made all the same. */
export class Stops {
  readonly #world: World;
  readonly #stops: Stop[] = [];
  readonly violations: string[] = [];
  /** Told of every target call at the moment at which its consumer makes it. */
  onTargetCall: (call: TargetCall) => void = () => {};
  resumes = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** `what`: `policy`, or the id of a run. */
  stopped(what: string): void {
    this.#stops.push({ what, from: this.#world.millis, until: Number.POSITIVE_INFINITY });
  }

  /** A resume begins, and from now on nothing is sure until the next pause. */
  goesOn(): void {
    this.resumes += 1;
    for (const stop of this.#stops) if (stop.what === 'policy') stop.until = Math.min(stop.until, this.#world.millis);
  }

  /**
   * The ports of one consumer, watched: a target call rests on the last question that was asked before it, and whoever
   * asked once a stop was in force must not go on. A host that sleeps between the two is not held against it.
   */
  watched(ledger: Ledger, target: Target): { readonly ledger: Ledger; readonly target: Target } {
    let asked: { readonly at: EpochMillis; readonly runId: string } | undefined;
    const readStops: Ledger['readStops'] = (policyId, runId) => {
      asked = { at: this.#world.millis, runId };
      return ledger.readStops(policyId, runId);
    };
    const apply: Target['apply'] = (call) => {
      if (asked === undefined) this.violations.push('a target call was made and nobody had asked whether it may be');
      else this.#judge(asked.at, asked.runId);
      this.onTargetCall(call);
      return target.apply(call);
    };
    return { ledger: over(ledger, { readStops }), target: over(target, { apply }) };
  }

  #judge(askedAt: EpochMillis, runId: string): void {
    const stop = this.#stops.find(
      ({ what, from, until }) =>
        (what === 'policy' || what === runId) && from + BELIEVED_MILLIS < askedAt && askedAt < until,
    );
    if (stop !== undefined) this.violations.push(`a target call of ${runId} was made while ${stop.what} was stopped`);
  }
}

function over<T extends object>(port: T, changes: Partial<T>): T {
  return new Proxy(port, {
    get: (target, name) => {
      const change: unknown = Reflect.get(changes, name);
      if (change !== undefined) return change;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
