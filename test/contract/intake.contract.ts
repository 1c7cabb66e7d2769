import { beforeEach, describe, expect, it } from 'vitest';
import { failureOf, type Intake } from '../../lib/core/ports/index.ts';
import type { Until } from './until.ts';

/** A work queue whose consumer takes every message that reaches it. */
export interface IntakeHarness {
  readonly intake: Intake;
  send(): Promise<void>;
  /** Messages in the queue, hidden or not. */
  waiting(): Promise<number>;
  /** Receives the one message, shows it again at once, and gives how often it was received by then. */
  look(): Promise<number>;
  /** Long enough for a consumer that is fed to have been given the message. */
  idle(): Promise<void>;
  /** Whether a change that was asked for has taken hold; Lambda takes up to a minute. */
  hasSettled(state: 'on' | 'off'): Promise<boolean>;
  readonly until: Until;
}

/** What every intake must do; `make` gives one that is on, with an empty queue. */
export function intakeContract(name: string, make: () => Promise<IntakeHarness>): void {
  describe(`intake contract: ${name}`, () => {
    let harness: IntakeHarness;
    beforeEach(async () => {
      harness = await make();
    });

    /** A change while another is under way is refused as transient. */
    async function set(state: 'on' | 'off'): Promise<void> {
      await harness.until('the change to be taken', async () => {
        const failed = await harness.intake.set(state).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failed !== undefined && failureOf(failed).class !== 'transient') throw failed;
        return failed === undefined ? true : undefined;
      });
      await harness.until(`the intake to be ${state}`, async () => (await harness.hasSettled(state)) || undefined);
    }

    const untilTaken = () =>
      harness.until('the message to be taken', async () => ((await harness.waiting()) === 0 ? true : undefined));

    it('lets messages wait while it is off, without a receive, and delivers them once it is on', async () => {
      await harness.send();
      await untilTaken();
      await set('off');
      await harness.send();
      const counts: number[] = [];
      for (let looks = 0; looks < 3; looks += 1) {
        counts.push(await harness.look());
        await harness.idle();
      }
      // Nobody else's receives are counted between ours.
      expect(counts).toEqual([1, 2, 3]);
      await set('on');
      await untilTaken();
    });

    it('says the same again without harm', async () => {
      for (const state of ['off', 'off', 'on', 'on'] as const) await set(state);
      await harness.send();
      await untilTaken();
    });
  });
}
