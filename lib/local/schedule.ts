import { randomUUID } from 'node:crypto';
import { type InvocationType, InvokeCommand, type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda';
import { GetScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
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
 * input and invokes its target asynchronously. The local AWS's scheduler hands the attributes over as they are
 * written. Not done under the schedule's role: its trust names the scheduler alone, and the local AWS keeps to that.
 */
export async function fireSchedule(aws: LocalAws, firing: Firing): Promise<void> {
  await invokeTarget(aws, firing, 'Event');
}

/** The same, but waits for the target and gives its answer. Throws with the target's error where it failed. */
export async function fireScheduleAndWait(aws: LocalAws, firing: Firing): Promise<unknown> {
  const answer = await invokeTarget(aws, firing, 'RequestResponse');
  const text = Buffer.from(answer.Payload ?? []).toString();
  if (answer.FunctionError !== undefined) throw new Error(`The schedule's target failed: ${text}`);
  return JSON.parse(text);
}

async function invokeTarget(aws: LocalAws, firing: Firing, invocation: InvocationType): Promise<InvokeCommandOutput> {
  const scheduler = new SchedulerClient(clientConfig(aws));
  const schedule = await scheduler.send(
    new GetScheduleCommand({ Name: firing.scheduleName, GroupName: firing.groupName ?? 'default' }),
  );
  const { Arn: functionArn, Input = '{}' } = schedule.Target ?? {};
  if (functionArn === undefined) throw new Error(`The schedule ${firing.scheduleName} has no target.`);
  const input = fillIn(Input, firing.scheduledTime, schedule.Arn ?? '');
  const lambda = new LambdaClient(clientConfig(aws));
  return lambda.send(
    new InvokeCommand({ FunctionName: functionArn, InvocationType: invocation, Payload: Buffer.from(input) }),
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
