import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, describe, expect, it } from 'vitest';
import { SqsQueue } from '../../lib/aws/queue.ts';
import { startAwsUnderTest, uniqueName } from '../helpers/aws-under-test.ts';
import { type Departures, NONE } from './departures.ts';
import { type QueueHarness, queueContract, RECEIVES_ALLOWED, type Received } from './queue.contract.ts';
import { untilInTime } from './until.ts';

const aws = await startAwsUnderTest();
afterAll(() => aws.stop());

const client = new SQSClient(aws.config);

async function makeQueue(Attributes: Readonly<Record<string, string>> = {}): Promise<string> {
  const command = new CreateQueueCommand({ QueueName: uniqueName('queue'), Attributes });
  return (await client.send(command)).QueueUrl ?? '';
}

async function arnOf(QueueUrl: string): Promise<string> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] });
  return (await client.send(command)).Attributes?.QueueArn ?? '';
}

function receivedOf({
  MessageId = '',
  Body = '',
  ReceiptHandle = '',
  Attributes,
  MessageAttributes,
}: Message): Received {
  const labels = Object.entries(MessageAttributes ?? {}).map(([name, { StringValue = '' }]) => [name, StringValue]);
  return {
    messageId: MessageId,
    handle: ReceiptHandle,
    body: Body,
    group: Attributes?.MessageGroupId,
    labels: Object.fromEntries(labels),
  };
}

const DEPARTURES: Departures = {
  'hides for 12 hours at most': 'MiniStack hides for as long as it is asked to',
  'delays no message by more than 15 minutes, and says so of that entry alone': 'MiniStack takes any delay',
  'deletes a dead letter a second time without harm': 'MiniStack calls the handle of a deleted message invalid',
};

const make = async (): Promise<QueueHarness> => {
  const deadLetterQueueUrl = await makeQueue();
  const redrive = { deadLetterTargetArn: await arnOf(deadLetterQueueUrl), maxReceiveCount: RECEIVES_ALLOWED };
  const workQueueUrl = await makeQueue({ VisibilityTimeout: '60', RedrivePolicy: JSON.stringify(redrive) });
  return {
    queue: new SqsQueue({ client, workQueueUrl, deadLetterQueueUrl }),
    until: untilInTime,
    async receive() {
      const command = new ReceiveMessageCommand({
        QueueUrl: workQueueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      });
      return ((await client.send(command)).Messages ?? []).map(receivedOf);
    },
    async acknowledge(handle) {
      await client.send(new DeleteMessageCommand({ QueueUrl: workQueueUrl, ReceiptHandle: handle }));
    },
  };
};

queueContract(aws.name, make, aws.name === 'AWS' ? NONE : DEPARTURES);

describe(`queue on ${aws.name}`, () => {
  it('says that a queue that is not there will not be there next time either', async () => {
    const nowhere = new SqsQueue({ client, workQueueUrl: `${await makeQueue()}-not` });
    await expect(nowhere.send([{ id: 'a', body: 'b', group: 'g' }])).rejects.toMatchObject({
      failure: { class: 'permanent' },
    });
  });
});
