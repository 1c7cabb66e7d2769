import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMillis, deferralSeconds, retryCeilingSeconds, retrySeconds } from '../../../lib/core/retry.ts';
import { SeededRandom } from '../../model/index.ts';

const LATEST = { next: () => 0.999_999 };

describe('waits', () => {
  it('between attempts are whole seconds from 1 to an hour, fully jittered, and grow with the attempts', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 1_000 }), fc.nat(), (attempt, seed) => {
        const seconds = retrySeconds(attempt, new SeededRandom(seed));
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(seconds).toBeLessThanOrEqual(retryCeilingSeconds(attempt));
      }),
    );
    expect([1, 2, 3, 4, 9].map((attempt) => retrySeconds(attempt, LATEST))).toEqual([29, 59, 119, 239, 3_599]);
    expect(retrySeconds(4, { next: () => 0 })).toBe(1);
  });

  it('of a delivery at the wrong moment are whole seconds from 1 to 15 minutes, and grow with the receives', () => {
    expect([0, 1, 5, 9, 30].map((receives) => deferralSeconds(receives, LATEST))).toEqual([1, 3, 63, 899, 899]);
    expect(deferralSeconds(5, { next: () => 0 })).toBe(1);
  });

  it('within a delivery are at most five seconds, fully jittered', () => {
    const waits = [0, 1, 4, 30].map((round) => backoffMillis(round, LATEST));
    expect(waits).toEqual([199, 399, 3_199, 4_999]);
    expect(backoffMillis(30, { next: () => 0 })).toBe(0);
  });
});
