import { describe, it } from 'vitest';
import { TARGET_CASES } from './target-cases.ts';
import { DELETION_CASES } from './target-deletion-cases.ts';
import { DYNAMO_DELETION_CASES } from './target-deletion-dynamo-cases.ts';
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
  const records = [...TARGET_CASES, ...DELETION_CASES];
  return part === 'records' ? records : [...records, ...DYNAMO_TARGET_CASES, ...DYNAMO_DELETION_CASES];
}
