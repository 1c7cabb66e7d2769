import { CfnCondition, Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { CfnPolicy, Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Applies } from './applies.ts';
import type { Queues } from './queues.ts';
import type { SettingTexts } from './setting-texts.ts';
import { OPEN_INDEX } from './storage.ts';
import type { SweepFunction } from './sweep-function.ts';

/** What the functions share, and the conditions under which a role is given more. */
export interface Grantables {
  readonly settings: SettingTexts;
  readonly ledger: Table;
  readonly idempotency: Table;
  readonly queues: Queues;
  readonly signingSecret: Secret;
  readonly terminalLog: LogGroup;
  /** Discovery goes through a named index. */
  readonly indexGiven: Applies;
  /** The mode is another one than report-only. */
  readonly mayWriteRecords: Applies;
  /** The same, and deletion is allowed by its own switch. */
  readonly mayDeleteRecords: Applies;
}

const RECEIVE = [
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
  'sqs:ChangeMessageVisibility',
  'sqs:GetQueueAttributes',
] as const;

/** Plans into the ledger, reads records, sends, asks the consumer what it may; no right to write a record. */
export function grantDispatcher(dispatcher: SweepFunction, consumer: SweepFunction, to: Grantables): void {
  grantLedger(dispatcher, to, ['dynamodb:Query']);
  grantOpenIndex(dispatcher, to);
  const records = recordTableArn(dispatcher, to.settings);
  dispatcher.allow(['dynamodb:DescribeTable', 'dynamodb:Query', 'dynamodb:Scan'], records);
  addPolicyWhere(to.indexGiven, dispatcher, 'RecordIndexRead', {
    actions: ['dynamodb:Query', 'dynamodb:Scan'],
    resources: [`${records}/index/${to.settings.recordIndexName}`],
  });
  grantSend(dispatcher, to.queues.work, to.queues.missedStarts);
  grantSigning(dispatcher, to);
  dispatcher.allow(['lambda:InvokeFunction'], consumer.function.functionArn);
}

/** Takes work, never puts any back (pitfall P63); writes and deletes records only where the settings allow it. */
export function grantConsumer(consumer: SweepFunction, to: Grantables): void {
  grantLedger(consumer, to, []);
  consumer.allow(
    ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
    to.idempotency.tableArn,
  );
  consumer.allow(RECEIVE, to.queues.work.queueArn);
  grantSend(consumer, to.queues.deadLetter);
  grantSigning(consumer, to);
  addPolicyWhere(to.mayWriteRecords, consumer, 'RecordWrites', {
    actions: ['dynamodb:GetItem', 'dynamodb:PartiQLUpdate', 'dynamodb:UpdateItem'],
    resources: [recordTableArn(consumer, to.settings)],
  });
  addPolicyWhere(to.mayDeleteRecords, consumer, 'RecordDeletes', {
    actions: ['dynamodb:PartiQLDelete', 'dynamodb:DeleteItem'],
    resources: [recordTableArn(consumer, to.settings)],
  });
}

/** Moves units and messages; cannot touch records. */
export function grantRedrive(redrive: SweepFunction, to: Grantables): void {
  grantLedger(redrive, to, ['dynamodb:Query']);
  grantOpenIndex(redrive, to);
  // The depth of both queues is read together; the dead-letter queue's is the bound of one act (pitfall P61).
  redrive.allow(['sqs:GetQueueAttributes'], to.queues.work.queueArn);
  redrive.allow(RECEIVE, to.queues.deadLetter.queueArn);
  grantSend(redrive, to.queues.deadLetter, to.queues.work);
  grantSigning(redrive, to);
}

/** Reads the whole state, resends, labels what SQS dead-lettered, restarts the dispatcher. */
export function grantReconciler(reconciler: SweepFunction, dispatcher: SweepFunction, to: Grantables): void {
  grantLedger(reconciler, to, ['dynamodb:Query']);
  grantOpenIndex(reconciler, to);
  reconciler.allow(['sqs:GetQueueAttributes'], to.queues.work.queueArn);
  reconciler.allow(RECEIVE, to.queues.deadLetter.queueArn);
  grantSend(reconciler, to.queues.work, to.queues.deadLetter);
  grantSigning(reconciler, to);
  reconciler.allow(['lambda:InvokeFunction'], dispatcher.function.functionArn);
}

/** Switches the consumer's event source mapping, and no other. */
export function grantIntake(to: SweepFunction, mapping: EventSourceMapping): void {
  to.allow(['lambda:UpdateEventSourceMapping'], mapping.eventSourceMappingArn);
}

/** A transaction of puts and updates needs the rights of its parts and none of its own. */
function grantLedger(to: SweepFunction, { ledger, terminalLog }: Grantables, more: readonly string[]): void {
  // Whoever writes the ledger tells of what ended.
  terminalLog.grantWrite(to.role);
  to.allow(
    ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', ...more],
    ledger.tableArn,
  );
}

function grantOpenIndex(to: SweepFunction, { ledger }: Grantables): void {
  to.allow(['dynamodb:Query'], `${ledger.tableArn}/index/${OPEN_INDEX}`);
}

function grantSend(to: SweepFunction, ...queues: readonly IQueue[]): void {
  to.allow(['sqs:SendMessage'], ...queues.map((queue) => queue.queueArn));
}

function grantSigning(to: SweepFunction, { signingSecret }: Grantables): void {
  to.allow(['secretsmanager:GetSecretValue'], signingSecret.secretArn);
}

/** The table of the records, by its name alone: it is not part of the stack. */
export function recordTableArn(scope: Construct, { recordTableName }: SettingTexts): string {
  return Stack.of(scope).formatArn({ service: 'dynamodb', resource: 'table', resourceName: recordTableName });
}

/**
 * A right that exists only where something applies: not a statement that is empty, but no policy at all. Nothing can
 * depend on it, because it may not be there.
 */
function addPolicyWhere(
  applies: Applies,
  to: SweepFunction,
  id: string,
  statement: { actions: string[]; resources: string[] },
): void {
  if (applies === 'never') return;
  const policy = new Policy(to, id, { roles: [to.role], statements: [new PolicyStatement(statement)] });
  const resource = policy.node.defaultChild;
  if (applies instanceof CfnCondition && resource instanceof CfnPolicy) resource.cfnOptions.condition = applies;
}
