import type { PlanTotals, RunItem } from '../ledger/items.ts';

/**
 * The totals that stand for the run now; undefined where none do yet. A refused run that is tried again still has those
 * of its earlier try on its item, and they are of no plan that anybody can look up.
 */
export function planOf({ status, plan, frozenAt, checkpoint }: RunItem): PlanTotals | undefined {
  if (plan === undefined || frozenAt !== undefined) return plan;
  const ofThisTry = checkpoint.nextTally > 0 && checkpoint.nextOrdinal === plan.batches;
  return status === 'refused' && ofThisTry && checkpoint.planned === plan.records ? plan : undefined;
}
