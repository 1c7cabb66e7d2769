import { describe, expect, it } from 'vitest';
import type { Random } from '../../lib/core/ports/index.ts';

const DRAWS = 10_000;
const PARTS = 10;

/** What every source of randomness must do. */
export function randomContract(name: string, make: () => Random): void {
  describe(`random contract: ${name}`, () => {
    it('gives numbers from 0 to below 1, in every tenth about as often', () => {
      const random = make();
      const counts = Array.from({ length: PARTS }, () => 0);
      for (let draws = 0; draws < DRAWS; draws += 1) {
        const part = Math.floor(random.next() * PARTS);
        counts[part] = (counts[part] ?? 0) + 1;
      }
      expect(counts).toHaveLength(PARTS);
      // Ten standard deviations of a fair draw.
      for (const count of counts) expect(Math.abs(count - DRAWS / PARTS)).toBeLessThan(300);
    });
  });
}
