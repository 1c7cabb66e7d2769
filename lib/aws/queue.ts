import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { DeadLetter, OutgoingMessage, Queue, QueueDepth, SendResult } from '../core/ports/queue.ts';
import { assertBatch, SqsDeadLetters } from './dead-letters.ts';
import { portCall } from './errors.ts';

export interface QueuePorts {
  readonly client: SQSClient;
  readonly workQueueUrl: string;
  /** Absent in a function that has no business with dead letters. */
  readonly deadLetterQueueUrl?: string;
}

/** The work queue and its dead-letter queue on SQS. */
export class SqsQueue implements Queue {
  readonly #ports: QueuePorts;

  constructor(ports: QueuePorts) {
    this.#ports = ports;
  }

  async send(messages: readonly OutgoingMessage[]): Promise<SendResult> {
    assertBatch('send', messages);
    const Entries = messages.map(({ body, group, delaySeconds }, position) => ({
      // Letters, digits, `-` and `_` only; positions always are.
      Id: String(position),
      MessageBody: body,
      MessageGroupId: group,
      ...(delaySeconds === undefined ? {} : { DelaySeconds: delaySeconds }),
    }));
    const command = new SendMessageBatchCommand({ QueueUrl: this.#ports.workQueueUrl, Entries });
    const { Successful = [], Failed = [] } = await portCall('send', () => this.#ports.client.send(command));
    const idOf = (entry: { readonly Id?: string | undefined }) => messages[Number(entry.Id)]?.id ?? '';
    return {
      sent: Successful.map(idOf),
      failed: Failed.map((entry) => ({
        id: idOf(entry),
        code: entry.Code ?? 'Unknown',
        fault: entry.SenderFault === true ? 'sender' : 'service',
      })),
    };
  }

  async delay(handle: string, seconds: number): Promise<void> {
    const command = new ChangeMessageVisibilityCommand({
      QueueUrl: this.#ports.workQueueUrl,
      ReceiptHandle: handle,
      VisibilityTimeout: seconds,
    });
    await portCall('delay', () => this.#ports.client.send(command));
  }

  async sendDeadLetter(body: string, labels: Readonly<Record<string, string>>, group: string): Promise<void> {
    await this.#deadLetters().send(body, labels, group);
  }

  async receiveDeadLetters(hideSeconds: number): Promise<readonly DeadLetter[]> {
    return this.#deadLetters().receive(hideSeconds);
  }

  async deleteDeadLetters(handles: readonly string[]): Promise<readonly string[]> {
    return this.#deadLetters().delete(handles);
  }

  async releaseDeadLetters(handles: readonly string[]): Promise<void> {
    await this.#deadLetters().release(handles);
  }

  async depth(): Promise<QueueDepth> {
    const [work, deadLetter] = await Promise.all([
      this.#depthOf(this.#ports.workQueueUrl),
      this.#depthOf(this.#deadLetterQueueUrl()),
    ]);
    return { work, deadLetter };
  }

  async #depthOf(queueUrl: string): Promise<number> {
    const command = new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    });
    const { Attributes = {} } = await portCall('depth', () => this.#ports.client.send(command));
    return Object.values(Attributes).reduce((total, count) => total + Number(count ?? 0), 0);
  }

  #deadLetters(): SqsDeadLetters {
    return new SqsDeadLetters(this.#ports.client, this.#deadLetterQueueUrl());
  }

  #deadLetterQueueUrl(): string {
    const { deadLetterQueueUrl } = this.#ports;
    if (deadLetterQueueUrl === undefined) throw new Error('This function was given no dead-letter queue.');
    return deadLetterQueueUrl;
  }
}
