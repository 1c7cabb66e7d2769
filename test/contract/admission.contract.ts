import { beforeEach, describe, expect, it } from 'vitest';
import type { Admission, Admitted } from '../../lib/core/ports/index.ts';
import { retried } from './ledger-samples.ts';

/** Opens the same budgets once more, as another consumer does. */
export type OpenAdmission = () => Admission;

const T0 = Date.UTC(2026, 0, 1, 2);
const FOREVER = T0 + 1e9;
const RECORDS = { name: 'records', perSecond: 100 };

type Share = Extract<Admitted, { kind: 'granted' }> & { readonly amount: number };

async function take(admission: Admission, amount: number, now = T0, latest = FOREVER): Promise<Share> {
  const admitted = await retried(() => admission.acquire([RECORDS], amount, now, latest));
  if (admitted.kind !== 'granted') throw new Error(`Deferred until ${admitted.until - T0} ms.`);
  return { ...admitted, amount };
}

/** The rate holds over the span from any share's beginning to any later share's end. */
function expectRate(shares: readonly Share[]): void {
  const sorted = shares.toSorted((a, b) => a.from - b.from);
  for (const [first, { from }] of sorted.entries()) {
    let sum = 0;
    for (const { amount, until } of sorted.slice(first)) {
      sum += amount;
      expect(sum).toBeLessThanOrEqual(((until - from) * RECORDS.perSecond) / 1000 + 0.01);
    }
  }
}

/** What every admission must do; `make` gives budgets of which nothing is taken. */
export function admissionContract(name: string, make: () => Promise<OpenAdmission>): void {
  describe(`admission contract: ${name}`, () => {
    let open: OpenAdmission;
    beforeEach(async () => {
      open = await make();
    });

    it('hands out shares one behind the other, each as long as its amount lasts at the rate', async () => {
      const [one, another] = [open(), open()];
      expect(await take(one, 100)).toMatchObject({ from: T0, until: T0 + 1_000 });
      expect(await take(another, 50, T0 + 10)).toMatchObject({ from: T0 + 1_000, until: T0 + 1_500 });
      expect(await take(one, 10, T0 + 20)).toMatchObject({ from: T0 + 1_500, until: T0 + 1_600 });
    });

    it('keeps no time for later that nobody used: a share never begins before now', async () => {
      const admission = open();
      await take(admission, 100);
      expect(await take(admission, 100, T0 + 60_000)).toMatchObject({ from: T0 + 60_000, until: T0 + 61_000 });
      expect(await take(open(), 100, T0 + 60_000)).toMatchObject({ from: T0 + 61_000 });
    });

    it('defers what would begin too late, says until when, and takes nothing of it', async () => {
      const [one, another] = [open(), open()];
      await take(one, 100);
      const late = { kind: 'deferred', until: T0 + 1_000, dimension: 'records' };
      for (const admission of [one, another, open(), another]) {
        expect(await admission.acquire([RECORDS], 100, T0 + 1, T0 + 999)).toEqual(late);
      }
      expect(await take(another, 100, T0 + 1, T0 + 1_000)).toMatchObject({ from: T0 + 1_000, until: T0 + 2_000 });
    });

    it('defers by what others have taken since, not by what it remembers', async () => {
      const [one, another] = [open(), open()];
      await take(one, 100);
      await take(another, 100);
      const late = { kind: 'deferred', until: T0 + 2_000, dimension: 'records' };
      expect(await one.acquire([RECORDS], 100, T0 + 1, T0 + 1_500)).toEqual(late);
      expect(await take(open(), 100)).toMatchObject({ from: T0 + 2_000 });
    });

    it('keeps dimensions apart', async () => {
      const admission = open();
      await take(admission, 100);
      const other = await admission.acquire([{ name: 'endpoint', perSecond: 10 }], 1, T0, T0);
      expect(other).toEqual({ kind: 'granted', from: T0, until: T0 + 100 });
    });

    it('refuses for good an amount of nothing, or of no dimension', async () => {
      const permanent = { failure: { class: 'permanent' } };
      await expect(open().acquire([RECORDS], 0, T0, FOREVER)).rejects.toMatchObject(permanent);
      await expect(open().acquire([], 1, T0, FOREVER)).rejects.toMatchObject(permanent);
    });

    it('of many who ask at once, all together keep the rate over any span', async () => {
      const consumers = Array.from({ length: 6 }, () => open());
      const shares = await Promise.all(
        consumers.map(async (admission, n) => {
          const own: Share[] = [];
          for (let round = 0; round < 8; round += 1) {
            own.push(await take(admission, 1 + ((n * 7 + round * 13) % 40), T0 + round * 50 + n));
          }
          return own;
        }),
      );
      const all = shares.flat();
      expect(all).toHaveLength(48);
      expectRate(all);
      // Nobody waits for time that is nobody's: from the last asking on, shares follow without a gap.
      const lastAsked = T0 + 7 * 50 + 5;
      const total = all.reduce((sum, { amount }) => sum + amount, 0);
      const end = Math.max(...all.map(({ until }) => until));
      expect(end - lastAsked).toBeLessThanOrEqual((total / RECORDS.perSecond) * 1000 + 1);
    });

    it('starves nobody: who asks again when told is served as soon as those before have had theirs', async () => {
      const consumers = Array.from({ length: 5 }, (_, n) => ({ admission: open(), at: T0 + n, served: 0 }));
      const shares: Share[] = [];
      for (let asked = 0; asked < 400; asked += 1) {
        const next = consumers.filter(({ served }) => served < 6).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        const admitted = await next.admission.acquire([RECORDS], 20, next.at, next.at + 150);
        if (admitted.kind === 'granted') {
          shares.push({ ...admitted, amount: 20 });
          next.served += 1;
        }
        next.at = Math.ceil(admitted.until);
      }
      expect(consumers.map(({ served }) => served)).toEqual([6, 6, 6, 6, 6]);
      expectRate(shares);
      const end = Math.max(...shares.map(({ until }) => until));
      expect(end - T0).toBeLessThanOrEqual(((5 * 6 * 20) / RECORDS.perSecond) * 1000 + 50);
    });
  });
}
