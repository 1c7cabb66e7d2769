import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addCost, NO_COST } from '../../../lib/core/cost/cost.ts';
import { EMPTY_CHAIN, extendChain, keysDigest } from '../../../lib/core/identity/digests.ts';
import type { UnitItem } from '../../../lib/core/ledger/items.ts';
import type { UnitState } from '../../../lib/core/ledger/lifecycle.ts';
import {
  addCounts,
  countOutcomes,
  OUTCOMES,
  type Outcome,
  type OutcomeCounts,
  processedCount,
  skippedCount,
} from '../../../lib/core/ledger/outcomes.ts';
import { RunningTally } from '../../../lib/core/plan/tally.ts';
import { UNREADABLE_REASONS } from '../../../lib/core/policy/timestamp.ts';
import { StandingCount } from '../../../lib/core/reconcile/closing.ts';

function total(counts: OutcomeCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** One planned batch: its records' outcomes, and how far it has come. Undefined where it has no item yet. */
interface Batch {
  readonly outcomes: readonly Outcome[];
  readonly state: UnitState | undefined;
}

const aBatch: fc.Arbitrary<Batch> = fc.record({
  outcomes: fc.array(fc.constantFrom(...OUTCOMES), { minLength: 1, maxLength: 6 }),
  state: fc.constantFrom('planned', 'published', 'in_progress', 'committed', 'committed', 'quarantined', undefined),
});

function itemOf({ outcomes, state }: Batch, ordinal: number): UnitItem | undefined {
  if (state === undefined) return undefined;
  const common = { runId: 'r', unit: String(ordinal), tenant: 't', records: outcomes.length, state };
  const item: UnitItem = { ...common, attempts: 1, generation: 0, since: 0, cost: { ...NO_COST, calls: 2 } };
  if (state !== 'committed') return item;
  return { ...item, counts: countOutcomes(outcomes), keysDigest: keysDigest([`key of ${ordinal}`]) };
}

function standingOf(batches: readonly Batch[]) {
  const records = batches.reduce((sum, batch) => sum + batch.outcomes.length, 0);
  const count = new StandingCount({
    status: 'draining',
    plan: {
      ...{ batches: batches.length, records, digest: 'd', discovered: records, held: 0, overLimit: 0, unreadable: {} },
      ...{ tenants: 1, oldest: null, quotedWriteUnits: 0, examined: records },
    },
  });
  for (const [ordinal, batch] of batches.entries()) {
    const item = itemOf(batch, ordinal);
    if (item !== undefined) count.add({ ordinal, units: [item], keysDigest: item.keysDigest ?? '' });
  }
  return { records, standing: count.standing() };
}

describe('count algebra', () => {
  it('P53: planned = processed + skipped + remaining, whatever state each batch is in', () => {
    fc.assert(
      fc.property(fc.array(aBatch, { maxLength: 12 }), (batches) => {
        const { records, standing } = standingOf(batches);
        expect(standing.processed + standing.skipped + standing.remaining).toBe(records);
        expect(total(standing.outcomes)).toBe(standing.processed + standing.skipped);
        const open = batches.filter(({ state }) => state !== 'committed');
        expect(standing.remaining).toBe(open.reduce((sum, batch) => sum + batch.outcomes.length, 0));
      }),
    );
  });

  it('every batch is terminal, quarantined or unresolved, and only one of them', () => {
    fc.assert(
      fc.property(fc.array(aBatch, { maxLength: 12 }), (batches) => {
        const { standing } = standingOf(batches);
        const { terminal, quarantinedUnits, unresolvedUnits } = standing;
        expect(terminal.batches + quarantinedUnits + unresolvedUnits).toBe(batches.length);
        const quarantined = batches.filter(({ state }) => state === 'quarantined');
        expect(standing.quarantinedRecords).toBe(quarantined.reduce((sum, batch) => sum + batch.outcomes.length, 0));
        expect(terminal.records).toBe(standing.processed + standing.skipped);
      }),
    );
  });

  it('the terminal chain of a run that is all committed is the chain of the plan', () => {
    fc.assert(
      fc.property(fc.array(aBatch, { maxLength: 12 }), (batches) => {
        const committed = batches.map((batch) => ({ ...batch, state: 'committed' as const }));
        const planned = committed.reduce(
          (chain, { outcomes }, ordinal) => extendChain(chain, outcomes.length, keysDigest([`key of ${ordinal}`])),
          EMPTY_CHAIN,
        );
        const { standing } = standingOf(committed);
        expect(standing.terminal).toEqual(planned);
        expect(standing.remaining).toBe(0);
      }),
    );
  });

  it('what a dead dispatcher left beyond the plan counts for nothing', () => {
    const count = new StandingCount({ status: 'draining' });
    const left = itemOf({ outcomes: ['expired'], state: 'committed' }, 0);
    if (left !== undefined) count.add({ ordinal: 0, units: [left], keysDigest: '' });
    expect(count.standing()).toMatchObject({ processed: 0, remaining: 0, unresolvedUnits: 0, cost: NO_COST });
  });

  it('every outcome is either processed or skipped', () => {
    for (const outcome of OUTCOMES) {
      const counts = countOutcomes([outcome]);
      expect(processedCount(counts) + skippedCount(counts), outcome).toBe(1);
    }
    expect(OUTCOMES.filter((outcome) => processedCount(countOutcomes([outcome])) === 1)).toEqual([
      ...['expired', 'deleted', 'undone', 'gone'],
    ]);
  });

  it('counting in parts and adding up is counting at once', () => {
    const outcomes = fc.array(fc.constantFrom(...OUTCOMES));
    fc.assert(
      fc.property(outcomes, outcomes, (a, b) => {
        expect(addCounts(countOutcomes(a), countOutcomes(b))).toEqual(countOutcomes([...a, ...b]));
      }),
    );
  });

  it('costs add up field by field', () => {
    const one = { calls: 1, readUnits: 2, writeUnits: 3 };
    expect(addCost(addCost(NO_COST, one), one)).toEqual({ calls: 2, readUnits: 4, writeUnits: 6 });
  });
});

const found = fc.record({
  tenant: fc.constantFrom('a', 'b', '', '__proto__', 'constructor', 'a#b'),
  at: fc.integer({ min: 0, max: 1000 }),
  what: fc.constantFrom('planned' as const, 'held' as const, 'overLimit' as const),
});
const unreadable = fc.constantFrom(...UNREADABLE_REASONS);

function tallyOf(
  dues: readonly { tenant: string; at: number; what: 'planned' | 'held' | 'overLimit' }[],
  reasons: readonly string[],
) {
  const tally = new RunningTally();
  tally.countExamined(dues.length + reasons.length);
  for (const { tenant, at, what } of dues) tally.countDue(tenant, at, what);
  for (const reason of reasons) tally.countUnreadable(reason as (typeof UNREADABLE_REASONS)[number]);
  return tally;
}

describe('tally of discovery', () => {
  it('discovered = planned + held + over the limit, in all and for each tenant; unreadable stands outside', () => {
    fc.assert(
      fc.property(fc.array(found), fc.array(unreadable), (dues, reasons) => {
        const tally = tallyOf(dues, reasons);
        const all = tally.total();
        expect(all.discovered).toBe(dues.length);
        expect(all.planned + all.held + all.overLimit).toBe(all.discovered);
        for (const [, counts] of tally.tenants()) {
          expect(counts.planned + counts.held + counts.overLimit).toBe(counts.discovered);
        }
        expect(all.oldest).toBe(dues.length === 0 ? null : Math.min(...dues.map((due) => due.at)));
        expect(Object.values(tally.unreadable()).reduce((sum, count) => sum + count, 0)).toBe(reasons.length);
        expect(tally.tenantCount).toBe(new Set(dues.map((due) => due.tenant)).size);
      }),
    );
  });

  it('P9: tallies written between checkpoints add up to one taken at once, in any order', () => {
    const part = fc.tuple(fc.array(found), fc.array(unreadable));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const whole = tallyOf(
          parts.flatMap(([dues]) => dues),
          parts.flatMap(([, reasons]) => reasons),
        );
        const sum = new RunningTally();
        for (const [dues, reasons] of parts.toReversed()) {
          const tally = tallyOf(dues, reasons);
          const tenants = Object.fromEntries(tally.tenants());
          sum.merge({ examined: tally.examined, tenants, unreadable: tally.unreadable() });
        }
        expect(sum.examined).toBe(whole.examined);
        expect(sum.tenants()).toEqual(whole.tenants());
        expect(sum.unreadable()).toEqual(whole.unreadable());
        expect(sum.total()).toEqual(whole.total());
      }),
    );
  });
});
