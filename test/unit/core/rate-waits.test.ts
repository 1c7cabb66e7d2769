import { describe, expect, it } from 'vitest';
import type { Admission } from '../../../lib/core/ports/index.ts';
import { settle } from '../../helpers/settle.ts';
import { accounts, decide, published, theRun, theUnit } from './stage.ts';

const MINUTE = 60_000;

describe('a unit that waits for its share of the rate', () => {
  it('P31: waits in the ledger after a few receives, so that hours of waiting never dead-letter it', async () => {
    const stage = await published(accounts(3), { recordsPerSecond: '100', batchSize: '3' });
    const busy: Admission = {
      acquire: async (_dimensions, _amount, now) => ({ kind: 'deferred', until: now + MINUTE, dimension: 'records' }),
    };
    const whys: string[] = [];
    while (whys.at(-1) !== 'postponed') {
      const [delivery] = await stage.receive();
      if (delivery === undefined) throw new Error(`the message is gone after ${whys.join()}`);
      const [decision] = await decide(stage, [delivery], { admission: busy });
      whys.push(decision?.why ?? 'none');
      if (decision?.kind === 'acknowledge') await stage.queue.acknowledge(delivery);
      else await stage.queue.delay(delivery.handle, 60);
      stage.world.advance(MINUTE);
    }
    expect(whys).toEqual(['rate_limited', 'rate_limited', 'rate_limited', 'rate_limited', 'postponed']);
    expect(await theUnit(stage)).toMatchObject({ state: 'planned', attempts: 0, reason: 'rate_limited' });
    expect(stage.queue.work.copies()).toHaveLength(0);
    expect(stage.queue.deadLetters.copies()).toHaveLength(0);

    stage.world.advance(20 * MINUTE);
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
    expect(await theUnit(stage)).toMatchObject({ state: 'committed', attempts: 1 });
  });
});
