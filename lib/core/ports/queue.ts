/** A message body with its place in the fair queue. */
export interface OutgoingMessage {
  /** Identifies the entry within one call; not kept. */
  readonly id: string;
  /** ASCII JSON, at most 512 bytes. */
  readonly body: string;
  /** SQS `MessageGroupId`: set again on every send, it is not kept with the message. */
  readonly group: string;
  /** Seconds from 0 to 900 before anybody receives it. */
  readonly delaySeconds?: number;
}

export interface SendFailure {
  readonly id: string;
  readonly code: string;
  /** True where sending the same entry again cannot help. */
  readonly fault: 'sender' | 'service';
}

/** Ids in neither list were not confirmed and count as not sent (pitfall P27). */
export interface SendResult {
  readonly sent: readonly string[];
  readonly failed: readonly SendFailure[];
}

export interface QueueDepth {
  /** Visible, in flight and delayed together. Approximate, as SQS has it. */
  readonly work: number;
  readonly deadLetter: number;
}

export const SEND_BATCH_LIMIT = 10;

/** A message in the dead-letter queue. */
export interface DeadLetter {
  /** The same at every receipt of the message: it may be received again once its hiding has ended, and now and then before. */
  readonly messageId: string;
  readonly body: string;
  /** Labels set by whoever gave up; empty where SQS moved the message by itself. */
  readonly labels: Readonly<Record<string, string>>;
  readonly sentAt: number;
  /** Opaque; valid until the peek's visibility ends. */
  readonly handle: string;
}

/** The work queue and its dead-letter queue. */
export interface Queue {
  /** One SendMessageBatch: 1 to 10 entries. */
  send(messages: readonly OutgoingMessage[]): Promise<SendResult>;
  /** Hides a received message for so long; the delivery is then returned as failed. */
  delay(handle: string, seconds: number): Promise<void>;
  sendDeadLetter(body: string, labels: Readonly<Record<string, string>>, group: string): Promise<void>;
  /** Receives up to 10 messages of the dead-letter queue and hides them for so long; empty where none came. */
  receiveDeadLetters(hideSeconds: number): Promise<readonly DeadLetter[]>;
  /** One DeleteMessageBatch: 1 to 10 handles. Returns those that were not confirmed. */
  deleteDeadLetters(handles: readonly string[]): Promise<readonly string[]>;
  /** Lets 1 to 10 received messages be seen again at once; one that is not confirmed shows when its hiding ends. */
  releaseDeadLetters(handles: readonly string[]): Promise<void>;
  depth(): Promise<QueueDepth>;
}
