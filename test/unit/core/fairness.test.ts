import { describe, expect, it } from 'vitest';
import { NO_INTERFERENCE } from '../../helpers/process.ts';
import { Timeline } from '../../helpers/timeline.ts';
import type { QueueOptions } from '../../model/index.ts';
import { account, accounts, deploy } from './stage.ts';

const SMALL_TENANTS = 10;
const LARGEST = 100;
const CALL_MILLIS = 100;

/** One tenant with half of the records, others with a few, one with a single one. */
function rows() {
  const small = Array.from({ length: SMALL_TENANTS }, (_, number) =>
    accounts(10).map((row) => ({ ...row, id: `s${number} ${String(row.id)}`, tenant: `small-${number}` })),
  );
  const largest = accounts(LARGEST).map((row) => ({ ...row, tenant: 'largest' }));
  return [...largest, ...small.flat(), account('only', { tenant: 'smallest' })];
}

/** Tenants in the order in which their batches were committed, several consumers side by side. */
async function completionOrder(order: QueueOptions['order']): Promise<readonly string[]> {
  const stage = deploy(rows(), { batchSize: '2' }, { queue: { order }, target: { recordsPerCall: 2 } });
  await stage.dispatch();
  const timeline = new Timeline(stage.world);
  const admit = ({ name }: { readonly name: string }) =>
    name === 'target.apply' ? timeline.sleep(CALL_MILLIS) : Promise.resolve();
  stage.crew.interference = { ...NO_INTERFERENCE, admit };
  const consumer = async () => {
    for (let next = await stage.receive(); next.length > 0; next = await stage.receive()) await stage.consume(next);
  };
  await timeline.drive([consumer, consumer, consumer, consumer, consumer]);
  const finished = stage.ledger.contents().units.toSorted((a, b) => (a.finishedAt ?? 0) - (b.finishedAt ?? 0));
  return finished.map((unit) => unit.tenant);
}

describe('a fair queue', () => {
  const batches = LARGEST / 2 + SMALL_TENANTS * 5 + 1;

  it('does not let the largest tenant delay the smallest', async () => {
    const order = await completionOrder('fair');
    expect(order).toHaveLength(batches);
    expect(order.indexOf('smallest')).toBeLessThan(batches / 4);
    const lastOfSmall = order.findLastIndex((tenant) => tenant !== 'largest');
    const doneOfLargest = order.slice(0, lastOfSmall).filter((tenant) => tenant === 'largest').length;
    expect(doneOfLargest).toBeLessThan(LARGEST / 4);
  });

  it('is what does it: in a queue that is not fair, small tenants wait for the largest', async () => {
    const order = await completionOrder('random');
    const lastOfSmall = order.findLastIndex((tenant) => tenant !== 'largest');
    const doneOfLargest = order.slice(0, lastOfSmall).filter((tenant) => tenant === 'largest').length;
    expect(doneOfLargest).toBeGreaterThan(LARGEST / 4);
  });

  it('is told the tenant of every message, and nothing but the tenant makes the group', async () => {
    const stage = deploy(rows(), { batchSize: '2' });
    await stage.dispatch();
    const tenants = new Map(stage.queue.sent.map(({ body, group }) => [JSON.parse(body).tenant, group]));
    expect([...tenants].sort()).toEqual(
      ['largest', ...Array.from({ length: SMALL_TENANTS }, (_, n) => `small-${n}`), 'smallest'].map((tenant) => [
        tenant,
        `t.${tenant}`,
      ]),
    );
    const groups = Map.groupBy(stage.queue.sent, ({ group }) => group);
    expect([groups.get('t.largest')?.length, groups.get('t.smallest')?.length]).toEqual([LARGEST / 2, 1]);
  });
});
