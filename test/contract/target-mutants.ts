import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type ClauseName, type Guard, recordGuard } from '../../lib/aws/targets/dynamodb/guard.ts';
import type { TargetVariant } from '../../lib/aws/targets/dynamodb/target.ts';
import type { TransitionKind } from '../../lib/aws/targets/dynamodb/transition.ts';
import { TARGET_CASES } from './target-cases.ts';
import { DELETION_CASES } from './target-deletion-cases.ts';
import type { ContractCase } from './target-fixture.ts';
import { dynamoHarness } from './target-harness.ts';

/** Every clause of every kind of write. */
export const CLAUSES: readonly (readonly [TransitionKind, ClauseName])[] = [
  ['expire', 'state'],
  ['expire', 'timestamp'],
  ['expire', 'no-hold'],
  ['expire', 'not-ours'],
  ['delete', 'state'],
  ['delete', 'expired-at'],
  ['delete', 'operation-key'],
  ['delete', 'no-hold'],
];

/** The guard with one clause of one kind of write left out. */
export function guardWithout(kind: TransitionKind, name: ClauseName): Guard {
  return (call, item) => recordGuard(call, item).filter((clause) => call.kind !== kind || clause.name !== name);
}

/** The cases of one kind of write. */
export function casesOf(kind: TransitionKind): readonly ContractCase[] {
  return kind === 'delete' ? DELETION_CASES : TARGET_CASES;
}

/** Names of the contract's cases that fail where the clause is left out. */
export async function casesThatCatch(
  [kind, name]: (typeof CLAUSES)[number],
  client: DynamoDBClient,
  variant: TargetVariant,
): Promise<readonly string[]> {
  const harness = dynamoHarness(client, { variant, guard: guardWithout(kind, name) });
  const tried = casesOf(kind).map(async ({ name: says, run }) => {
    return run(harness).then(
      () => [],
      () => [says],
    );
  });
  return (await Promise.all(tried)).flat();
}
