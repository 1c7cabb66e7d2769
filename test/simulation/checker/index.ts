import { checkConduct } from './conduct.ts';
import type { Evidence } from './evidence.ts';
import { openFile } from './file.ts';
import { checkOutcomes } from './outcomes.ts';
import { checkPlans } from './plans.ts';
import { checkTrails } from './trails.ts';
import { checkWrites } from './writes.ts';

export { type Calm, faultsOfCalm } from './discovery.ts';
export type { Evidence, Happening, Vocabulary } from './evidence.ts';

/** Everything that is wrong with a world at rest, a sentence each; empty where it is sound. */
export function faultsOf(evidence: Evidence): readonly string[] {
  const faults = new Set<string>();
  const file = openFile(evidence, (sentence) => faults.add(sentence));
  if (evidence.ledger.runs.length === 0) faults.add('there is no run');
  if (evidence.mismatches > 0) faults.add('the reconciler found that a proof does not hold');
  checkPlans(file);
  checkOutcomes(file);
  checkWrites(file);
  checkTrails(file);
  checkConduct(file);
  return [...faults];
}
