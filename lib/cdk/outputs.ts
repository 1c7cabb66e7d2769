import { CfnOutput } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { PipelineResources } from './pipeline-resources.ts';

/**
 * The stack outputs by which `sweep` finds a pipeline; names and addresses only. Their logical ids are fixed, so a
 * stack has room for one pipeline that the command line can see.
 */
export class PipelineOutputs extends Construct {
  constructor(scope: Construct, id: string, pipeline: PipelineResources) {
    super(scope, id);
    for (const [name, { value, description }] of Object.entries(outputs(pipeline))) {
      new CfnOutput(this, name, { value, description }).overrideLogicalId(name);
    }
  }
}

function outputs(pipeline: PipelineResources): Record<string, { value: string; description: string }> {
  const { settings, queues, dispatcher, consumer, redrive, reconciler } = pipeline;
  const say = (value: string, description: string) => ({ value, description });
  return {
    PolicyId: say(settings.policyId, 'Retention policy of this stack.'),
    PolicyVersion: say(settings.policyVersion, 'Version of the retention policy.'),
    Mode: say(settings.mode, 'Mode in which new runs start.'),
    Action: say(settings.action, 'What new runs do to a record.'),
    RecordTableName: say(settings.recordTableName, 'Table of the records.'),
    LedgerTableName: say(pipeline.ledgerTable.tableName, 'Table of the runs, plans and outcomes.'),
    IdempotencyTableName: say(pipeline.idempotencyTable.tableName, 'Table of the idempotency records.'),
    WorkQueueUrl: say(queues.work.queueUrl, 'Queue of the batch references.'),
    DeadLetterQueueUrl: say(queues.deadLetter.queueUrl, "Queue of what failed: a person's inbox."),
    MissedStartsQueueUrl: say(queues.missedStarts.queueUrl, 'Queue of the scheduled starts that started nothing.'),
    SigningSecretArn: say(pipeline.signingSecret.secretArn, 'Secret that holds the signing keys.'),
    ScheduleName: say(pipeline.schedule.ref, 'Schedule that starts the runs.'),
    ConsumerMappingId: say(pipeline.consumerMapping.eventSourceMappingId, 'Mapping of the work queue to the consumer.'),
    DispatcherFunctionName: say(dispatcher.function.functionName, 'Function that plans and publishes.'),
    ConsumerFunctionName: say(consumer.function.functionName, 'Function that applies batches.'),
    RedriveFunctionName: say(redrive.function.functionName, "Function for a person's acts."),
    ReconcilerFunctionName: say(reconciler.function.functionName, 'Function that resumes, republishes and closes.'),
    TerminalLogGroupName: say(pipeline.terminalLog.logGroupName, 'Log of what ended and of what people did.'),
    ReaderPolicyArn: say(pipeline.readerPolicy.managedPolicyArn, 'Policy for people who look.'),
    OperatorPolicyArn: say(pipeline.operatorPolicy.managedPolicyArn, 'Policy for people who act.'),
    DispatcherRoleName: say(dispatcher.role.roleName, 'Role of the dispatcher.'),
    ConsumerRoleName: say(consumer.role.roleName, 'Role of the consumer.'),
    RedriveRoleName: say(redrive.role.roleName, 'Role of redrive.'),
    ReconcilerRoleName: say(reconciler.role.roleName, 'Role of the reconciler.'),
  };
}
