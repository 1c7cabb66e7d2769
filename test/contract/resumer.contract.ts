import { beforeEach, describe, expect, it } from 'vitest';
import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import type { Resumer } from '../../lib/core/ports/index.ts';
import type { Until } from './until.ts';

export interface ResumerHarness {
  readonly resumer: Resumer;
  /** Scheduled times that the dispatcher was started with, in no order. */
  started(): Promise<readonly EpochMillis[]>;
  readonly until: Until;
}

const [ONE, OTHER] = [Date.UTC(2026, 0, 1, 2), Date.UTC(2026, 0, 2, 2, 30, 0, 250)];

/** What every resumer must do; `make` gives one whose dispatcher was never started. */
export function resumerContract(name: string, make: () => Promise<ResumerHarness>): void {
  describe(`resumer contract: ${name}`, () => {
    let harness: ResumerHarness;
    beforeEach(async () => {
      harness = await make();
    });

    it('starts the dispatcher with the scheduled time, to the millisecond, for every time it is asked', async () => {
      for (const time of [ONE, OTHER, ONE]) await harness.resumer.resume(time);
      const started = await harness.until('three starts', async () => {
        const seen = await harness.started();
        return seen.length < 3 ? undefined : seen;
      });
      expect(started.toSorted()).toEqual([ONE, ONE, OTHER]);
    });
  });
}
