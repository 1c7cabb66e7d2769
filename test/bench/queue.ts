import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { answeredBy } from './in-process.ts';

export const WORK_QUEUE = 'http://in-process.invalid/work';
export const DEAD_LETTER_QUEUE = 'http://in-process.invalid/dead-letters';

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
}

interface Message {
  readonly messageId: string;
  readonly body: string;
  receiveCount: number;
}

/** What is read of a request: the dead-letter queue stays empty here. */
interface Input {
  readonly QueueUrl?: string;
  readonly Entries?: readonly Entry[];
  readonly MessageBody?: string;
}

/** Of the event source mapping. */
export interface Intake {
  readonly most: number;
  readonly consumers: number;
}

type Handler = (event: SQSEvent) => Promise<ReadonlySet<string>>;

/**
 * A work queue within this process, the same for every contender: senders talk to it through the real SQS client; what
 * the event source mapping does is done to it directly. A message that was not deleted comes again at once.
 */
export class BenchQueue {
  readonly #latencyMillis: number;
  readonly #ready: Message[] = [];
  #requests = 0;
  #largestBodyBytes = 0;

  /** Milliseconds that each call of a client takes longer than it does in this process. */
  constructor(latencyMillis = 0) {
    this.#latencyMillis = latencyMillis;
  }

  /** Requests so far that AWS bills: of clients and of the event source mapping. */
  get requests(): number {
    return this.#requests;
  }

  get largestBodyBytes(): number {
    return this.#largestBodyBytes;
  }

  /** Bodies of the messages that wait. */
  get bodies(): readonly string[] {
    return this.#ready.map(({ body }) => body);
  }

  client(): SQSClient {
    const answer = async (operation: string, input: Input) => {
      this.#requests += 1;
      if (this.#latencyMillis > 0) await wait(this.#latencyMillis);
      return this.#answer(operation, input);
    };
    return new SQSClient({ ...answeredBy(answer), credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
  }

  /** Puts messages in without a sender, as a queue does that delivers them again. */
  putBack(bodies: readonly string[]): void {
    this.#ready.push(...bodies.map(newMessage));
  }

  /**
   * Hands all messages over to consumers that work side by side, at most so many to each at a time, until none is left.
   * `handler` returns the ids of those that it failed, as an event source mapping wants it. Returns the number of events.
   */
  async drain({ most, consumers }: Intake, handler: Handler): Promise<number> {
    const events = await Promise.all(Array.from({ length: consumers }, () => this.#consume(most, handler)));
    return events.reduce((sum, count) => sum + count, 0);
  }

  async #consume(most: number, handler: Handler): Promise<number> {
    for (let events = 0; ; events += 1) {
      this.#requests += 1;
      const messages = this.#ready.splice(0, most);
      if (messages.length === 0) return events;
      for (const message of messages) message.receiveCount += 1;
      const failed = await handler({ Records: messages.map(recordOf) });
      if (failed.size < messages.length) this.#requests += 1;
      this.#ready.push(...messages.filter(({ messageId }) => failed.has(messageId)));
    }
  }

  #answer(operation: string, { QueueUrl, Entries = [], MessageBody = '' }: Input): object {
    switch (operation) {
      case 'SendMessage':
        return this.#take(MessageBody);
      case 'SendMessageBatch':
        return { Successful: Entries.map(({ Id, MessageBody }) => ({ Id, ...this.#take(MessageBody) })), Failed: [] };
      case 'GetQueueAttributes': {
        const waiting = QueueUrl === WORK_QUEUE ? this.#ready.length : 0;
        return { Attributes: { ApproximateNumberOfMessages: String(waiting) } };
      }
      case 'ReceiveMessage':
      case 'ChangeMessageVisibility':
        return {};
      default:
        throw new Error(`The queue of the bench does not know ${operation}.`);
    }
  }

  #take(body: string): { readonly MessageId: string; readonly MD5OfMessageBody: string } {
    const message = newMessage(body);
    this.#ready.push(message);
    this.#largestBodyBytes = Math.max(this.#largestBodyBytes, Buffer.byteLength(body));
    return { MessageId: message.messageId, MD5OfMessageBody: createHash('md5').update(body).digest('hex') };
  }
}

function newMessage(body: string): Message {
  return { messageId: randomUUID(), body, receiveCount: 0 };
}

function recordOf({ messageId, body, receiveCount }: Message): SQSRecord {
  return {
    messageId,
    receiptHandle: messageId,
    body,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: '0',
      SenderId: 'bench',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:bench',
    awsRegion: 'us-east-1',
  };
}
