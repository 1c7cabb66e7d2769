import type { SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { deliveryOf } from '../../../lib/aws/delivery.ts';

/** As Lambda hands a message over; its shape is from the developer guide's example event. */
const RECORD: SQSRecord = {
  messageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
  receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
  body: '{"unit":"0"}',
  attributes: {
    ApproximateReceiveCount: '3',
    SentTimestamp: '1545082649183',
    SenderId: 'AIDAIENQZJOLO23YVJ4VO',
    ApproximateFirstReceiveTimestamp: '1545082649185',
  },
  messageAttributes: {
    generation: { stringValue: '1', stringListValues: [], binaryListValues: [], dataType: 'String' },
    reason: { stringValue: 'attempts_spent', stringListValues: [], binaryListValues: [], dataType: 'String' },
    trace: { binaryValue: 'AAE=', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
  },
  md5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:us-east-2:123456789012:my-queue',
  awsRegion: 'us-east-2',
};

describe('a delivery', () => {
  it('carries the labels of a message that was in the dead-letter queue, and no binary attribute', () => {
    expect(deliveryOf(RECORD)).toEqual({
      messageId: RECORD.messageId,
      handle: RECORD.receiptHandle,
      body: RECORD.body,
      receiveCount: 3,
      labels: { generation: '1', reason: 'attempts_spent' },
    });
  });

  it('has no labels where the message has no attributes', () => {
    expect(deliveryOf({ ...RECORD, messageAttributes: {} }).labels).toEqual({});
    const { messageAttributes: _none, ...bare } = RECORD;
    expect(deliveryOf(bare as SQSRecord).labels).toEqual({});
  });
});
