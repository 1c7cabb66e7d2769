import { describe, expect, it } from 'vitest';
import type { Clock } from '../../lib/core/ports/index.ts';

/** What every clock must do. */
export function clockContract(name: string, make: () => Clock): void {
  describe(`clock contract: ${name}`, () => {
    it('tells epoch milliseconds of this age, and does not go back', () => {
      const clock = make();
      const times = Array.from({ length: 100 }, () => clock.now());
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times[0]).toBeGreaterThan(Date.UTC(2020, 0, 1));
      expect(times[0]).toBeLessThan(Date.UTC(2120, 0, 1));
    });

    it('has moved on by at least as much as was slept', async () => {
      const clock = make();
      const before = clock.now();
      await clock.sleep(25);
      // A timer may fire in the last millisecond before.
      expect(clock.now() - before).toBeGreaterThanOrEqual(24);
      await clock.sleep(0);
    });
  });
}
