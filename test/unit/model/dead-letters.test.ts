import { describe, expect, it } from 'vitest';
import { MemoryQueue, type QueueOptions, World } from '../../model/index.ts';

const DAY = 86_400_000;

async function withLetters(count: number, options: Partial<QueueOptions> = {}) {
  const world = new World();
  const queue = new MemoryQueue(world, options);
  for (let number = 0; number < count; number += 1) await queue.sendDeadLetter(`m${number}`, { reason: 'r' }, 'g');
  return { world, queue };
}

describe('queue model: dead letters', () => {
  it('P27: a deletion that is not confirmed may have been done or not', async () => {
    const { queue } = await withLetters(10, { deleteUnconfirmed: 1 });
    const handles = (await queue.receiveDeadLetters(30)).map((letter) => letter.handle);
    expect(await queue.deleteDeadLetters(handles)).toEqual(handles);
    const left = queue.deadLetters.copies().length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(10);
  });

  it('deletes what it confirms, shows again what is let go, and refuses an empty call', async () => {
    const { queue } = await withLetters(2);
    const [first, second] = await queue.receiveDeadLetters(30);
    expect(await queue.receiveDeadLetters(30)).toEqual([]);
    expect(await queue.deleteDeadLetters([first?.handle ?? ''])).toEqual([]);
    await queue.releaseDeadLetters([second?.handle ?? '']);
    expect((await queue.receiveDeadLetters(30)).map((letter) => letter.body)).toEqual([second?.body]);
    await expect(queue.deleteDeadLetters([])).rejects.toThrow('BatchEntryCount');
  });

  it('P58: a copy that was sent lives fourteen days; one that SQS moved as long as its first sending leaves it', async () => {
    const { world, queue } = await withLetters(1, { maxReceiveCount: 1, visibilitySeconds: 60 });
    await queue.send([{ id: '1', body: 'moved', group: 'g' }]);
    await queue.receive(1);
    world.advance(3 * DAY);
    await queue.receive(1);
    await queue.sendDeadLetter('copied', { reason: 'r' }, 'g');
    world.advance(11 * DAY);
    expect(queue.deadLetters.copies().map((copy) => copy.body)).toEqual(['copied']);
    world.advance(3 * DAY);
    expect(queue.deadLetters.copies()).toEqual([]);
  });

  it('P40: a person moves messages back with body and labels, under another id and never received', async () => {
    const { queue } = await withLetters(1);
    const before = queue.deadLetters.copies()[0]?.messageId;
    await queue.receiveDeadLetters(0);
    expect(queue.moveBack(10)).toBe(1);
    const [delivery] = await queue.receive(1);
    expect(delivery).toMatchObject({ body: 'm0', labels: { reason: 'r' }, receiveCount: 1 });
    expect(delivery?.messageId).not.toBe(before);
  });

  it('hides a message for its delay and counts it all the same', async () => {
    const { world, queue } = await withLetters(0);
    await queue.send([{ id: '1', body: 'later', group: 'g', delaySeconds: 900 }]);
    expect(await queue.send([{ id: '2', body: 'never', group: 'g', delaySeconds: 901 }])).toMatchObject({
      failed: [{ id: '2', fault: 'sender' }],
    });
    expect([await queue.depth(), await queue.receive(10)]).toEqual([{ work: 1, deadLetter: 0 }, []]);
    world.advance(900_000);
    expect(await queue.receive(10)).toHaveLength(1);
  });
});
