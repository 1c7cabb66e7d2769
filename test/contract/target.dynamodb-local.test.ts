import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { onDynamoDbLocal } from './on-dynamodb-local.ts';
import { recordSourceContract } from './record-source.contract.ts';
import { targetContract } from './target.contract.ts';
import { dynamoHarness } from './target-harness.ts';
import { CLAUSES, casesOf, casesThatCatch } from './target-mutants.ts';
import { probeContract } from './target-probe.contract.ts';

await onDynamoDbLocal((local) => {
  const client = new DynamoDBClient({ ...local, maxAttempts: 1 });

  for (const variant of ['batch-execute', 'update-item'] as const) {
    targetContract(`DynamoDB Local by ${variant}`, () => dynamoHarness(client, { variant }));

    it.each(CLAUSES)(`P57, P73: the contract notices %s without its clause %s, by ${variant}`, async (...clause) => {
      const caught = await casesThatCatch(clause, client, variant);
      console.info(`${clause.join(' without ')} (${variant}): ${caught.join('; ')}`);
      expect(caught).not.toEqual([]);
      // The others do pass: it is the clause that they miss, not the store.
      expect(caught.length).toBeLessThan(casesOf(clause[0]).length / 2);
    });
  }

  recordSourceContract('DynamoDB Local', () => dynamoHarness(client, { variant: 'batch-execute' }));
  probeContract('DynamoDB Local', client);
});
