import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type ClauseName, expiryGuard, type Guard } from '../../lib/aws/targets/dynamodb/guard.ts';
import type { TargetVariant } from '../../lib/aws/targets/dynamodb/target.ts';
import { targetCases } from './target.contract.ts';
import { dynamoHarness } from './target-harness.ts';

export const CLAUSES: readonly ClauseName[] = ['state', 'timestamp', 'no-hold', 'not-ours'];

/** The guard of an expiry with one clause left out. */
export function guardWithout(name: ClauseName): Guard {
  return (settings, item) => expiryGuard(settings, item).filter((clause) => clause.name !== name);
}

/** Names of the contract's cases that fail where the clause is left out. */
export async function casesThatCatch(
  name: ClauseName,
  client: DynamoDBClient,
  variant: TargetVariant,
): Promise<readonly string[]> {
  const harness = dynamoHarness(client, { variant, guard: guardWithout(name) });
  const tried = targetCases('records').map(async ({ name: says, run }) => {
    return run(harness).then(
      () => [],
      () => [says],
    );
  });
  return (await Promise.all(tried)).flat();
}
