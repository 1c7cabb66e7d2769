import { beforeEach, describe, expect } from 'vitest';
import { asciiJson } from '../../lib/core/identity/encode.ts';
import type { DeadLetter, OutgoingMessage, Queue } from '../../lib/core/ports/index.ts';
import { caseOf, type Departures, NONE } from './departures.ts';
import type { Until } from './until.ts';

/** One receipt from the work queue, as the event source mapping has it. */
export interface Received {
  readonly messageId: string;
  readonly handle: string;
  readonly body: string;
  readonly group: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

export interface QueueHarness {
  readonly queue: Queue;
  /** What is visible, up to 10; hidden for a minute from then on. */
  receive(): Promise<readonly Received[]>;
  acknowledge(handle: string): Promise<void>;
  readonly until: Until;
}

/** After so many receives a message goes to the dead letters at the next. */
export const RECEIVES_ALLOWED = 2;

const HIDDEN_SECONDS = 600;
const PERMANENT = { failure: { class: 'permanent' } };

/** What every queue must do; `make` gives empty queues. */
export function queueContract(name: string, make: () => Promise<QueueHarness>, departures: Departures = NONE): void {
  describe(`queue contract: ${name}`, () => {
    const it = caseOf(departures);
    let harness: QueueHarness;
    let queue: Queue;
    beforeEach(async () => {
      harness = await make();
      queue = harness.queue;
    });

    const one = (id: string, more: Partial<OutgoingMessage> = {}) => ({ id, body: id, group: 'g', ...more });
    const bodies = (messages: readonly { readonly body: string }[]) => messages.map(({ body }) => body).toSorted();

    /** As many as there should be, over as many receives as it takes. */
    async function all<T>(count: number, receive: () => Promise<readonly T[]>): Promise<readonly T[]> {
      const found: T[] = [];
      return harness.until(`${count} messages`, async () => {
        found.push(...(await receive()));
        return found.length >= count ? found : undefined;
      });
    }

    const deadLetters = (count: number): Promise<readonly DeadLetter[]> =>
      all(count, () => queue.receiveDeadLetters(HIDDEN_SECONDS));

    /** The counts are approximate, and follow after a moment. */
    const expectDepth = (work: number, deadLetter: number) =>
      harness.until(`${work} messages and ${deadLetter} dead letters`, async () => {
        const depth = await queue.depth();
        return depth.work === work && depth.deadLetter === deadLetter ? depth : undefined;
      });

    async function expectOne(body: string): Promise<Received> {
      const [message] = await all(1, () => harness.receive());
      expect(message?.body).toBe(body);
      if (message === undefined) throw new Error('Nothing came.');
      return message;
    }

    it('sends ten messages at once, each in its tenant’s group, and counts them whether hidden or not', async () => {
      const messages = Array.from({ length: 10 }, (_, n) => one(`${n}.1`, { group: `tenant-${n % 3}` }));
      const { sent, failed } = await queue.send(messages);
      expect(failed).toEqual([]);
      expect(sent.toSorted()).toEqual(messages.map(({ id }) => id));
      await expectDepth(10, 0);
      const received = await all(10, () => harness.receive());
      const groups = (list: readonly { readonly body: string; readonly group: string | undefined }[]) =>
        Object.fromEntries(list.map(({ body, group }) => [body, group]));
      expect(groups(received)).toEqual(groups(messages));
      expect(received.map(({ labels }) => labels)).toEqual(Array(10).fill({}));
      await expectDepth(10, 0);
    });

    it('takes 1 to 10 entries in one call, of every kind', async () => {
      await expect(queue.send([])).rejects.toMatchObject(PERMANENT);
      await expect(queue.send(Array.from({ length: 11 }, (_, n) => one(`${n}`)))).rejects.toMatchObject(PERMANENT);
      for (const call of ['deleteDeadLetters', 'releaseDeadLetters'] as const) {
        await expect(queue[call]([])).rejects.toMatchObject(PERMANENT);
        const eleven = Array.from({ length: 11 }, (_, n) => `handle ${n}`);
        await expect(queue[call](eleven)).rejects.toMatchObject(PERMANENT);
      }
    });

    it('P29: carries any tenant through as ASCII JSON', async () => {
      const tenant = 't\ufffe\u0000\ud800é€';
      const body = asciiJson({ tenant });
      expect((await queue.send([one('a', { body })])).sent).toEqual(['a']);
      expect(JSON.parse((await expectOne(body)).body)).toEqual({ tenant });
    });

    it('hides a received message for so long, and gives it back at once when told so', async () => {
      await queue.send([one('a')]);
      const { handle } = await expectOne('a');
      await queue.delay(handle, 900);
      expect(await harness.receive()).toEqual([]);
      await queue.delay(handle, 0);
      await expectOne('a');
    });

    it('gives a message back when the time it was hidden for has ended', async () => {
      await queue.send([one('a')]);
      await queue.delay((await expectOne('a')).handle, 1);
      const again = await expectOne('a');
      await harness.acknowledge(again.handle);
      await expectDepth(0, 0);
    });

    it('hides for 12 hours at most', async () => {
      await queue.send([one('a')]);
      const { handle } = await expectOne('a');
      await expect(queue.delay(handle, 43_201)).rejects.toMatchObject(PERMANENT);
    });

    it('hides only what was received', async () => {
      await expect(queue.delay('no handle of ours', 60)).rejects.toMatchObject(PERMANENT);
    });

    it('lets nobody receive a message before its time, and counts it all the same', async () => {
      const sent = await queue.send([
        one('later', { delaySeconds: 900 }),
        one('soon', { delaySeconds: 1 }),
        one('now', { delaySeconds: 0 }),
      ]);
      expect(sent.failed).toEqual([]);
      await expectDepth(3, 0);
      await expectOne('now');
      await expectOne('soon');
      expect(await harness.receive()).toEqual([]);
      await expectDepth(3, 0);
    });

    it('delays no message by more than 15 minutes, and says so of that entry alone', async () => {
      const { sent, failed } = await queue.send([one('never', { delaySeconds: 901 }), one('now')]);
      expect(sent).toEqual(['now']);
      expect(failed).toMatchObject([{ id: 'never', fault: 'sender' }]);
    });

    it('moves what was received too often to the dead letters: the same message, without a label', async () => {
      const before = Date.now();
      await queue.send([one('a', { group: 'tenant-1' })]);
      const ids = new Set<string>();
      for (let receives = 0; receives < RECEIVES_ALLOWED; receives += 1) {
        const { messageId, handle } = await expectOne('a');
        ids.add(messageId);
        await queue.delay(handle, 0);
      }
      const letters = await harness.until('a dead letter', async () => {
        expect(await harness.receive()).toEqual([]);
        const found = await queue.receiveDeadLetters(HIDDEN_SECONDS);
        return found.length > 0 ? found : undefined;
      });
      expect(letters).toMatchObject([{ body: 'a', labels: {} }]);
      expect(letters.map(({ messageId }) => messageId)).toEqual([...ids]);
      expect(letters[0]?.sentAt).toBeLessThan(before + 60_000);
      await expectDepth(0, 1);
    });

    it('P59: keeps labels with a dead letter, hides it while it is looked at, and deletes it', async () => {
      const labels = { reason: 'attempts_spent', errorClass: 'Throttling', generation: '2' };
      await queue.sendDeadLetter('body', labels, 'tenant-1');
      const [letter] = await deadLetters(1);
      expect(letter).toMatchObject({ body: 'body', labels });
      expect(await queue.receiveDeadLetters(HIDDEN_SECONDS)).toEqual([]);
      await queue.releaseDeadLetters([letter?.handle ?? '']);
      const [again] = await deadLetters(1);
      expect(again).toMatchObject({ messageId: letter?.messageId, sentAt: letter?.sentAt, body: 'body', labels });
      expect(await queue.deleteDeadLetters([again?.handle ?? ''])).toEqual([]);
      await expectDepth(0, 0);
    });

    it('P29: leaves out a label without a value, and takes ten and no more', async () => {
      const ten = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`label${n}`, `${n}`]));
      await queue.sendDeadLetter('ten', { ...ten, empty: '' }, 'g');
      await expect(queue.sendDeadLetter('eleven', { ...ten, one: 'more' }, 'g')).rejects.toMatchObject(PERMANENT);
      expect((await deadLetters(1)).map(({ body, labels }) => ({ body, labels }))).toEqual([
        { body: 'ten', labels: ten },
      ]);
    });

    it('releases and deletes dead letters ten at a time, and says which deletion was not confirmed', async () => {
      for (let n = 0; n < 12; n += 1) await queue.sendDeadLetter(`letter ${n}`, { generation: '0' }, `g${n}`);
      const first = await deadLetters(12);
      await queue.releaseDeadLetters(first.slice(0, 10).map(({ handle }) => handle));
      const again = await deadLetters(10);
      expect(bodies(again)).toEqual(bodies(first.slice(0, 10)));
      const handles = again.slice(0, 9).map(({ handle }) => handle);
      expect(await queue.deleteDeadLetters([...handles, 'no handle of ours'])).toEqual(['no handle of ours']);
      await expectDepth(0, 3);
    });

    it('deletes a dead letter a second time without harm', async () => {
      await queue.sendDeadLetter('body', {}, 'g');
      const handles = (await deadLetters(1)).map(({ handle }) => handle);
      expect(await queue.deleteDeadLetters(handles)).toEqual([]);
      expect(await queue.deleteDeadLetters(handles)).toEqual([]);
      await queue.releaseDeadLetters(handles);
      await expectDepth(0, 0);
    });
  });
}
