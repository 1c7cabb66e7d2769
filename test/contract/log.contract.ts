import { beforeEach, describe, expect, it } from 'vitest';
import { type Log, type LogFields, TERMINAL_EVENTS } from '../../lib/core/ports/index.ts';
import type { Until } from './until.ts';

export interface KeptLine extends LogFields {
  readonly level: string;
  readonly message: string;
}

export interface LogHarness {
  readonly log: Log;
  /** Ends the invocation, so that what is to be kept is sent. */
  flush(): Promise<void>;
  /** What is kept where it outlives the routine log, each line once, in order of time. */
  kept(): Promise<readonly KeptLine[]>;
  readonly until: Until;
}

/** What every log must do; `make` gives one in which nothing is kept. */
export function logContract(name: string, make: () => Promise<LogHarness>): void {
  describe(`log contract: ${name}`, () => {
    let harness: LogHarness;
    beforeEach(async () => {
      harness = await make();
    });

    const untilKept = (count: number) =>
      harness.until(`${count} lines`, async () => {
        const lines = await harness.kept();
        return lines.length < count ? undefined : lines;
      });

    it('keeps every terminal event, and no other', async () => {
      const names = [...TERMINAL_EVENTS];
      harness.log.event('info', 'delivery', {});
      for (const event of names) harness.log.event('warn', event, {});
      harness.log.event('error', 'terminal_log_failed', {});
      await harness.flush();
      const lines = await untilKept(names.length);
      expect(lines.map(({ message }) => message).toSorted()).toEqual(names.toSorted());
    });

    it('keeps fields as they are, a text of several lines too, with the level', async () => {
      const fields = { runId: 'r', unit: '3', attempts: 2, until: null, reason: 'one\ntwo “three”' };
      harness.log.event('warn', 'unit_quarantined', fields);
      await harness.flush();
      expect(await untilKept(1)).toMatchObject([{ level: 'WARN', message: 'unit_quarantined', ...fields }]);
    });

    it('keeps what came after an earlier invocation’s end too, and says nothing twice', async () => {
      harness.log.event('info', 'run_closed', { runId: 'one' });
      await harness.flush();
      await harness.flush();
      harness.log.event('info', 'run_closed', { runId: 'two' });
      await harness.flush();
      expect((await untilKept(2)).map(({ runId }) => runId)).toEqual(['one', 'two']);
    });
  });
}
