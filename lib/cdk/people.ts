import { Stack } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { PipelineResources } from './pipeline-resources.ts';
import { OPEN_INDEX } from './storage.ts';

type Pipeline = Pick<
  PipelineResources,
  'ledgerTable' | 'queues' | 'terminalLog' | 'dispatcher' | 'consumer' | 'redrive' | 'reconciler'
>;

function statement(actions: readonly string[], resources: readonly string[]): PolicyStatement {
  return new PolicyStatement({ actions: [...actions], resources: [...resources] });
}

/** What `sweep` reads: the stack's outputs, the ledger, the depths of the queues; and the logs. Nothing of a record. */
function readStatements(scope: Construct, pipeline: Pipeline): PolicyStatement[] {
  const { ledgerTable, queues, terminalLog, dispatcher, consumer, redrive, reconciler } = pipeline;
  const logGroups = [dispatcher, consumer, redrive, reconciler].map(({ logGroup }) => logGroup).concat(terminalLog);
  return [
    statement(['cloudformation:DescribeStacks'], [Stack.of(scope).stackId]),
    statement(
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
      [ledgerTable.tableArn, `${ledgerTable.tableArn}/index/${OPEN_INDEX}`],
    ),
    statement(
      ['sqs:GetQueueAttributes'],
      [queues.work, queues.deadLetter, queues.missedStarts].map(({ queueArn }) => queueArn),
    ),
    statement(
      ['logs:FilterLogEvents', 'logs:GetLogEvents'],
      logGroups.map(({ logGroupArn }) => logGroupArn),
    ),
  ];
}

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
