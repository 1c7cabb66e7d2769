import { beforeEach, describe, expect, it } from 'vitest';
import type { Resumer, Resumption } from '../../lib/core/ports/index.ts';
import type { Until } from './until.ts';

export interface ResumerHarness {
  readonly resumer: Resumer;
  /** Runs that the dispatcher was started with, in no order. */
  started(): Promise<readonly Resumption[]>;
  readonly until: Until;
}

const ONE: Resumption = { runId: 'accounts.v1.20260101T020000Z', scheduledTime: Date.UTC(2026, 0, 1, 2) };
const OTHER: Resumption = { runId: 'accounts.v2.20260102T023000Z', scheduledTime: Date.UTC(2026, 0, 2, 2, 30, 0, 250) };

/** What every resumer must do; `make` gives one whose dispatcher was never started. */
export function resumerContract(name: string, make: () => Promise<ResumerHarness>): void {
  describe(`resumer contract: ${name}`, () => {
    let harness: ResumerHarness;
    beforeEach(async () => {
      harness = await make();
    });

    it('starts the dispatcher with the run and its scheduled time, to the millisecond, for every time it is asked', async () => {
      for (const run of [ONE, OTHER, ONE]) await harness.resumer.resume(run);
      const started = await harness.until('three starts', async () => {
        const seen = await harness.started();
        return seen.length < 3 ? undefined : seen;
      });
      expect(started.toSorted((a, b) => a.scheduledTime - b.scheduledTime)).toEqual([ONE, ONE, OTHER]);
    });
  });
}
