import { describe, expect, it } from 'vitest';
import type { Settings } from '../../lib/core/policy/settings.ts';
import type { GrantProbe } from '../../lib/core/ports/index.ts';
import { testSettings } from '../model/settings.ts';

export type Writes = readonly Settings['action'][];

export interface GrantProbeHarness {
  /** Asks a consumer whose role may make these writes and no other, of the table `recordTableName`. */
  probe(granted: Writes): Promise<GrantProbe>;
  readonly recordTableName: string;
}

/** What every probe of grants must do. */
export function grantProbeContract(name: string, make: () => Promise<GrantProbeHarness>): void {
  describe(`grant probe contract: ${name}`, () => {
    it.each<readonly [Settings['action'], Writes, readonly string[]]>([
      ['expire', ['expire'], []],
      ['expire', ['expire', 'delete'], []],
      ['expire', [], ['Mode']],
      ['delete', ['expire', 'delete'], []],
      ['delete', ['expire'], ['AllowDelete']],
      ['delete', ['delete'], ['Mode']],
      ['delete', [], ['Mode', 'AllowDelete']],
    ])('P73: for the action %s, the grants %j lack %j', async (action, granted, missing) => {
      const { probe, recordTableName } = await make();
      const allowDelete = action === 'delete' ? 'yes' : 'no';
      const settings = testSettings({ recordTableName, action, allowDelete });
      const problems = await (await probe(granted)).missingGrants(settings);
      expect(problems.map(({ parameter }) => parameter)).toEqual(missing);
      for (const { message } of problems) expect(message).toContain(recordTableName);
    });
  });
}
