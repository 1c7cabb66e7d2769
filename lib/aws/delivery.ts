import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { Delivery } from '../core/consume/delivery.ts';

/** True where Lambda handed over messages of a queue, and nothing else. */
export function isQueueEvent(event: unknown): event is SQSEvent {
  const { Records } = (event ?? {}) as { readonly Records?: unknown };
  return Array.isArray(Records) && Records.length > 0 && Records.every((record) => record?.eventSource === 'aws:sqs');
}

export function deliveryOf(record: SQSRecord): Delivery {
  return {
    messageId: record.messageId,
    handle: record.receiptHandle,
    body: record.body,
    receiveCount: Number(record.attributes.ApproximateReceiveCount),
    labels: labelsOf(record),
  };
}

/** A binary attribute is none of our labels. Lambda names the parts of an attribute in lower case, SQS does not. */
function labelsOf({ messageAttributes = {} }: Partial<SQSRecord>): Readonly<Record<string, string>> {
  const texts = Object.entries(messageAttributes).flatMap(([name, { stringValue }]) =>
    stringValue === undefined ? [] : [[name, stringValue] as const],
  );
  return Object.fromEntries(texts);
}
