import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import type { ClientConfig } from '../../lib/local/access.ts';

/** A role that may do these actions on every record table, taken on; `root` may make it. */
export async function asRoleWith(root: ClientConfig, name: string, actions: readonly string[]): Promise<ClientConfig> {
  const stacks = new CloudFormationClient(root);
  await stacks.send(
    new CreateStackCommand({
      StackName: name,
      TemplateBody: JSON.stringify(templateOf(actions)),
      Capabilities: ['CAPABILITY_IAM'],
    }),
  );
  const limits = { client: stacks, maxWaitTime: 60, minDelay: 1, maxDelay: 1 };
  await waitUntilStackCreateComplete(limits, { StackName: name });
  const described = await stacks.send(new DescribeStacksCommand({ StackName: name }));
  const RoleArn = described.Stacks?.[0]?.Outputs?.[0]?.OutputValue;
  const { Credentials } = await new STSClient(root).send(new AssumeRoleCommand({ RoleArn, RoleSessionName: 'test' }));
  return {
    ...root,
    credentials: {
      accessKeyId: Credentials?.AccessKeyId ?? '',
      secretAccessKey: Credentials?.SecretAccessKey ?? '',
      sessionToken: Credentials?.SessionToken ?? '',
    },
  };
}

function templateOf(actions: readonly string[]) {
  const trust = { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { AWS: { Ref: 'AWS::AccountId' } } };
  const grant = { Effect: 'Allow', Action: actions, Resource: 'arn:aws:dynamodb:*:*:table/*' };
  const document = (statement: object) => ({ Version: '2012-10-17', Statement: [statement] });
  return {
    Resources: {
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          AssumeRolePolicyDocument: document(trust),
          Policies: [{ PolicyName: 'own', PolicyDocument: document(grant) }],
        },
      },
    },
    Outputs: { RoleArn: { Value: { 'Fn::GetAtt': ['Role', 'Arn'] } } },
  };
}
