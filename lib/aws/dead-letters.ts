import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { type DeadLetter, SEND_BATCH_LIMIT } from '../core/ports/queue.ts';
import { portCall, refusal } from './errors.ts';

/** SQS takes no more message attributes than this. */
const ATTRIBUTE_LIMIT = 10;

/** Long polling asks every server, so that an empty answer means an empty queue. */
const WAIT_SECONDS = 1;

/** What a batch answers: entries in neither list were not confirmed (pitfall P27). */
interface BatchAnswer {
  readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}

/** The dead-letter queue on SQS. */
export class SqsDeadLetters {
  readonly #client: SQSClient;
  readonly #queueUrl: string;

  constructor(client: SQSClient, queueUrl: string) {
    this.#client = client;
    this.#queueUrl = queueUrl;
  }

  async send(body: string, labels: Readonly<Record<string, string>>, group: string): Promise<void> {
    const command = new SendMessageCommand({
      QueueUrl: this.#queueUrl,
      MessageBody: body,
      MessageGroupId: group,
      MessageAttributes: attributesOf(labels),
    });
    await portCall('sendDeadLetter', () => this.#client.send(command));
  }

  async receive(hideSeconds: number): Promise<readonly DeadLetter[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl: this.#queueUrl,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: hideSeconds,
      WaitTimeSeconds: WAIT_SECONDS,
      // Neither kind comes without being asked for (pitfall P59).
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    });
    const { Messages = [] } = await portCall('receiveDeadLetters', () => this.#client.send(command));
    return Messages.map(deadLetterOf);
  }

  /** Handles that were not confirmed. */
  async delete(handles: readonly string[]): Promise<readonly string[]> {
    assertBatch('deleteDeadLetters', handles);
    const command = new DeleteMessageBatchCommand({ QueueUrl: this.#queueUrl, Entries: entriesOf(handles) });
    return unconfirmed(handles, await portCall('deleteDeadLetters', () => this.#client.send(command)));
  }

  /** One that is not confirmed shows when its hiding ends; so does one whose hiding has ended already. */
  async release(handles: readonly string[]): Promise<void> {
    assertBatch('releaseDeadLetters', handles);
    const Entries = entriesOf(handles).map((entry) => ({ ...entry, VisibilityTimeout: 0 }));
    const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl: this.#queueUrl, Entries });
    await portCall('releaseDeadLetters', () => this.#client.send(command));
  }
}

/** SQS takes 1 to 10 entries in one call. */
export function assertBatch(operation: string, entries: readonly unknown[]): void {
  if (entries.length < 1 || entries.length > SEND_BATCH_LIMIT) throw refusal(operation, 'BatchSize');
}

// Entry ids are letters, digits, `-` and `_` only; positions always are.
function entriesOf(handles: readonly string[]) {
  return handles.map((ReceiptHandle, position) => ({ Id: String(position), ReceiptHandle }));
}

function unconfirmed(handles: readonly string[], { Successful = [] }: BatchAnswer): readonly string[] {
  const confirmed = new Set(Successful.map(({ Id }) => Id));
  return handles.filter((_, position) => !confirmed.has(String(position)));
}

/** SQS refuses empty values and an eleventh attribute (pitfall P29). */
function attributesOf(labels: Readonly<Record<string, string>>): Record<string, MessageAttributeValue> {
  const present = Object.entries(labels).filter(([, value]) => value !== '');
  if (present.length > ATTRIBUTE_LIMIT) throw refusal('sendDeadLetter', 'TooManyAttributes');
  return Object.fromEntries(present.map(([name, value]) => [name, { DataType: 'String', StringValue: value }]));
}

/** A binary attribute is none of our labels and is left out. */
function deadLetterOf({
  MessageId,
  Body,
  MessageAttributes = {},
  Attributes = {},
  ReceiptHandle,
}: Message): DeadLetter {
  const labels = Object.entries(MessageAttributes).flatMap(([name, { StringValue }]) =>
    StringValue === undefined ? [] : [[name, StringValue]],
  );
  return {
    messageId: MessageId ?? '',
    body: Body ?? '',
    labels: Object.fromEntries(labels),
    sentAt: Number(Attributes.SentTimestamp),
    handle: ReceiptHandle ?? '',
  };
}
