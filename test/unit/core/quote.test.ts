import { describe, expect, it } from 'vitest';
import { targetOf } from '../../../lib/aws/targets/dynamodb/target.ts';
import { NO_COST } from '../../../lib/core/cost/cost.ts';
import { PRICES } from '../../../lib/core/cost/prices.ts';
import {
  largeDifference,
  type PlanSize,
  priced,
  quoteOf,
  RECORDS_PER_TARGET_CALL,
} from '../../../lib/core/cost/quote.ts';
import { NO_LIMIT } from '../../../lib/core/policy/settings.ts';
import { settle } from '../../helpers/settle.ts';
import { accounts, deploy, published, theRun } from './stage.ts';

const PLAN: PlanSize = { batches: 10, targetCalls: 40, recordWriteUnits: 1_000, rate: 'unlimited' };
const of = (writeUnits: number) => ({ ...NO_COST, writeUnits, dollars: 0, prices: 'p' });

describe('quote', () => {
  it('grows by what each part of a plan takes, and by nothing else', () => {
    const base = quoteOf(PLAN, NO_COST);
    const more = (change: Partial<PlanSize>, spent = NO_COST) => {
      const { calls, writeUnits } = quoteOf({ ...PLAN, ...change }, spent);
      return [calls - base.calls, writeUnits - base.writeUnits];
    };
    expect(more({})).toEqual([0, 0]);
    expect(more({}, { calls: 7, readUnits: 1, writeUnits: 3 })).toEqual([7, 3]);
    expect(more({ targetCalls: 41 })).toEqual([1, 0]);
    expect(more({ recordWriteUnits: 1_500 })).toEqual([0, 500]);
    expect(more({ rate: 'paced' })).toEqual([10, 10]);
    // Ten more units of four calls, one more call of the queue, and two more events.
    expect(more({ batches: 20 })).toEqual([10 * 4 + 1 + 2, 10 * 4]);
  });

  it('prices request units, queue requests and invocations at the list, and names the list', () => {
    const { dollars, prices } = priced({ calls: 5, writeUnits: 2_000_000, readUnits: 1_000_000 }, 0);
    expect(dollars).toBeCloseTo(2 * PRICES.perMillionWriteUnits + PRICES.perMillionReadUnits, 9);
    expect(prices).toBe(PRICES.version);
    // A million messages: a tenth as many sends, a fifth as many events, each received and deleted.
    const delivered = priced(NO_COST, 1_000_000).dollars;
    expect(delivered).toBeCloseTo(0.5 * PRICES.perMillionQueueRequests + 0.2 * PRICES.perMillionInvocations, 9);
  });

  it('counts the calls that the target makes', () => {
    const target = targetOf('batch-execute', { client: {} as never, meter: {} as never });
    expect(target.recordsPerCall).toBe(RECORDS_PER_TARGET_CALL);
  });

  it.each([
    [1_000, 1_201, 20.1],
    [1_000, 1_200, undefined],
    [1_000, 799, -20.1],
    [1_000, 800, undefined],
    [500, 699, undefined],
    [500, 701, 40.2],
  ])('of %i write units that took %i is off by %d percent', (quoted, invoiced, percent) => {
    const off = largeDifference(of(quoted), of(invoiced));
    if (percent === undefined) expect(off).toBeUndefined();
    else expect(off).toBeCloseTo(percent, 6);
  });
});

describe('quote and invoice of a run', () => {
  it('are on the ledger: one before anything is published, the other at the close', async () => {
    const stage = await published(accounts(7), { batchSize: '3' });
    const { quote, invoice } = await theRun(stage);
    const size = { batches: 3, targetCalls: 3, recordWriteUnits: 7, rate: 'unlimited' } as const;
    expect([quote, invoice]).toEqual([quoteOf(size, NO_COST), undefined]);
    await settle(stage);
    const closed = await theRun(stage);
    expect([closed.status, closed.quote]).toEqual(['complete', quote]);
    expect(closed.invoice).toEqual(priced(NO_COST, 3));
    expect(closed.notes.map(({ note }) => note)).not.toContain('cost_off_quote');
  });

  it('are there for a report, which publishes nothing: what enforcing it would cost', async () => {
    const stage = deploy(accounts(7), { mode: 'report-only', recordsPerSecond: '5' });
    await stage.dispatch();
    const size = { batches: 3, targetCalls: 3, recordWriteUnits: 7, rate: 'paced' } as const;
    expect(await theRun(stage)).toMatchObject({ status: 'reported', quote: quoteOf(size, NO_COST) });
  });

  it('that differ widely are noted and logged', async () => {
    // The models' meters count nothing, so that the invoice is far below the quote.
    const stage = await published(accounts(300), { batchSize: '100', capRecords: NO_LIMIT });
    await settle(stage);
    const { status, notes } = await theRun(stage);
    expect(status).toBe('complete');
    expect(notes.filter(({ note }) => note === 'cost_off_quote')).toEqual([
      {
        note: 'cost_off_quote',
        message: expect.stringMatching(/^The run took 0 write units where \d+ were quoted\.$/),
      },
    ]);
    expect(stage.log.named('cost_off_quote')).toHaveLength(1);
  });
});
