import type { Mischief, World } from './world.ts';

export interface NewMessage {
  readonly body: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly group: string;
}

/** One stored copy of a message. */
export interface Copy extends NewMessage {
  readonly messageId: string;
  readonly sentAt: number;
  receiveCount: number;
  visibleAt: number;
  handle: string | undefined;
}

/** Storage of one standard queue on virtual time: visibility, receipt handles, retention from the first send. */
export class StandardQueue {
  readonly #world: World;
  readonly #retentionMillis: number;
  readonly #lost: Mischief;
  /** In the order in which they were sent. */
  readonly #copies = new Set<Copy>();
  readonly #handles = new Set<string>();
  #count = 0;

  /** `lost` is noted of every message that outlives the retention. */
  constructor(world: World, retentionMillis: number, lost: Mischief) {
    this.#world = world;
    this.#retentionMillis = retentionMillis;
    this.#lost = lost;
  }

  /** Returns the message id: a new one, or that of the message it goes on. Nobody receives it before its delay is over. */
  add(
    message: NewMessage,
    origin: Partial<Pick<Copy, 'messageId' | 'sentAt' | 'receiveCount'>> = {},
    delaySeconds = 0,
  ): string {
    this.#count += 1;
    const { body, labels, group } = message;
    const copy: Copy = {
      body,
      labels: { ...labels },
      group,
      messageId: origin.messageId ?? `message-${this.#count}-${this.#world.random.below(1e6)}`,
      sentAt: origin.sentAt ?? this.#world.millis,
      receiveCount: origin.receiveCount ?? 0,
      visibleAt: this.#world.millis + delaySeconds * 1000,
      handle: undefined,
    };
    this.#copies.add(copy);
    return copy.messageId;
  }

  copies(): Copy[] {
    for (const copy of this.#copies) {
      if (this.#world.millis - copy.sentAt < this.#retentionMillis) continue;
      this.#copies.delete(copy);
      this.#world.note(this.#lost);
    }
    return [...this.#copies];
  }

  visible(): Copy[] {
    return this.copies().filter((copy) => copy.visibleAt <= this.#world.millis);
  }

  /** True where a message that was sent before this one can be received and was not. */
  hasEarlier(copy: Copy): boolean {
    for (const other of this.#copies) {
      if (other === copy) return false;
      if (other.visibleAt <= this.#world.millis) return true;
    }
    return false;
  }

  inFlight(group: string): number {
    return this.copies().filter((copy) => copy.group === group && copy.visibleAt > this.#world.millis).length;
  }

  /** When the next hidden message comes back; undefined where none is hidden. */
  nextVisibleAt(): number | undefined {
    const hidden = this.copies().filter((copy) => copy.visibleAt > this.#world.millis);
    return hidden.length === 0 ? undefined : Math.min(...hidden.map((copy) => copy.visibleAt));
  }

  receive(copy: Copy, hideSeconds: number): string {
    this.#count += 1;
    copy.receiveCount += 1;
    copy.visibleAt = this.#world.millis + hideSeconds * 1000;
    copy.handle = `handle-${this.#count}`;
    this.#handles.add(copy.handle);
    return copy.handle;
  }

  /** Whether the handle is of this queue at all, whatever became of its message. */
  gave(handle: string): boolean {
    return this.#handles.has(handle);
  }

  hide(handle: string, seconds: number): 'hidden' | 'not-in-flight' {
    const copy = this.#byHandle(handle);
    if (copy === undefined || copy.visibleAt <= this.#world.millis) return 'not-in-flight';
    copy.visibleAt = this.#world.millis + seconds * 1000;
    return 'hidden';
  }

  remove(handle: string): void {
    const copy = this.#byHandle(handle);
    if (copy !== undefined) this.#copies.delete(copy);
  }

  drop(copy: Copy): void {
    this.#copies.delete(copy);
  }

  clear(): void {
    this.#copies.clear();
  }

  #byHandle(handle: string): Copy | undefined {
    return this.copies().find((copy) => copy.handle === handle);
  }
}
