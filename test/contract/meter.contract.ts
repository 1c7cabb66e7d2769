import { beforeEach, describe, expect, it } from 'vitest';
import { NO_COST } from '../../lib/core/cost/cost.ts';
import type { Meter } from '../../lib/core/ports/index.ts';

export interface MeterHarness {
  readonly meter: Meter;
  /** One call that writes an item below 1 KB. */
  write(): Promise<void>;
  /** One strongly consistent call that reads an item below 4 KB. */
  read(): Promise<void>;
  /** One call that is counted and has no request units. */
  call(): Promise<void>;
}

/** What every meter must do; `make` gives one at zero. */
export function meterContract(name: string, make: () => Promise<MeterHarness>): void {
  describe(`meter contract: ${name}`, () => {
    let harness: MeterHarness;
    beforeEach(async () => {
      harness = await make();
    });

    it('counts calls and request units since it was last asked', async () => {
      const { meter, write, read, call } = harness;
      expect(meter.take()).toEqual(NO_COST);
      await write();
      await write();
      await read();
      await call();
      expect(meter.take()).toEqual({ calls: 4, readUnits: 1, writeUnits: 2 });
      expect(meter.take()).toEqual(NO_COST);
      await read();
      expect(meter.take()).toEqual({ calls: 1, readUnits: 1, writeUnits: 0 });
    });

    it('loses nothing of calls that are made at once', async () => {
      const { meter, write, read } = harness;
      await Promise.all([write(), read(), write(), read(), write()]);
      expect(meter.take()).toEqual({ calls: 5, readUnits: 2, writeUnits: 3 });
    });
  });
}
