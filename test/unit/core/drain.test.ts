import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../lib/core/ports/index.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import type { Delivery } from '../../model/index.ts';
import { account, accounts, altered, decide, expiredIds, published, theRun } from './stage.ts';

async function allMessages(stage: Deployment): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  for (let next = await stage.queue.receive(10); next.length > 0; next = await stage.queue.receive(10)) {
    deliveries.push(...next);
  }
  return deliveries.sort((a, b) => ordinalOf(a) - ordinalOf(b));
}

function ordinalOf({ body }: Delivery): number {
  return Number(JSON.parse(body).unit);
}

const OF_250 = { batchSize: '100' };

describe('draining a plan', () => {
  it.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 2, 0]]])(
    'P13: 250 records in batches of 100, worked on in the order %j',
    async (order) => {
      const stage = await published(accounts(250), OF_250, { target: { recordsPerCall: 25 } });
      const messages = await allMessages(stage);
      expect(messages.map(ordinalOf)).toEqual([0, 1, 2]);
      for (const ordinal of order) {
        expect(await decide(stage, messages.slice(ordinal, ordinal + 1))).toMatchObject([{ why: 'committed' }]);
      }
      await stage.reconcile();
      expect(expiredIds(stage)).toHaveLength(250);
      expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 250, remaining: 0 } });
    },
  );

  it('P13: all at once, and each twice', async () => {
    const stage = await published(accounts(250), OF_250, { target: { recordsPerCall: 25 }, queue: { copies: 2 } });
    const messages = await allMessages(stage);
    expect(messages).toHaveLength(6);
    await Promise.all(messages.map((message) => decide(stage, [message])));
    await stage.reconcile();
    expect(stage.records.writes).toHaveLength(250);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 250, remaining: 0 } });
  });

  it('P13: records that become due after the plan are not in it, and are found by the next run', async () => {
    const stage = await published(accounts(5));
    stage.records.put(account('new-and-due'));
    await settle(stage);
    expect(expiredIds(stage)).not.toContain('new-and-due');
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 5 } });
    await stage.dispatch(stage.scheduledTime + 86_400_000);
    await settle(stage);
    expect(expiredIds(stage)).toHaveLength(6);
  });

  it('an operation key of one week does not keep a record from expiring in the next', async () => {
    const stage = await published(accounts(1));
    stage.records.touch('a0000', '2020-06-01T00:00:00.000Z');
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ closing: { outcomes: { state_changed: 1 } } });
    await stage.dispatch(stage.scheduledTime + 7 * 86_400_000);
    await settle(stage);
    expect(expiredIds(stage)).toEqual(['a0000']);
  });

  it('the proof is made from the keys that the target answered for, not from the slice that was loaded', async () => {
    const stage = await published(accounts(4));
    const load: Ledger['load'] = async (refs) =>
      (await stage.ledger.load(refs)).map(({ slice, ...others }) => ({
        ...others,
        slice: slice === undefined ? undefined : { ...slice, keysDigest: 'what the slice says of itself' },
      }));
    await decide(stage, await allMessages(stage), { ledger: altered<Ledger>(stage.ledger, { load }) });
    await settle(stage);
    const { plan, published: confirmed, closing } = await theRun(stage);
    expect(closing).toMatchObject({ batches: plan?.batches, records: plan?.records, digest: plan?.digest });
    expect(confirmed).toMatchObject({ batches: plan?.batches, records: plan?.records, digest: plan?.digest });
  });
});
