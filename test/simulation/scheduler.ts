import { type EpochMillis, formatInstant } from '../../lib/core/identity/instant.ts';
import type { Stage } from './stage.ts';

/** EventBridge Scheduler: tells of each scheduled time at least once, but for the one that it misses. */
export class Scheduler {
  readonly #stage: Stage;
  readonly #left: EpochMillis[];
  readonly #fired: EpochMillis[] = [];
  readonly #places: readonly number[];

  /** `steps`: over so many the scheduled times are spread. */
  constructor(stage: Stage, steps: number) {
    this.#stage = stage;
    const { schedule } = stage.config;
    this.#left = [...schedule];
    this.#places = schedule.map((_time, place) => Math.floor((place * steps) / schedule.length));
  }

  /** Before a step: the clock comes to a scheduled time where it is one's turn. */
  before(step: number): void {
    for (const place of this.#places) if (place === step) this.#next();
  }

  /** Every time that is still to come. */
  *rest(): Generator<EpochMillis> {
    while (this.#left.length > 0) {
      const time = this.#reach();
      if (time !== undefined) yield time;
    }
  }

  /** Times that the dispatcher was told of. */
  get fired(): readonly EpochMillis[] {
    return this.#fired;
  }

  /** Told a second time of the same. */
  fireAgain(): void {
    const { random, met, isCrowded } = this.#stage;
    if (this.#fired.length === 0 || isCrowded) return;
    met.add('scheduler fired twice');
    this.#start(random.pick(this.#fired));
  }

  #next(): void {
    const time = this.#reach();
    if (time !== undefined) this.#start(time);
  }

  /** Undefined where nobody is told. */
  #reach(): EpochMillis | undefined {
    const { deployment, config } = this.#stage;
    const time = this.#left.shift();
    if (time === undefined) return undefined;
    this.#stage.advance(Math.max(0, time - deployment.world.millis));
    if (time === config.missed) {
      this.#stage.tell(() => `the scheduler misses ${formatInstant(time)}`);
      return undefined;
    }
    this.#fired.push(time);
    return time;
  }

  #start(time: EpochMillis): void {
    const invocation = this.#stage.invocation('dispatcher');
    this.#stage.tell(() => `the scheduler fires for ${formatInstant(time)} (${invocation.name})`);
    this.#stage.start(this.#stage.deployment.dispatch(time, invocation));
  }
}
