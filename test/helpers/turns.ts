import type { Call } from './process.ts';

export type WaitingCall = Omit<Call, 'index'>;

/** Index of the waiting call that goes on next; below zero where none of them may. */
export type Choose = (waiting: readonly WaitingCall[]) => number;

/** Processes side by side, one port call at a time, in an order that the test chooses. */
export class Turns {
  readonly #waiting: { readonly call: WaitingCall; readonly go: () => void }[] = [];

  readonly admit = (call: WaitingCall): Promise<void> =>
    new Promise((resolve) => {
      this.#waiting.push({ call, go: resolve });
    });

  /** Waits until every process stands at a call or has ended; the calls that wait. */
  async pause(): Promise<readonly WaitingCall[]> {
    // Everything between two port calls runs in microtasks, which are all done when an immediate runs.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return this.#waiting.map(({ call }) => call);
  }

  release(index: number): void {
    this.#waiting.splice(index, 1)[0]?.go();
  }

  /** Lets calls of one process through until its next one has this ordinal, or it has no more. */
  async bringTo(process: string, ordinal: number): Promise<void> {
    for (;;) {
      const waiting = await this.pause();
      const place = waiting.findIndex((call) => call.process === process && call.ordinal < ordinal);
      if (place < 0) return;
      this.release(place);
    }
  }

  /** Lets calls through one by one until these processes have ended. */
  async drive(processes: readonly Promise<unknown>[], choose: Choose): Promise<void> {
    let open = processes.length;
    const ended = processes.map((process) => process.finally(() => open--));
    while (open > 0) {
      const waiting = await this.pause();
      const place = waiting.length === 0 ? -1 : choose(waiting);
      if (place >= 0) this.release(place);
      else if (open > 0) await this.#idle();
    }
    await Promise.all(ended);
  }

  #idleTurns = 0;

  async #idle(): Promise<void> {
    this.#idleTurns += 1;
    if (this.#idleTurns > IDLE_TURNS) throw new Error('no process can go on');
  }
}

const IDLE_TURNS = 1_000;

/** The process that has waited longest goes on. */
export const inTurn: Choose = () => 0;

/** Only this process goes on. */
export function only(process: string): Choose {
  return (waiting) => waiting.findIndex((call) => call.process === process);
}

/** The process that goes on is drawn. */
export function drawn(random: { below(bound: number): number }): Choose {
  return (waiting) => random.below(waiting.length);
}
