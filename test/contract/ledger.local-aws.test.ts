import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe } from 'vitest';
import { clientConfig, trust } from '../../lib/local/access.ts';
import { startLocalAws } from '../../lib/local/server.ts';
import { ledgerContract } from './ledger.contract.ts';
import { createLedgerTable, ledgerOn } from './ledger-dynamo.ts';
import { ledgerDynamoCases } from './ledger-dynamo-cases.ts';

const aws = await startLocalAws();
trust(aws);
afterAll(() => aws.stop());

describe('on the local AWS', () => {
  const client = new DynamoDBClient(clientConfig(aws));
  ledgerContract('local AWS', async () => ledgerOn(client, await createLedgerTable(client)));
  ledgerDynamoCases('local AWS', () => new DynamoDBClient(clientConfig(aws)));
});
