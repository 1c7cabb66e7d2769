import { destroy } from '../../lib/local/cdk.ts';
import { makeRunFolder } from '../../lib/local/runs.ts';
import { type BringUpOptions, bringUp, type OwnPipeline } from '../../lib/local/up/bring-up.ts';
import type { RunOrder } from '../../lib/local/up/order.ts';
import { isLiveAws, nameUnderTest, startAwsUnderTest, uniqueName } from './aws-under-test.ts';

/** The pipeline on a local AWS of its own, or as a throw-away stack in the account that a person verifies on. */
export async function bringUpUnderTest(options: BringUpOptions): Promise<OwnPipeline> {
  if (!isLiveAws()) return bringUp(options);
  const { account, config } = await startAwsUnderTest();
  const stackName = uniqueName('pipeline');
  const { region } = config;
  const aws = {
    reach: 'account' as const,
    folder: makeRunFolder(options.home),
    region,
    account,
    env: { AWS_REGION: region, AWS_DEFAULT_REGION: region },
    // There is no server of ours.
    pid: 0,
    endpoint: '',
    certificate: '',
    kept: false,
    keep: () => {},
    stop: () => destroy(aws, stackName),
  };
  return bringUp({ ...options, on: { aws, stackName } });
}

/** The order over a table that belongs to nobody else. */
export function ownTable(order: RunOrder): RunOrder {
  const { settings } = order;
  return { ...order, settings: { ...settings, recordTableName: nameUnderTest(settings.recordTableName) } };
}
