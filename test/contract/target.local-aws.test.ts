import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { describeTable } from '../../lib/aws/targets/dynamodb/describe.ts';
import { probeWrites } from '../../lib/aws/targets/dynamodb/probe.ts';
import { startAwsUnderTest, uniqueName } from '../helpers/aws-under-test.ts';
import { testSettings } from '../model/settings.ts';
import { recordSourceContract } from './record-source.contract.ts';
import { targetContract } from './target.contract.ts';
import { createTable, dynamoHarness } from './target-harness.ts';
import { probeContract } from './target-probe.contract.ts';
import { asRoleWith } from './target-probe-role.ts';

const aws = await startAwsUnderTest();
afterAll(() => aws.stop());

describe(`on ${aws.name}`, () => {
  const client = new DynamoDBClient(aws.config);

  for (const variant of ['batch-execute', 'update-item'] as const) {
    targetContract(`${aws.name} by ${variant}`, () => dynamoHarness(client, { variant }));
  }

  recordSourceContract(aws.name, () => dynamoHarness(client, { variant: 'batch-execute' }));
  probeContract(aws.name, client);

  it.each([
    ['all', ['GetItem', 'PartiQLUpdate', 'PartiQLDelete'], []],
    ['no-delete', ['GetItem', 'PartiQLUpdate'], ['AllowDelete']],
    ['no-update', ['GetItem', 'PartiQLDelete'], ['Mode']],
    ['no-read', ['PartiQLUpdate', 'PartiQLDelete'], ['Mode']],
    ['report-only', ['DescribeTable'], ['Mode', 'AllowDelete']],
  ])('P73: the probe finds what a role with %s of the grants may not do', async (name, actions, parameters) => {
    const recordTableName = uniqueName(`granted.${name}`);
    const settings = testSettings({ recordTableName, action: 'delete', allowDelete: 'yes' });
    await createTable(client, settings, {});
    const { keys } = await describeTable(client, recordTableName);
    const granted = actions.map((action) => `dynamodb:${action}`);
    const asRole = new DynamoDBClient(await asRoleWith(aws.config, granted));
    const problems = await probeWrites(asRole, settings, keys);
    expect(problems.map(({ parameter }) => parameter)).toEqual(parameters);
  });
});
