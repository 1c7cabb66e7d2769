import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import type { ClientConfig } from '../../lib/local/access.ts';
import { waitFor } from '../../lib/local/wait.ts';

/** A role that was made a moment ago may not be known everywhere yet. */
const KNOWN_MILLIS = 60_000;

/** The role, taken on. */
export async function assumeRole(
  root: ClientConfig,
  RoleArn: string | undefined,
  RoleSessionName: string,
): Promise<ClientConfig & Required<Pick<ClientConfig, 'credentials'>>> {
  const sts = new STSClient(root);
  const { Credentials } = await waitFor(`the role ${RoleArn}`, KNOWN_MILLIS, () =>
    sts.send(new AssumeRoleCommand({ RoleArn, RoleSessionName })).catch((error: Error) => {
      if (error.name === 'AccessDenied') return undefined;
      throw error;
    }),
  );
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {};
  const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  return { ...root, credentials };
}
