import { beforeEach, describe, expect, it } from 'vitest';
import type { Idempotency, OnceResult, RememberedResult } from '../../lib/core/ports/index.ts';
import type { Until } from './until.ts';

export interface IdempotencyHarness {
  /** As one invocation has it, which has so long to live. */
  open(remainingMillis: number): Idempotency;
  readonly until: Until;
}

const PLENTY_MILLIS = 60_000;
const SHORT_MILLIS = 200;

const result = (keysDigest: string): RememberedResult => ({ state: 'committed', keysDigest });
const answering = (keysDigest: string) => async () => result(keysDigest);

/** A body that stands still until it is told how to end. */
function standing() {
  let end: (how: RememberedResult | Error) => void = () => {};
  let began: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });
  const ended = new Promise<RememberedResult>((resolve, reject) => {
    end = (how) => (how instanceof Error ? reject(how) : resolve(how));
  });
  const body = () => {
    began();
    return ended;
  };
  return { body, begun, end: (how: RememberedResult | Error) => end(how) };
}

/** What every memory of deliveries must do; `make` gives one in which nothing is remembered. */
export function idempotencyContract(name: string, make: () => Promise<IdempotencyHarness>): void {
  describe(`idempotency contract: ${name}`, () => {
    let harness: IdempotencyHarness;
    beforeEach(async () => {
      harness = await make();
    });
    const open = (remainingMillis = PLENTY_MILLIS) => harness.open(remainingMillis);

    /** Asks again and again with a body of this answer, until it ran. */
    const untilItRuns = (key: string, keysDigest: string): Promise<OnceResult> =>
      harness.until('the lease to end', async () => {
        const once = await open().once(key, answering(keysDigest));
        return once.kind === 'in-progress-elsewhere' ? undefined : once;
      });

    it('runs a body once, and remembers its answer for every other invocation', async () => {
      expect(await open().once('0#0', answering('first'))).toEqual({ kind: 'ran', result: result('first') });
      for (const again of ['second', 'third']) {
        expect(await open().once('0#0', answering(again))).toEqual({ kind: 'remembered', result: result('first') });
      }
    });

    it('keeps keys apart: a unit of the next generation runs anew', async () => {
      await open().once('0#0', answering('first'));
      expect(await open().once('0#1', answering('second'))).toEqual({ kind: 'ran', result: result('second') });
      expect(await open().once('0.0#0', answering('third'))).toEqual({ kind: 'ran', result: result('third') });
    });

    it('throws what the body threw, as it is, and remembers nothing', async () => {
      const thrown = new RangeError('the body’s own');
      const failing = open().once('0#0', () => Promise.reject(thrown));
      expect(await failing.catch((error: unknown) => error)).toBe(thrown);
      expect(await open().once('0#0', answering('second'))).toEqual({ kind: 'ran', result: result('second') });
    });

    it('lets nobody in while a body runs, and says so', async () => {
      const { body, begun, end } = standing();
      const first = open().once('0#0', body);
      await begun;
      expect(await open().once('0#0', answering('second'))).toEqual({ kind: 'in-progress-elsewhere' });
      end(result('first'));
      expect(await first).toEqual({ kind: 'ran', result: result('first') });
      expect(await open().once('0#0', answering('third'))).toEqual({ kind: 'remembered', result: result('first') });
    });

    it('P42: lets another in once the invocation that held the lease has had its time', async () => {
      const { body, begun } = standing();
      void open(SHORT_MILLIS).once('0#0', body);
      await begun;
      expect(await untilItRuns('0#0', 'second')).toEqual({ kind: 'ran', result: result('second') });
    });

    it('P43: a late loser takes the winner’s answer away, whether it succeeds or fails', async () => {
      for (const [key, how, left] of [
        ['0#0', result('late'), { kind: 'remembered', result: result('late') }],
        ['1#0', new Error('late'), { kind: 'ran', result: result('third') }],
      ] as const) {
        const { body, begun, end } = standing();
        const late = open(SHORT_MILLIS)
          .once(key, body)
          .catch(() => 'failed');
        await begun;
        await untilItRuns(key, 'winner');
        end(how);
        await late;
        expect(await open().once(key, answering('third'))).toEqual(left);
      }
    });

    it('refuses for good a delivery without a key', async () => {
      await expect(open().once('', answering('first'))).rejects.toMatchObject({ failure: { class: 'permanent' } });
    });

    it('begins nothing for an invocation that has no time left', async () => {
      let ran = 0;
      const body = async () => {
        ran += 1;
        return result('never');
      };
      await expect(open(0).once('0#0', body)).rejects.toMatchObject({ failure: { class: 'deferred' } });
      expect(ran).toBe(0);
      expect(await open().once('0#0', answering('second'))).toMatchObject({ kind: 'ran' });
    });
  });
}
