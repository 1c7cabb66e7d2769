import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import {
  DEAD_LETTER_RETENTION_DAYS,
  MAX_RECEIVE_COUNT,
  WORK_QUEUE_RETENTION_DAYS,
} from '../../lib/core/policy/budget.ts';
import {
  type DeadLetter,
  type OutgoingMessage,
  PortError,
  type Queue,
  type QueueDepth,
  SEND_BATCH_LIMIT,
  type SendFailure,
  type SendResult,
} from '../../lib/core/ports/index.ts';
import { type Copy, type NewMessage, StandardQueue } from './standard-queue.ts';
import type { World } from './world.ts';

export interface QueueOptions {
  readonly visibilitySeconds: number;
  readonly maxReceiveCount: number;
  /** Copies of every message that is sent: 2 delivers everything twice. */
  readonly copies: number;
  /** `fair`: groups with the fewest messages in flight come first. */
  readonly order: 'random' | 'fair';
  /** Chance that an entry comes back as failed and was not sent (pitfall P27). */
  readonly entryFails: number;
  /** Chance that an entry comes back as failed although it was sent. */
  readonly entryFailsSent: number;
  /** Chance that an entry is in neither list; whether it was sent is drawn too. */
  readonly entryMissing: number;
  /** Chance that a depth is read as zero. */
  readonly depthReadsZero: number;
  /** Chance that one deletion of several is not confirmed; whether it was done is drawn too. */
  readonly deleteUnconfirmed: number;
  /** Chance that a message is not let go and shows only when its hiding ends. */
  readonly releaseFails: number;
  /** Chance that a receive of dead letters finds nothing although some are there. */
  readonly receivesNothing: number;
}

const DEFAULTS: QueueOptions = {
  visibilitySeconds: 60,
  maxReceiveCount: MAX_RECEIVE_COUNT,
  copies: 1,
  order: 'random',
  entryFails: 0,
  entryFailsSent: 0,
  entryMissing: 0,
  depthReadsZero: 0,
  deleteUnconfirmed: 0,
  releaseFails: 0,
  receivesNothing: 0,
};

const BODY_LIMIT_BYTES = 512;
const LONGEST_HIDING_SECONDS = 43_200;
const LONGEST_DELAY_SECONDS = 900;
const ATTRIBUTE_LIMIT = 10;

/** One receipt of a message by the consumer. */
export interface Delivery {
  readonly messageId: string;
  readonly handle: string;
  readonly body: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly group: string;
  readonly receiveCount: number;
  readonly sentAt: number;
}

/** Work queue and dead-letter queue: at least once, in any order, for so long. */
export class MemoryQueue implements Queue {
  readonly work: StandardQueue;
  readonly deadLetters: StandardQueue;
  /** Bodies and groups in the order in which sends took effect, retries included. */
  readonly sent: NewMessage[] = [];
  /** Called with every message whose send takes effect. */
  onSent: (message: NewMessage) => void = () => {};
  /** Called with every delivery that is acknowledged, before it takes effect. */
  onAcknowledge: (delivery: Delivery) => void = () => {};
  readonly #world: World;
  readonly #delivered = new Set<string>();
  #options: QueueOptions;

  constructor(world: World, options: Partial<QueueOptions> = {}) {
    this.#world = world;
    this.#options = { ...DEFAULTS, ...options };
    const lost = 'message outlived the work queue';
    this.work = new StandardQueue(world, WORK_QUEUE_RETENTION_DAYS * DAY_MILLIS, lost);
    const expired = 'message outlived the dead-letter queue';
    this.deadLetters = new StandardQueue(world, DEAD_LETTER_RETENTION_DAYS * DAY_MILLIS, expired);
  }

  async send(messages: readonly OutgoingMessage[]): Promise<SendResult> {
    if (messages.length < 1 || messages.length > SEND_BATCH_LIMIT) throw refused('send', 'BatchEntryCount');
    if (new Set(messages.map((message) => message.id)).size !== messages.length) {
      throw refused('send', 'BatchEntryIdsNotDistinct');
    }
    const { random } = this.#world;
    const sent: string[] = [];
    const failed: SendFailure[] = [];
    for (const message of messages) {
      const wrong = bodyFault(message.body) ?? delayFault(message.delaySeconds);
      if (wrong !== undefined) failed.push({ id: message.id, code: wrong, fault: 'sender' });
      else if (random.chance(this.#options.entryFails)) {
        failed.push({ id: message.id, code: 'ServiceUnavailable', fault: 'service' });
        this.#world.note('send entry failed');
      } else if (random.chance(this.#options.entryFailsSent)) {
        failed.push({ id: message.id, code: 'InternalError', fault: 'service' });
        this.#world.note('send entry failed but was sent');
        this.#enqueue(message);
      } else if (random.chance(this.#options.entryMissing)) {
        this.#world.note('send entry in neither list');
        if (random.chance(0.5)) this.#enqueue(message);
      } else {
        sent.push(message.id);
        this.#enqueue(message);
      }
    }
    return { sent: random.shuffled(sent), failed };
  }

  /** Up to `max` visible messages in no order. A message received too often goes to the dead letters unlabelled. */
  async receive(max: number): Promise<readonly Delivery[]> {
    const candidates = this.#world.random.shuffled(this.work.visible());
    if (this.#options.order === 'fair') {
      const inFlight = (copy: Copy) => this.work.inFlight(copy.group);
      candidates.sort((a, b) => inFlight(a) - inFlight(b));
    }
    const deliveries: Delivery[] = [];
    for (const copy of candidates) {
      if (deliveries.length >= max) break;
      if (copy.receiveCount >= this.#options.maxReceiveCount) this.#moveToDeadLetters(copy);
      else deliveries.push(this.#deliver(copy));
    }
    return deliveries;
  }

  /** Deletes the message where the handle is that of its last receipt; an older handle does nothing, silently. */
  async acknowledge(delivery: Delivery): Promise<void> {
    this.onAcknowledge(delivery);
    this.work.remove(delivery.handle);
  }

  async delay(handle: string, seconds: number): Promise<void> {
    if (seconds < 0 || seconds > LONGEST_HIDING_SECONDS) throw refused('delay', 'InvalidParameterValue');
    if (!this.work.gave(handle)) throw refused('delay', 'ReceiptHandleIsInvalid');
    if (this.work.hide(handle, seconds) === 'not-in-flight') throw refused('delay', 'MessageNotInflight');
  }

  async sendDeadLetter(body: string, labels: Readonly<Record<string, string>>, group: string): Promise<void> {
    // A label without a value is none: SQS would refuse it.
    const present = Object.entries(labels).filter(([, value]) => value !== '');
    if (present.length > ATTRIBUTE_LIMIT) throw refused('sendDeadLetter', 'InvalidParameterValue');
    if (bodyFault(body) === 'InvalidMessageContents') throw refused('sendDeadLetter', 'InvalidMessageContents');
    this.deadLetters.add({ body, labels: Object.fromEntries(present), group });
  }

  async receiveDeadLetters(hideSeconds: number): Promise<readonly DeadLetter[]> {
    if (this.#world.random.chance(this.#options.receivesNothing)) return [];
    const copies = this.#world.random.shuffled(this.deadLetters.visible()).slice(0, SEND_BATCH_LIMIT);
    return copies.map((copy) => ({
      messageId: copy.messageId,
      body: copy.body,
      labels: copy.labels,
      sentAt: copy.sentAt,
      handle: this.deadLetters.receive(copy, hideSeconds),
    }));
  }

  async deleteDeadLetters(handles: readonly string[]): Promise<readonly string[]> {
    refuseWrongCount('deleteDeadLetters', handles);
    const { random } = this.#world;
    return handles.filter((handle) => {
      // One that is no longer the last, or whose message is gone, is confirmed and does nothing.
      if (!this.deadLetters.gave(handle)) return true;
      const unconfirmed = random.chance(this.#options.deleteUnconfirmed);
      if (unconfirmed) this.#world.note('deletion not confirmed');
      if (!unconfirmed || random.chance(0.5)) this.deadLetters.remove(handle);
      return unconfirmed;
    });
  }

  async releaseDeadLetters(handles: readonly string[]): Promise<void> {
    refuseWrongCount('releaseDeadLetters', handles);
    for (const handle of handles) {
      if (!this.#world.random.chance(this.#options.releaseFails)) this.deadLetters.hide(handle, 0);
    }
  }

  async depth(): Promise<QueueDepth> {
    const depth = { work: this.work.copies().length, deadLetter: this.deadLetters.copies().length };
    if (!this.#world.random.chance(this.#options.depthReadsZero)) return depth;
    if (depth.work + depth.deadLetter > 0) this.#world.note('queue depth read as zero');
    return { work: 0, deadLetter: 0 };
  }

  /** Ends all failures that are drawn by chance; messages still come in any order and more than once. */
  calm(): void {
    const { visibilitySeconds, maxReceiveCount, copies, order } = this.#options;
    this.#options = { ...DEFAULTS, visibilitySeconds, maxReceiveCount, copies, order };
  }

  /** Loses every message of the work queue, as a purge does. */
  purge(): void {
    this.work.clear();
  }

  /** Loses every dead letter, as a purge of that queue does. */
  purgeDeadLetters(): void {
    this.deadLetters.clear();
  }

  /** A person moves dead letters back in the console: new id, new send time, body and labels kept (pitfall P40). */
  moveBack(max: number): number {
    const moved = this.deadLetters.visible().slice(0, max);
    for (const copy of moved) {
      this.deadLetters.drop(copy);
      this.work.add({ body: copy.body, labels: copy.labels, group: copy.group });
    }
    return moved.length;
  }

  #enqueue({ body, group, delaySeconds }: OutgoingMessage): void {
    const message = { body, labels: {}, group };
    this.sent.push(message);
    this.onSent(message);
    const messageId = this.work.add(message, {}, delaySeconds);
    for (let copy = 1; copy < this.#options.copies; copy += 1) this.work.add(message, { messageId }, delaySeconds);
  }

  #deliver(copy: Copy): Delivery {
    if (this.#delivered.has(copy.body)) this.#world.note('message delivered again');
    this.#delivered.add(copy.body);
    if (this.work.hasEarlier(copy)) this.#world.note('message overtaken by a later one');
    const handle = this.work.receive(copy, this.#options.visibilitySeconds);
    const { messageId, body, labels, group, receiveCount, sentAt } = copy;
    return { messageId, handle, body, labels, group, receiveCount, sentAt };
  }

  /** Id and send time stay, so the retention of the dead letters counts from the first send (pitfall P58). */
  #moveToDeadLetters(copy: Copy): void {
    this.#world.note('receives spent');
    this.work.drop(copy);
    this.deadLetters.add(copy, copy);
  }
}

/** Pitfall P29: SQS takes the characters of XML 1.0 only; we allow ourselves printable ASCII and 512 bytes. */
function bodyFault(body: string): string | undefined {
  if (!/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd]+$/.test(body)) return 'InvalidMessageContents';
  return Buffer.byteLength(body) > BODY_LIMIT_BYTES || !/^[ -~]*$/.test(body) ? 'BodyNotAllowedByUs' : undefined;
}

function delayFault(seconds = 0): string | undefined {
  return seconds >= 0 && seconds <= LONGEST_DELAY_SECONDS ? undefined : 'InvalidParameterValue';
}

function refuseWrongCount(operation: string, handles: readonly string[]): void {
  const whole = handles.length >= 1 && handles.length <= SEND_BATCH_LIMIT;
  if (!whole) throw refused(operation, 'BatchEntryCount');
  if (new Set(handles).size !== handles.length) throw refused(operation, 'BatchEntryIdsNotDistinct');
}

function refused(operation: string, error: string): PortError {
  return new PortError(operation, { class: 'permanent', error });
}
