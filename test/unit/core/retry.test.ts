import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMillis, retrySeconds } from '../../../lib/core/retry.ts';
import { SeededRandom } from '../../model/index.ts';

describe('waits', () => {
  it('between attempts are whole seconds from 1 to an hour, and grow with the attempts', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 1_000 }), fc.nat(), (attempt, seed) => {
        const seconds = retrySeconds(attempt, new SeededRandom(seed));
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(seconds).toBeLessThanOrEqual(Math.min(3_600, 2 * 2 ** Math.max(0, attempt)));
      }),
    );
    const longest = [0, 1, 5, 9, 30].map((attempt) => retrySeconds(attempt, { next: () => 0.999_999 }));
    expect(longest).toEqual([1, 3, 63, 1_023, 3_599]);
  });

  it('within a delivery are at most five seconds, fully jittered', () => {
    const waits = [0, 1, 4, 30].map((round) => backoffMillis(round, { next: () => 0.999_999 }));
    expect(waits).toEqual([199, 399, 3_199, 4_999]);
    expect(backoffMillis(30, { next: () => 0 })).toBe(0);
  });
});
