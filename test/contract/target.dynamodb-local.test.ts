import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { startDynamoDbLocal } from '../helpers/dynamodb-local.ts';
import { sourceContract } from './source.contract.ts';
import { targetCases, targetContract } from './target.contract.ts';
import { dynamoHarness } from './target-harness.ts';
import { CLAUSES, casesThatCatch } from './target-mutants.ts';

const local = await startDynamoDbLocal();
afterAll(() => local?.stop());

describe.runIf(local !== undefined)('on DynamoDB Local', () => {
  const client = new DynamoDBClient({ ...local, maxAttempts: 1 });

  for (const variant of ['batch-execute', 'update-item'] as const) {
    targetContract(`DynamoDB Local by ${variant}`, () => dynamoHarness(client, { variant }));

    it.each(CLAUSES)(`the contract notices a condition without %s, by ${variant}`, async (clause) => {
      const caught = await casesThatCatch(clause, client, variant);
      console.info(`without ${clause} (${variant}): ${caught.join('; ')}`);
      expect(caught).not.toEqual([]);
      // The others do pass: it is the clause that they miss, not the store.
      expect(caught.length).toBeLessThan(targetCases('records').length / 2);
    });
  }

  sourceContract('DynamoDB Local', () => dynamoHarness(client, { variant: 'batch-execute' }));
});
