import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { DynamoAdmission } from '../../lib/aws/admission.ts';
import { createMeter } from '../../lib/aws/meter.ts';
import { admissionContract } from './admission.contract.ts';
import { createLedgerTable } from './ledger-dynamo.ts';

const T0 = Date.UTC(2026, 0, 1, 2);
const LATER = T0 + 60_000;
const RECORDS = { name: 'records', perSecond: 100 };

/** The contract on a ledger table, and what a contract of ports cannot see: calls, write units, lost answers. */
export function admissionOnDynamo(name: string, makeClient: () => DynamoDBClient): void {
  const client = makeClient();
  let tableName: string;
  beforeAll(async () => {
    tableName = await createLedgerTable(client);
  });
  const aPolicy = () => `p-${randomUUID()}`;

  admissionContract(name, async () => {
    const policyId = aPolicy();
    return () => new DynamoAdmission({ client, tableName, policyId });
  });

  describe(`admission on a table: ${name}`, () => {
    const metered = () => {
      const meter = createMeter();
      const counted = makeClient();
      meter.price(counted);
      return { meter, counted };
    };

    it('takes one call and one write unit for a grant in a busy time, none for a refusal that is foreseen', async () => {
      const { meter, counted } = metered();
      const policyId = aPolicy();
      const [one, another] = [0, 1].map(() => new DynamoAdmission({ client: counted, tableName, policyId }));
      await one?.acquire([RECORDS], 100, T0, LATER);
      expect(meter.take()).toEqual({ calls: 1, readUnits: 0, writeUnits: 1 });
      // It knows of nobody yet, and is told.
      await another?.acquire([RECORDS], 100, T0, LATER);
      expect(meter.take()).toEqual({ calls: 2, readUnits: 0, writeUnits: 2 });
      for (const admission of [one, another, one, one, another]) {
        expect((await admission?.acquire([RECORDS], 100, T0 + 1, LATER))?.kind).toBe('granted');
        expect(meter.take()).toEqual({ calls: 1, readUnits: 0, writeUnits: 1 });
      }
      expect((await another?.acquire([RECORDS], 100, T0 + 2, T0 + 500))?.kind).toBe('deferred');
      expect(meter.take()).toEqual({ calls: 0, readUnits: 0, writeUnits: 0 });
    });

    it('P55: a grant whose answer was lost makes the rate lower, never higher', async () => {
      const forgetful = makeClient();
      let losses = 0;
      forgetful.middlewareStack.add(
        (next) => {
          let answers = 0;
          return async (args) => {
            const answer = await next(args);
            answers += 1;
            if (answers > 1) return answer;
            losses += 1;
            throw Object.assign(new Error('the answer was lost'), { code: 'ECONNRESET' });
          };
        },
        { step: 'finalizeRequest', priority: 'low', name: 'losesAnswers' },
      );
      const policyId = aPolicy();
      const admission = new DynamoAdmission({ client: forgetful, tableName, policyId });
      expect(await admission.acquire([RECORDS], 100, T0, LATER)).toMatchObject({ kind: 'granted', from: T0 + 2_000 });
      const others = new DynamoAdmission({ client, tableName, policyId });
      expect(await others.acquire([RECORDS], 100, T0, LATER)).toMatchObject({ from: T0 + 3_000 });
      expect(losses).toBeGreaterThan(0);
    });

    it('keeps policies apart, and shares below a millisecond whole', async () => {
      const [one, another] = [aPolicy(), aPolicy()].map(
        (policyId) => new DynamoAdmission({ client, tableName, policyId }),
      );
      const fast = { name: 'records', perSecond: 100_000 };
      for (let n = 1; n <= 5; n += 1) {
        const admitted = await one?.acquire([fast], 1, T0, T0 + 1);
        expect(admitted).toMatchObject({ kind: 'granted' });
        expect((admitted?.until ?? 0) - T0).toBeCloseTo(n / 100, 2);
      }
      expect(await another?.acquire([fast], 100, T0, T0)).toMatchObject({ kind: 'granted', from: T0 });
    });

    it('takes one dimension, and refuses more for good rather than taking half', async () => {
      const admission = new DynamoAdmission({ client, tableName, policyId: aPolicy() });
      const both = admission.acquire([RECORDS, { name: 'endpoint', perSecond: 1 }], 1, T0, LATER);
      await expect(both).rejects.toMatchObject({ failure: { class: 'permanent' } });
      expect(await admission.acquire([RECORDS], 1, T0, T0)).toMatchObject({ kind: 'granted', from: T0 });
    });
  });
}
