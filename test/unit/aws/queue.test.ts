import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { SqsQueue } from '../../../lib/aws/queue.ts';

const WORK = 'https://sqs/work';
const DEAD = 'https://sqs/dead';

interface Sent {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** A queue over a client that answers every command with the same, and keeps what it was sent. */
function queueAnswering(answer: object): { queue: SqsQueue; sent: Sent[] } {
  const sent: Sent[] = [];
  const client = {
    send: async (command: { readonly input: Record<string, unknown> }) => {
      sent.push({ name: command.constructor.name, input: command.input });
      return answer;
    },
  };
  const ports = { client: client as unknown as SQSClient, workQueueUrl: WORK, deadLetterQueueUrl: DEAD };
  return { queue: new SqsQueue(ports), sent };
}

const message = (id: string) => ({ id, body: `{"unit":"${id}"}`, group: `tenant-${id}` });

describe('work queue', () => {
  it('P27: believes only the entries that are listed as successful', async () => {
    const { queue } = queueAnswering({
      Successful: [{ Id: '0' }, { Id: '3' }],
      Failed: [
        { Id: '1', Code: 'InternalError', SenderFault: false },
        { Id: '4', Code: 'InvalidMessageContents', SenderFault: true },
      ],
    });
    const sent = await queue.send(['a', 'b.1', 'c', 'd', 'e'].map(message));
    expect(sent).toEqual({
      sent: ['a', 'd'],
      failed: [
        { id: 'b.1', code: 'InternalError', fault: 'service' },
        { id: 'e', code: 'InvalidMessageContents', fault: 'sender' },
      ],
    });
  });

  it('P27: takes an answer without any list for nothing sent', async () => {
    expect(await queueAnswering({}).queue.send([message('a')])).toEqual({ sent: [], failed: [] });
  });

  it('sets the group of every message, and ids that SQS allows', async () => {
    const { queue, sent } = queueAnswering({});
    await queue.send([message('1.2'), message('3')]);
    const Entries = [
      { Id: '0', MessageBody: '{"unit":"1.2"}', MessageGroupId: 'tenant-1.2' },
      { Id: '1', MessageBody: '{"unit":"3"}', MessageGroupId: 'tenant-3' },
    ];
    expect(sent).toEqual([{ name: 'SendMessageBatchCommand', input: { QueueUrl: WORK, Entries } }]);
  });

  it('delays a message for as long as it says, and no other one', async () => {
    const { queue, sent } = queueAnswering({});
    await queue.send([{ ...message('a'), delaySeconds: 0 }, { ...message('b'), delaySeconds: 900 }, message('c')]);
    const { Entries } = (sent[0]?.input ?? { Entries: [] }) as { Entries: readonly object[] };
    expect(Entries.map((entry) => ('DelaySeconds' in entry ? entry.DelaySeconds : 'none'))).toEqual([0, 900, 'none']);
  });

  it('refuses more than SQS takes at once', async () => {
    const { queue, sent } = queueAnswering({});
    const eleven = Array.from({ length: 11 }, (_, n) => message(String(n)));
    for (const messages of [[], eleven]) {
      await expect(queue.send(messages)).rejects.toMatchObject({ failure: { class: 'permanent' } });
    }
    expect(sent).toEqual([]);
  });

  it('adds up what is visible, in flight and delayed', async () => {
    const Attributes = {
      ApproximateNumberOfMessages: '3',
      ApproximateNumberOfMessagesNotVisible: '2',
      ApproximateNumberOfMessagesDelayed: '1',
    };
    expect(await queueAnswering({ Attributes }).queue.depth()).toEqual({ work: 6, deadLetter: 6 });
  });
});

describe('dead-letter queue', () => {
  it('P29: leaves labels out that have no value', async () => {
    const { queue, sent } = queueAnswering({});
    await queue.sendDeadLetter('body', { reason: 'attempts_spent', errorClass: '' }, 'tenant');
    const MessageAttributes = { reason: { DataType: 'String', StringValue: 'attempts_spent' } };
    const input = { QueueUrl: DEAD, MessageBody: 'body', MessageGroupId: 'tenant', MessageAttributes };
    expect(sent).toEqual([{ name: 'SendMessageCommand', input }]);
  });

  it('P29: refuses an eleventh label before it sends', async () => {
    const { queue, sent } = queueAnswering({});
    const labels = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`label${n}`, 'x']));
    await expect(queue.sendDeadLetter('body', labels, 'tenant')).rejects.toMatchObject({
      failure: { class: 'permanent' },
    });
    expect(sent).toEqual([]);
    await queue.sendDeadLetter('body', { ...labels, label0: '' }, 'tenant');
    expect(sent).toHaveLength(1);
  });

  it('P59: asks for all attributes and gives labels back', async () => {
    const { queue, sent } = queueAnswering({
      Messages: [
        {
          MessageId: 'id',
          Body: 'body',
          ReceiptHandle: 'handle',
          Attributes: { SentTimestamp: '1767232800123' },
          MessageAttributes: {
            reason: { DataType: 'String', StringValue: 'permanent_failure' },
            generation: { DataType: 'Number', StringValue: '2' },
            trace: { DataType: 'Binary', BinaryValue: new Uint8Array(2) },
          },
        },
        {},
      ],
    });
    expect(await queue.receiveDeadLetters(30)).toEqual([
      {
        messageId: 'id',
        body: 'body',
        labels: { reason: 'permanent_failure', generation: '2' },
        sentAt: 1_767_232_800_123,
        handle: 'handle',
      },
      { messageId: '', body: '', labels: {}, sentAt: Number.NaN, handle: '' },
    ]);
    expect(sent[0]?.input).toMatchObject({
      QueueUrl: DEAD,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: 30,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    });
  });

  it('P27: takes only those for deleted that are listed as successful', async () => {
    const handles = ['h0', 'h1', 'h2', 'h3'];
    const Failed = [{ Id: '1', Code: 'ReceiptHandleIsInvalid', SenderFault: true }];
    const { queue, sent } = queueAnswering({ Successful: [{ Id: '0' }, { Id: '3' }], Failed });
    expect(await queue.deleteDeadLetters(handles)).toEqual(['h1', 'h2']);
    const Entries = handles.map((ReceiptHandle, n) => ({ Id: String(n), ReceiptHandle }));
    expect(sent).toEqual([{ name: 'DeleteMessageBatchCommand', input: { QueueUrl: DEAD, Entries } }]);
    expect(await queueAnswering({}).queue.deleteDeadLetters(handles)).toEqual(handles);
  });

  it('lets messages be seen again in one call, and makes nothing of one that is not confirmed', async () => {
    const { queue, sent } = queueAnswering({ Failed: [{ Id: '1', Code: 'MessageNotInflight', SenderFault: true }] });
    await queue.releaseDeadLetters(['h0', 'h1']);
    const Entries = ['h0', 'h1'].map((ReceiptHandle, n) => ({ Id: String(n), ReceiptHandle, VisibilityTimeout: 0 }));
    expect(sent).toEqual([{ name: 'ChangeMessageVisibilityBatchCommand', input: { QueueUrl: DEAD, Entries } }]);
  });

  it('refuses more than SQS takes at once', async () => {
    const { queue, sent } = queueAnswering({});
    for (const handles of [[], Array.from({ length: 11 }, (_, n) => `h${n}`)]) {
      await expect(queue.deleteDeadLetters(handles)).rejects.toMatchObject({ failure: { class: 'permanent' } });
      await expect(queue.releaseDeadLetters(handles)).rejects.toMatchObject({ failure: { class: 'permanent' } });
    }
    expect(sent).toEqual([]);
  });

  it('is no business of a function that was not given it', async () => {
    const client = { send: async () => ({}) } as unknown as SQSClient;
    const queue = new SqsQueue({ client, workQueueUrl: WORK });
    await expect(queue.sendDeadLetter('body', {}, 'tenant')).rejects.toThrow('no dead-letter queue');
  });
});
