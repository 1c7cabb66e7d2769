import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { SqsQueue } from '../../lib/aws/queue.ts';
import { asciiJson } from '../../lib/core/identity/encode.ts';
import type { DeadLetter } from '../../lib/core/ports/index.ts';
import { clientConfig, trust } from '../../lib/local/access.ts';
import { startLocalAws } from '../../lib/local/server.ts';

const aws = await startLocalAws();
trust(aws);
afterAll(() => aws.stop());

const client = new SQSClient(clientConfig(aws));
let made = 0;

async function makeQueue(): Promise<string> {
  made += 1;
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: `queue-${made}` }));
  return QueueUrl;
}

async function receive(queueUrl: string) {
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['All'],
  });
  return (await client.send(command)).Messages ?? [];
}

describe('queue on the local AWS', () => {
  let workQueueUrl: string;
  let queue: SqsQueue;

  beforeEach(async () => {
    workQueueUrl = await makeQueue();
    queue = new SqsQueue({ client, workQueueUrl, deadLetterQueueUrl: await makeQueue() });
  });

  it('sends ten messages at once, each in its tenant’s group', async () => {
    const messages = Array.from({ length: 10 }, (_, n) => ({
      id: `${n}.1`,
      body: `body ${n}`,
      group: `tenant-${n % 3}`,
    }));
    const { sent, failed } = await queue.send(messages);
    expect(failed).toEqual([]);
    expect(sent.toSorted()).toEqual(messages.map(({ id }) => id));
    expect(await queue.depth()).toEqual({ work: 10, deadLetter: 0 });
    const received = new Map<string, string | undefined>();
    await vi.waitFor(async () => {
      for (const { Body = '', Attributes } of await receive(workQueueUrl))
        received.set(Body, Attributes?.MessageGroupId);
      expect(Object.fromEntries(received)).toEqual(
        Object.fromEntries(messages.map(({ body, group }) => [body, group])),
      );
    });
    expect((await queue.depth()).work).toBe(10);
  });

  it('P29: carries any tenant through as ASCII JSON', async () => {
    const tenant = 't\ufffe\u0000\ud800é€';
    const body = asciiJson({ tenant });
    expect((await queue.send([{ id: 'a', body, group: 'g' }])).sent).toEqual(['a']);
    const [message] = await receive(workQueueUrl);
    expect(JSON.parse(message?.Body ?? '')).toEqual({ tenant });
  });

  it('hides a received message for so long, and gives it back at once when told so', async () => {
    await queue.send([{ id: 'a', body: 'body', group: 'g' }]);
    const [message] = await receive(workQueueUrl);
    await queue.delay(message?.ReceiptHandle ?? '', 900);
    expect(await receive(workQueueUrl)).toEqual([]);
    await queue.delay(message?.ReceiptHandle ?? '', 0);
    await vi.waitFor(async () => expect(await receive(workQueueUrl)).toHaveLength(1));
  });

  it('P59: keeps labels with a dead letter, hides it while it is looked at, and deletes it', async () => {
    const labels = { reason: 'attempts_spent', errorClass: 'Throttling', generation: '2' };
    const before = Date.now();
    await queue.sendDeadLetter('body', labels, 'tenant-1');
    const [letter] = await queue.receiveDeadLetters(60);
    expect(letter).toMatchObject({ body: 'body', labels });
    expect(letter?.sentAt).toBeGreaterThanOrEqual(before - 1_000);
    expect(await queue.receiveDeadLetters(60)).toEqual([]);
    await queue.releaseDeadLetters([letter?.handle ?? '']);
    const [again] = await queue.receiveDeadLetters(60);
    expect(again?.body).toBe('body');
    expect(await queue.deleteDeadLetters([again?.handle ?? ''])).toEqual([]);
    expect(await queue.depth()).toEqual({ work: 0, deadLetter: 0 });
  });

  it('lets nobody receive a message before its time, and counts it all the same', async () => {
    const sent = await queue.send([
      { id: 'later', body: 'later', group: 'g', delaySeconds: 900 },
      { id: 'soon', body: 'soon', group: 'g', delaySeconds: 1 },
      { id: 'now', body: 'now', group: 'g', delaySeconds: 0 },
    ]);
    expect(sent.failed).toEqual([]);
    const [first, ...others] = await receive(workQueueUrl);
    expect([first?.Body, others]).toEqual(['now', []]);
    expect((await queue.depth()).work).toBe(3);
    await vi.waitFor(async () => expect((await receive(workQueueUrl)).map(({ Body }) => Body)).toEqual(['soon']), {
      timeout: 5_000,
    });
    expect(await receive(workQueueUrl)).toEqual([]);
  });

  it('releases and deletes dead letters ten at a time, and says which deletion was not confirmed', async () => {
    for (let n = 0; n < 12; n += 1) await queue.sendDeadLetter(`letter ${n}`, { generation: '0' }, `g${n}`);
    const first = await allDeadLetters(12);
    await queue.releaseDeadLetters(first.slice(0, 10).map(({ handle }) => handle));
    const again = await allDeadLetters(10);
    const bodies = (letters: readonly DeadLetter[]) => letters.map(({ body }) => body).toSorted();
    expect(bodies(again)).toEqual(bodies(first.slice(0, 10)));
    const handles = again.slice(0, 9).map(({ handle }) => handle);
    expect(await queue.deleteDeadLetters([...handles, 'no handle of ours'])).toEqual(['no handle of ours']);
    expect((await queue.depth()).deadLetter).toBe(3);
  });

  /** As many as there should be, over as many receives as it takes. */
  async function allDeadLetters(count: number): Promise<readonly DeadLetter[]> {
    const letters: DeadLetter[] = [];
    await vi.waitFor(async () => {
      letters.push(...(await queue.receiveDeadLetters(600)));
      expect(letters).toHaveLength(count);
    });
    return letters;
  }

  it('says that a queue that is not there will not be there next time either', async () => {
    const nowhere = new SqsQueue({ client, workQueueUrl: `${workQueueUrl}-not` });
    await expect(nowhere.send([{ id: 'a', body: 'b', group: 'g' }])).rejects.toMatchObject({
      failure: { class: 'permanent' },
    });
  });
});
