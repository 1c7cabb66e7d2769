import { randomUUID } from 'node:crypto';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { type ClientConfig, clientConfig, trust } from '../../lib/local/access.ts';
import { startLocalAws } from '../../lib/local/server.ts';

/** Set by `npm run verify:aws`: `aws` is the account that the SDK finds by its own rules; anything else is refused. */
export const VERIFY = 'LEDGERSWEEP_VERIFY';
/** What the names of everything that is made there begin with, so that it can be found again and deleted. */
export const VERIFY_PREFIX = 'LEDGERSWEEP_VERIFY_PREFIX';

/** What the tests of `*.local-aws.test.ts` run on. */
export interface AwsUnderTest {
  readonly name: 'local AWS' | 'AWS';
  readonly account: string;
  readonly config: ClientConfig;
  stop(): Promise<void>;
}

export function isLiveAws(): boolean {
  const asked = process.env[VERIFY];
  if (asked !== undefined && asked !== 'aws') throw new Error(`${VERIFY} is "aws" or not set. Received ${asked}.`);
  return asked === 'aws';
}

/** A local AWS of its own that this process trusts, or the account that a person has chosen to verify on. */
export async function startAwsUnderTest(): Promise<AwsUnderTest> {
  if (!isLiveAws()) {
    const aws = await startLocalAws();
    trust(aws);
    return { name: 'local AWS', account: aws.account, config: clientConfig(aws), stop: () => aws.stop() };
  }
  const config: ClientConfig = { region: regionUnderTest() };
  const { Account = '' } = await new STSClient(config).send(new GetCallerIdentityCommand({}));
  return { name: 'AWS', account: Account, config, stop: async () => {} };
}

/** A name that nobody else has; at most 60 characters of letters, digits and hyphens. */
export function uniqueName(kind: string): string {
  return `${process.env[VERIFY_PREFIX] ?? 'contract'}-${kind}-${randomUUID().slice(0, 13)}`;
}

/** The name itself on a local AWS; one that belongs to nobody else on an account that somebody verifies on. */
export function nameUnderTest(name: string): string {
  return isLiveAws() ? `${process.env[VERIFY_PREFIX]}-${name}` : name;
}

function regionUnderTest(): string {
  const region = process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION;
  if (region === undefined) throw new Error('AWS_REGION says where to verify, and is not set.');
  return region;
}
