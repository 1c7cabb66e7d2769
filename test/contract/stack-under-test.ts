import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import type { ClientConfig } from '../../lib/local/access.ts';
import { uniqueName } from '../helpers/aws-under-test.ts';

type Outputs = Readonly<Record<string, string>>;

/** Makes a stack of its own and gives its outputs. */
export async function createStack(config: ClientConfig, template: object): Promise<Outputs> {
  const client = new CloudFormationClient(config);
  const StackName = uniqueName('stack');
  const TemplateBody = JSON.stringify(template);
  await client.send(new CreateStackCommand({ StackName, TemplateBody, Capabilities: ['CAPABILITY_IAM'] }));
  const limits = { client, maxWaitTime: 240, minDelay: 1, maxDelay: 2 };
  await waitUntilStackCreateComplete(limits, { StackName });
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  const outputs = Stacks[0]?.Outputs ?? [];
  return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}

export function policyDocument(statement: object) {
  return { Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] };
}

/** A role that this principal takes on, with these actions on everything the resource names. */
export function roleWith(Principal: object, actions: readonly string[], Resource = '*') {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: policyDocument({ Action: 'sts:AssumeRole', Principal }),
      Policies: [{ PolicyName: 'own', PolicyDocument: policyDocument({ Action: actions, Resource }) }],
    },
  };
}

const LOGGING = ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'];

/** A function with a role and a log group of its own; its name is `name`. */
export function functionResources(id: string, name: string, ZipFile: string, actions: readonly string[] = []) {
  return {
    [`${id}Role`]: roleWith({ Service: 'lambda.amazonaws.com' }, [...LOGGING, ...actions]),
    [`${id}Log`]: { Type: 'AWS::Logs::LogGroup', Properties: { LogGroupName: `/aws/lambda/${name}` } },
    [id]: {
      Type: 'AWS::Lambda::Function',
      DependsOn: `${id}Log`,
      Properties: {
        FunctionName: name,
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        Timeout: 30,
        Role: { 'Fn::GetAtt': [`${id}Role`, 'Arn'] },
        Code: { ZipFile },
      },
    },
  };
}
