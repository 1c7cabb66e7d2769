import { type Cost, NO_COST } from '../../lib/core/cost/cost.ts';
import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import {
  type Deadline,
  type Intake,
  type Log,
  type Meter,
  type Resumer,
  type Resumption,
  TERMINAL_EVENTS,
} from '../../lib/core/ports/index.ts';
import type { World } from './world.ts';

/** Counts what it is told. */
export class MemoryMeter implements Meter {
  #cost: Cost = NO_COST;

  count(cost: Partial<Cost>): void {
    this.#cost = {
      calls: this.#cost.calls + (cost.calls ?? 0),
      readUnits: this.#cost.readUnits + (cost.readUnits ?? 0),
      writeUnits: this.#cost.writeUnits + (cost.writeUnits ?? 0),
    };
  }

  take(): Cost {
    const taken = this.#cost;
    this.#cost = NO_COST;
    return taken;
  }
}

export interface LoggedEvent {
  readonly level: 'info' | 'warn' | 'error';
  readonly name: string;
  readonly fields: Readonly<Record<string, string | number | null>>;
}

export class MemoryLog implements Log {
  readonly events: LoggedEvent[] = [];

  /** What outlives the routine events. */
  get terminal(): readonly LoggedEvent[] {
    return this.events.filter(({ name }) => TERMINAL_EVENTS.has(name));
  }

  named(name: string): readonly LoggedEvent[] {
    return this.events.filter((event) => event.name === name);
  }

  event(level: LoggedEvent['level'], name: string, fields: LoggedEvent['fields']): void {
    this.events.push({ level, name, fields: { ...fields } });
  }
}

/** The event source mapping: while it is off, no message of the queue reaches a consumer. */
export class MemoryIntake implements Intake {
  state: 'on' | 'off' = 'on';

  async set(state: 'on' | 'off'): Promise<void> {
    this.state = state;
  }
}

/** Remembers which dispatches were asked for; the test starts them. */
export class MemoryResumer implements Resumer {
  readonly requested: Resumption[] = [];

  async resume({ runId, scheduledTime }: Resumption): Promise<void> {
    this.requested.push({ runId, scheduledTime });
  }

  /** What was asked for since the last call, in order. */
  taken(): Resumption[] {
    return this.requested.splice(0);
  }
}

/** What is left of an invocation of so long that begins now, by the true time. */
export class MemoryDeadline implements Deadline {
  readonly #world: World;
  readonly #end: EpochMillis;

  constructor(world: World, timeoutMillis: number) {
    this.#world = world;
    this.#end = world.millis + timeoutMillis;
  }

  remainingMillis(): number {
    return this.#end - this.#world.millis;
  }
}
