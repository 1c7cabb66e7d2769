import { describe, expect, it } from 'vitest';
import { type Delivery, MemoryQueue, type QueueOptions, World } from '../../model/index.ts';

const HOUR = 3_600_000;

function setUp(options: Partial<QueueOptions> = {}, seed = 1) {
  const world = new World({ seed });
  return { world, queue: new MemoryQueue(world, options) };
}

function outgoing(body: string, group = 'g') {
  return { id: `id-${body}`.slice(0, 80), body, group };
}

async function only(deliveries: Promise<readonly Delivery[]>): Promise<Delivery> {
  const [delivery] = await deliveries;
  if (delivery === undefined) throw new Error('nothing was delivered');
  return delivery;
}

describe('queue model', () => {
  it('delivers again, with another handle, what was not acknowledged in time; an old handle deletes nothing', async () => {
    const { world, queue } = setUp({ visibilitySeconds: 60 });
    await queue.send([outgoing('m')]);
    const first = await only(queue.receive(10));
    expect(await queue.receive(10)).toEqual([]);
    world.advance(60_000);
    const second = await only(queue.receive(10));
    expect(second).toMatchObject({ messageId: first.messageId, receiveCount: 2 });
    await queue.acknowledge(first);
    world.advance(60_000);
    const third = await only(queue.receive(10));
    await queue.acknowledge(third);
    world.advance(60_000);
    expect(await queue.receive(10)).toEqual([]);
  });

  it('delivers in another order than sent, and in the same order for the same seed', async () => {
    const order = async (seed: number) => {
      const { queue } = setUp({}, seed);
      await queue.send(['0', '1', '2', '3', '4', '5', '6', '7'].map((body) => outgoing(body)));
      return (await queue.receive(10)).map((delivery) => delivery.body).join('');
    };
    expect(await order(7)).toBe(await order(7));
    expect(await order(7)).not.toBe('01234567');
  });

  it('delivers every message twice on demand, both at once, under one message id', async () => {
    const { queue } = setUp({ copies: 2 });
    await queue.send([outgoing('m')]);
    const [one, two] = await queue.receive(10);
    expect(one?.messageId).toBe(two?.messageId);
    expect(one?.handle).not.toBe(two?.handle);
    if (one !== undefined) await queue.acknowledge(one);
    expect(queue.work.copies()).toHaveLength(1);
  });

  it('prefers groups with little in flight', async () => {
    const { queue } = setUp({ order: 'fair' });
    await queue.send(['a1', 'a2', 'a3', 'a4'].map((body) => outgoing(body, 'a')));
    await queue.receive(2);
    await queue.send([outgoing('b1', 'b')]);
    expect((await only(queue.receive(1))).body).toBe('b1');
  });

  it('moves a message that was received too often to the dead letters, unlabelled, with its first send time', async () => {
    const { world, queue } = setUp({ maxReceiveCount: 3, visibilitySeconds: 1 });
    const sentAt = world.millis;
    await queue.send([outgoing('m')]);
    for (let receipt = 0; receipt < 3; receipt += 1) {
      expect(await queue.receive(1)).toHaveLength(1);
      world.advance(1_000);
    }
    expect(await queue.receive(1)).toEqual([]);
    expect(await queue.receiveDeadLetters(30)).toMatchObject([{ body: 'm', labels: {}, sentAt }]);
  });

  it('P58: retention of a dead letter counts from its first send', async () => {
    const { world, queue } = setUp({ maxReceiveCount: 1, visibilitySeconds: 1 });
    await queue.send([outgoing('m')]);
    await queue.receive(1);
    world.advance(3 * 24 * HOUR);
    await queue.receive(1);
    expect((await queue.depth()).deadLetter).toBe(1);
    world.advance(11 * 24 * HOUR);
    expect((await queue.depth()).deadLetter).toBe(0);
  });

  it('loses a message after four days', async () => {
    const { world, queue } = setUp();
    await queue.send([outgoing('m')]);
    world.advance(4 * 24 * HOUR);
    expect(await queue.receive(1)).toEqual([]);
  });

  it('P27: fails entries inside success, or leaves them out of both lists, sent or not', async () => {
    const failing = setUp({ entryFails: 1 });
    expect(await failing.queue.send([outgoing('m')])).toMatchObject({ sent: [], failed: [{ fault: 'service' }] });
    expect(failing.queue.sent).toEqual([]);
    const missing = setUp({ entryMissing: 1 });
    const bodies = ['0', '1', '2', '3', '4', '5', '6', '7'];
    expect(await missing.queue.send(bodies.map((body) => outgoing(body)))).toEqual({ sent: [], failed: [] });
    expect(missing.queue.sent.length).toBeGreaterThan(0);
    expect(missing.queue.sent.length).toBeLessThan(bodies.length);
  });

  it.each(['t\ufffe', 't\u0000', 'é', 'x'.repeat(513)])(
    'P29: refuses the body %j as the sender’s fault',
    async (body) => {
      const result = await setUp().queue.send([{ id: 'one', body, group: 'g' }]);
      expect(result).toMatchObject({ sent: [], failed: [{ id: 'one', fault: 'sender' }] });
    },
  );

  it('refuses more than ten entries, none, and ids named twice', async () => {
    const { queue } = setUp();
    for (const count of [0, 11]) {
      const messages = Array.from({ length: count }, (_, number) => outgoing(String(number)));
      await expect(queue.send(messages)).rejects.toMatchObject({ failure: { class: 'permanent' } });
    }
    await expect(queue.send([outgoing('m'), outgoing('m')])).rejects.toMatchObject({ failure: { class: 'permanent' } });
  });

  it('hides a delivery for longer on request', async () => {
    const { world, queue } = setUp({ visibilitySeconds: 60 });
    await queue.send([outgoing('m')]);
    await queue.delay((await only(queue.receive(1))).handle, 900);
    world.advance(899_000);
    expect(await queue.receive(1)).toEqual([]);
    world.advance(1_000);
    expect(await queue.receive(1)).toHaveLength(1);
  });

  it('P40: a dead letter moved back in the console has a new id and its labels', async () => {
    const { queue } = setUp();
    await queue.sendDeadLetter('m', { generation: '0' }, 'g');
    expect(queue.moveBack(10)).toBe(1);
    expect(await only(queue.receive(1))).toMatchObject({ body: 'm', labels: { generation: '0' }, receiveCount: 1 });
    expect(await queue.receiveDeadLetters(1)).toEqual([]);
  });
});
