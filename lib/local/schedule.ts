import { randomUUID } from 'node:crypto';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetScheduleCommand, SchedulerClient, type Target } from '@aws-sdk/client-scheduler';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { clientConfig } from './access.ts';
import type { LocalAws } from './server.ts';

export interface Firing {
  readonly scheduleName: string;
  readonly groupName?: string;
  /** The instant the schedule is to believe it is. */
  readonly scheduledTime: Date;
}

/**
 * Does what EventBridge Scheduler does when a schedule is due: fills the context attributes into the schedule's own
 * input and invokes its target asynchronously under the schedule's own role. The local AWS's scheduler cannot: it
 * hands the attributes over as they are written.
 */
export async function fireSchedule(aws: LocalAws, firing: Firing): Promise<void> {
  const scheduler = new SchedulerClient(clientConfig(aws));
  const schedule = await scheduler.send(
    new GetScheduleCommand({ Name: firing.scheduleName, GroupName: firing.groupName ?? 'default' }),
  );
  const target = schedule.Target;
  if (target?.Arn === undefined || target.RoleArn === undefined)
    throw new Error(`The schedule ${firing.scheduleName} has no target.`);
  const lambda = new LambdaClient({ ...clientConfig(aws), credentials: await schedulesCredentials(aws, target) });
  const input = fillIn(target.Input ?? '{}', firing.scheduledTime, schedule.Arn ?? '');
  await lambda.send(
    new InvokeCommand({ FunctionName: target.Arn, InvocationType: 'Event', Payload: Buffer.from(input) }),
  );
}

/** Scheduler writes the time in whole seconds. */
function fillIn(input: string, scheduledTime: Date, arn: string): string {
  return input
    .replaceAll('<aws.scheduler.scheduled-time>', scheduledTime.toISOString().replace(/\.\d+Z$/, 'Z'))
    .replaceAll('<aws.scheduler.schedule-arn>', arn)
    .replaceAll('<aws.scheduler.execution-id>', randomUUID())
    .replaceAll('<aws.scheduler.attempt-number>', '1');
}

async function schedulesCredentials(aws: LocalAws, target: Target) {
  const sts = new STSClient(clientConfig(aws));
  const { Credentials: made } = await sts.send(
    new AssumeRoleCommand({ RoleArn: target.RoleArn, RoleSessionName: 'schedule' }),
  );
  if (!made?.AccessKeyId || !made.SecretAccessKey) throw new Error('No credentials for the role of the schedule.');
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = made;
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}
