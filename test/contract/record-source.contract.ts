import { describe, it } from 'vitest';
import { SOURCE_CASES } from './source-cases.ts';
import { DYNAMO_SOURCE_CASES } from './source-dynamo-cases.ts';
import type { ContractPart } from './target.contract.ts';
import type { TargetHarness } from './target-harness.ts';

/** What every record source must do; `part` as for targets. */
export function recordSourceContract(
  name: string,
  harness: () => TargetHarness,
  part: ContractPart = 'dynamodb',
): void {
  describe(`record source: ${name}`, () => {
    const cases = part === 'records' ? SOURCE_CASES : [...SOURCE_CASES, ...DYNAMO_SOURCE_CASES];
    for (const { name: says, run } of cases) it(says, () => run(harness()));
  });
}
