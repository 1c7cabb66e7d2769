import { Aws, Fn, Stack, Token } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { recordTableArn } from './grants.ts';
import type { PipelineResources } from './pipeline-resources.ts';
import type { SettingTexts } from './setting-texts.ts';
import { OPEN_INDEX } from './storage.ts';

type Pipeline = Pick<
  PipelineResources,
  'settings' | 'ledgerTable' | 'queues' | 'terminalLog' | 'dispatcher' | 'consumer' | 'redrive' | 'reconciler'
>;

/**
 * The two policies for people. Neither writes a table or a queue: whoever acts does so through the redrive function,
 * which writes down the name and the reason first, or triggers the dispatcher.
 */
export function addPeoplePolicies(
  scope: Construct,
  pipeline: Pipeline,
): { readonly reader: ManagedPolicy; readonly operator: ManagedPolicy } {
  const { redrive, dispatcher } = pipeline;
  const reader = new ManagedPolicy(scope, 'ReaderPolicy', {
    description: 'Ledgersweep: to look at runs, quarantine, audit trail and logs of this pipeline.',
    statements: readStatements(scope, pipeline),
  });
  const operator = new ManagedPolicy(scope, 'OperatorPolicy', {
    description: 'Ledgersweep: to look, to trigger runs, and to redrive, abandon, pause, resume and cancel.',
    statements: [
      ...readStatements(scope, pipeline),
      statement(
        ['lambda:InvokeFunction'],
        [redrive, dispatcher].map((target) => target.function.functionArn),
      ),
    ],
  });
  return { reader, operator };
}

/** What `sweep` reads: outputs of the stack, ledger, depths of the queues, what decides about a record; and the logs. */
function readStatements(scope: Construct, pipeline: Pipeline): PolicyStatement[] {
  const { settings, ledgerTable, queues, terminalLog, dispatcher, consumer, redrive, reconciler } = pipeline;
  const logGroups = [dispatcher, consumer, redrive, reconciler].map(({ logGroup }) => logGroup).concat(terminalLog);
  return [
    statement(['cloudformation:DescribeStacks'], [stackByName(scope)]),
    statement(['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'], [ledgerTable.tableArn]),
    statement(['dynamodb:Query'], [`${ledgerTable.tableArn}/index/${OPEN_INDEX}`]),
    explainStatement(scope, settings),
    statement(
      ['sqs:GetQueueAttributes'],
      [queues.work, queues.deadLetter, queues.missedStarts].map(({ queueArn }) => queueArn),
    ),
    statement(
      ['logs:FilterLogEvents', 'logs:GetLogEvents', 'logs:StartQuery', 'logs:GetQueryResults'],
      logGroups.map(({ logGroupArn }) => logGroupArn),
    ),
  ];
}

/**
 * `sweep` asks by the stack's name, and is then judged by an ARN that ends in a literal `*`: the ARN with the stack's
 * id would not cover it.
 */
function stackByName(scope: Construct): string {
  const resourceName = `${Aws.STACK_NAME}/*`;
  return Stack.of(scope).formatArn({ service: 'cloudformation', resource: 'stack', resourceName });
}

/**
 * One record at a time, and of it what the policy names only: a call that asks for another attribute, or for whole
 * records, is denied. Both conditions are needed: a call that names no attributes meets the first.
 */
function explainStatement(scope: Construct, settings: SettingTexts): PolicyStatement {
  return new PolicyStatement({
    actions: ['dynamodb:GetItem'],
    resources: [recordTableArn(scope, settings)],
    conditions: {
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': decidingAttributes(settings) },
      StringEquals: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
    },
  });
}

/** The attributes that `sweep explain` may ask for; a setting left blank is an entry that no attribute can equal. */
function decidingAttributes(settings: SettingTexts): string[] {
  const joined = [
    settings.partitionKeyAttribute,
    settings.sortKeyAttribute,
    settings.tenantAttribute,
    settings.timestampAttribute,
    settings.stateAttribute,
    settings.expiredAtAttribute,
    settings.operationKeyAttribute,
    settings.holdAttributes,
  ].join(',');
  // Split where the texts are known: the hold attributes are a list in one text.
  return Token.isUnresolved(joined) ? Fn.split(',', joined) : joined.split(',').filter((name) => name !== '');
}

function statement(actions: readonly string[], resources: readonly string[]): PolicyStatement {
  return new PolicyStatement({ actions: [...actions], resources: [...resources] });
}
