import { type Failure, PortError } from '../../lib/core/ports/index.ts';

/** One call of a port by a process. */
export interface Call {
  /** Over all processes, from 0. */
  readonly index: number;
  readonly process: string;
  /** Within its process, from 0. */
  readonly ordinal: number;
  /** `port.method`. */
  readonly name: string;
}

/** `crash`: the process ends here. `fail`: it sees a transient error. */
export type Fate = 'go' | 'crash' | 'fail';

/** What a test does to calls. `after` means that the effect has happened and the answer is lost. */
export interface Interference {
  /** Resolves when the call may begin; absent where every call begins at once. */
  readonly admit?: ((call: Omit<Call, 'index'>) => Promise<void>) | undefined;
  readonly fate: (call: Call, moment: 'before' | 'after') => Fate;
  /** What a call that fails tells; absent where it only matters that it does. */
  readonly failure?: ((call: Call, moment: 'before' | 'after') => Failure) | undefined;
}

export const NO_INTERFERENCE: Interference = { fate: () => 'go' };

export type Ended<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'crashed'; readonly call: string }
  | { readonly kind: 'failed'; readonly error: unknown };

// Not calls to another machine: nothing can be lost on the way.
const LOCAL = new Set(['now', 'sleep', 'next', 'take', 'event', 'remainingMillis']);

/** A dead process never goes on: no catch, no finally, no timer of it runs. */
function never(): Promise<never> {
  return new Promise(() => {});
}

/** One invocation of a function: its port calls go through here, and it can die at any of them. */
export class Process {
  readonly name: string;
  readonly #crew: Crew;
  #calls = 0;
  #dead = false;
  #onDeath: (call: string) => void = () => {};
  readonly #died: Promise<string>;

  constructor(crew: Crew, name: string) {
    this.#crew = crew;
    this.name = name;
    this.#died = new Promise((resolve) => {
      this.#onDeath = resolve;
    });
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** The process ends at once, wherever it stands. */
  die(where = 'killed'): void {
    this.#dead = true;
    this.#onDeath(where);
  }

  /** The port as this process has it. */
  wrap<T extends object>(port: string, model: T): T {
    return new Proxy(model, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function' || typeof name !== 'string') return member;
        if (LOCAL.has(name)) return (...parameters: unknown[]) => Reflect.apply(member, target, parameters);
        return (...parameters: unknown[]) =>
          this.#call(`${port}.${name}`, parameters, async () => Reflect.apply(member, target, parameters));
      },
    });
  }

  async run<T>(body: (process: Process) => Promise<T>): Promise<Ended<T>> {
    this.#crew.living.add(this);
    const ended = body(this).then(
      (value): Ended<T> => ({ kind: 'done', value }),
      (error: unknown): Ended<T> => {
        if (isMistake(error)) throw error;
        return { kind: 'failed', error };
      },
    );
    const race = Promise.race([ended, this.#died.then((call): Ended<T> => ({ kind: 'crashed', call }))]);
    return race.finally(() => this.#crew.living.delete(this));
  }

  async #call(name: string, parameters: readonly unknown[], effect: () => Promise<unknown>): Promise<unknown> {
    if (this.#dead) return never();
    const here = { process: this.name, ordinal: this.#calls++, name };
    await this.#crew.interference.admit?.(here);
    if (this.#dead) return never();
    const call = this.#crew.begin(here);
    this.#crew.onCall?.(name, parameters);
    const before = this.#crew.interference.fate(call, 'before');
    if (before !== 'go') return this.#meet(before, call, 'before');
    const answer = await effect().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    if (this.#dead) return never();
    const after = this.#crew.interference.fate(call, 'after');
    return after === 'go' ? answer() : this.#meet(after, call, 'after');
  }

  #meet(fate: 'crash' | 'fail', call: Call, moment: 'before' | 'after'): Promise<never> {
    if (fate === 'fail') {
      const unsaid: Failure = { class: 'transient', error: moment === 'after' ? 'AnswerLost' : 'NotReached' };
      throw new PortError(call.name, this.#crew.interference.failure?.(call, moment) ?? unsaid);
    }
    this.die(`${moment} ${call.name}`);
    return never();
  }
}

/** A mistake in the code under test or in the test: not a failure that a run has to survive. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

/** All processes of one test, with their calls in the order in which they began. */
export class Crew {
  interference: Interference;
  readonly calls: Call[] = [];
  /** Processes that have neither ended nor died. */
  readonly living = new Set<Process>();
  /** Told of every call as it begins, with its arguments. */
  onCall: ((name: string, parameters: readonly unknown[]) => void) | undefined;

  constructor(interference: Interference = NO_INTERFERENCE) {
    this.interference = interference;
  }

  process(name: string): Process {
    return new Process(this, name);
  }

  begin(call: Omit<Call, 'index'>): Call {
    const begun = { ...call, index: this.calls.length };
    this.calls.push(begun);
    return begun;
  }
}
