import { describe, it } from 'vitest';
import { TARGET_CASES } from './target-cases.ts';
import { DYNAMO_TARGET_CASES } from './target-dynamo-cases.ts';
import type { ContractCase } from './target-fixture.ts';
import type { TargetHarness } from './target-harness.ts';

/** `records`: what core relies on, with a single string as key. `dynamodb`: key types and names of attributes too. */
export type ContractPart = 'records' | 'dynamodb';

export function targetContract(name: string, harness: () => TargetHarness, part: ContractPart = 'dynamodb'): void {
  describe(`target: ${name}`, () => {
    for (const { name: says, run } of targetCases(part)) it(says, () => run(harness()));
  });
}

export function targetCases(part: ContractPart): readonly ContractCase[] {
  return part === 'records' ? TARGET_CASES : [...TARGET_CASES, ...DYNAMO_TARGET_CASES];
}
