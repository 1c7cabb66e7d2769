import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import {
  type DeadLetter,
  type OutgoingMessage,
  type Queue,
  type QueueDepth,
  SEND_BATCH_LIMIT,
  type SendResult,
} from '../core/ports/queue.ts';
import { portCall, refusal } from './errors.ts';

export interface QueuePorts {
  readonly client: SQSClient;
  readonly workQueueUrl: string;
  /** Absent in a function that has no business with dead letters. */
  readonly deadLetterQueueUrl?: string;
}

/** SQS takes no more message attributes than this. */
const ATTRIBUTE_LIMIT = 10;

/** Long polling asks every server, so that an empty answer means an empty queue. */
const WAIT_SECONDS = 1;

/** The work queue and its dead-letter queue on SQS. */
export class SqsQueue implements Queue {
  readonly #ports: QueuePorts;

  constructor(ports: QueuePorts) {
    this.#ports = ports;
  }

  async send(messages: readonly OutgoingMessage[]): Promise<SendResult> {
    if (messages.length < 1 || messages.length > SEND_BATCH_LIMIT) throw refusal('send', 'BatchSize');
    // Entry ids are letters, digits, `-` and `_` only; positions always are.
    const Entries = messages.map(({ body, group }, position) => ({
      Id: String(position),
      MessageBody: body,
      MessageGroupId: group,
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
    await this.#hide('delay', this.#ports.workQueueUrl, handle, seconds);
  }

  async sendDeadLetter(body: string, labels: Readonly<Record<string, string>>, group: string): Promise<void> {
    const command = new SendMessageCommand({
      QueueUrl: this.#deadLetterQueueUrl(),
      MessageBody: body,
      MessageGroupId: group,
      MessageAttributes: attributesOf(labels),
    });
    await portCall('sendDeadLetter', () => this.#ports.client.send(command));
  }

  async receiveDeadLetters(hideSeconds: number): Promise<readonly DeadLetter[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl: this.#deadLetterQueueUrl(),
      MaxNumberOfMessages: 10,
      VisibilityTimeout: hideSeconds,
      WaitTimeSeconds: WAIT_SECONDS,
      // Neither kind comes without being asked for (pitfall P59).
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    });
    const { Messages = [] } = await portCall('receiveDeadLetters', () => this.#ports.client.send(command));
    return Messages.map(deadLetterOf);
  }

  async deleteDeadLetter(handle: string): Promise<void> {
    const command = new DeleteMessageCommand({ QueueUrl: this.#deadLetterQueueUrl(), ReceiptHandle: handle });
    await portCall('deleteDeadLetter', () => this.#ports.client.send(command));
  }

  async releaseDeadLetter(handle: string): Promise<void> {
    await this.#hide('releaseDeadLetter', this.#deadLetterQueueUrl(), handle, 0);
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

  async #hide(operation: string, queueUrl: string, handle: string, seconds: number): Promise<void> {
    const command = new ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: handle,
      VisibilityTimeout: seconds,
    });
    await portCall(operation, () => this.#ports.client.send(command));
  }

  #deadLetterQueueUrl(): string {
    const { deadLetterQueueUrl } = this.#ports;
    if (deadLetterQueueUrl === undefined) throw new Error('This function was given no dead-letter queue.');
    return deadLetterQueueUrl;
  }
}

/** SQS refuses empty values and an eleventh attribute (pitfall P29). */
function attributesOf(labels: Readonly<Record<string, string>>): Record<string, MessageAttributeValue> {
  const present = Object.entries(labels).filter(([, value]) => value !== '');
  if (present.length > ATTRIBUTE_LIMIT) throw refusal('sendDeadLetter', 'TooManyAttributes');
  return Object.fromEntries(present.map(([name, value]) => [name, { DataType: 'String', StringValue: value }]));
}

/** A binary attribute is none of our labels and is left out. */
function deadLetterOf({ Body, MessageAttributes = {}, Attributes = {}, ReceiptHandle }: Message): DeadLetter {
  const labels = Object.entries(MessageAttributes).flatMap(([name, { StringValue }]) =>
    StringValue === undefined ? [] : [[name, StringValue]],
  );
  return {
    body: Body ?? '',
    labels: Object.fromEntries(labels),
    sentAt: Number(Attributes.SentTimestamp),
    handle: ReceiptHandle ?? '',
  };
}
