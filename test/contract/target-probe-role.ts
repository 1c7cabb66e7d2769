import type { ClientConfig } from '../../lib/local/access.ts';
import { assumeRole } from '../helpers/assume-role.ts';
import { createStack, roleWith } from './stack-under-test.ts';

/** A role that may do these actions on every record table, taken on; `root` may make it. */
export async function asRoleWith(root: ClientConfig, actions: readonly string[]): Promise<ClientConfig> {
  const { RoleArn } = await createStack(root, {
    Resources: { Role: roleWith({ AWS: { Ref: 'AWS::AccountId' } }, actions, 'arn:aws:dynamodb:*:*:table/*') },
    Outputs: { RoleArn: { Value: { 'Fn::GetAtt': ['Role', 'Arn'] } } },
  });
  return assumeRole(root, RoleArn, 'test');
}
