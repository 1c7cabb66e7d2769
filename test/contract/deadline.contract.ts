import { describe, expect, it } from 'vitest';
import type { Deadline } from '../../lib/core/ports/index.ts';

export interface DeadlineHarness {
  /** Of an invocation that has just begun and may take 30 seconds. */
  readonly deadline: Deadline;
  pass(millis: number): Promise<void>;
}

/** What every deadline must do. */
export function deadlineContract(name: string, make: () => DeadlineHarness): void {
  describe(`deadline contract: ${name}`, () => {
    it('says how much is left of the invocation, less and less', async () => {
      const { deadline, pass } = make();
      const first = deadline.remainingMillis();
      expect(first).toBeGreaterThan(29_000);
      expect(first).toBeLessThanOrEqual(30_000);
      await pass(25);
      expect(first - deadline.remainingMillis()).toBeGreaterThanOrEqual(24);
    });
  });
}
