import type { World } from '../model/index.ts';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** Processes side by side on virtual time: the clock moves only while all of them sleep, to the first that wakes. */
export class Timeline {
  readonly #world: World;
  readonly #sleepers: Sleeper[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  async drive(processes: readonly (() => Promise<unknown>)[]): Promise<void> {
    const alone = this.#world.sleep;
    this.#world.sleep = (millis) => this.sleep(millis);
    let open = processes.length;
    const running = processes.map((process) => process().finally(() => open--));
    while (open > 0) {
      // Everything between two sleeps runs in microtasks, which are all done when an immediate runs.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (open > 0) this.#wakeFirst();
    }
    await Promise.all(running);
    this.#world.sleep = alone;
  }

  sleep(millis: number): Promise<void> {
    return new Promise((wake) => this.#sleepers.push({ until: this.#world.millis + millis, wake }));
  }

  #wakeFirst(): void {
    const [first] = this.#sleepers.toSorted((a, b) => a.until - b.until);
    if (first === undefined) throw new Error('every process waits for something other than time');
    this.#sleepers.splice(this.#sleepers.indexOf(first), 1);
    if (first.until > this.#world.millis) this.#world.advance(first.until - this.#world.millis);
    first.wake();
  }
}
