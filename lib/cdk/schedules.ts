import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { textWhere, whereBoth, whereIs, whereNot } from './applies.ts';
import type { SettingTexts } from './setting-texts.ts';

/** The scheduler fills in the time that was meant and the id of its own attempt. */
const DISPATCH_INPUT = JSON.stringify({
  scheduledTime: '<aws.scheduler.scheduled-time>',
  executionId: '<aws.scheduler.execution-id>',
});

/** A role by which the scheduler, acting for this account only, may do what the statements say. */
function addSchedulerRole(scope: Construct, id: string, statements: readonly PolicyStatement[]): Role {
  const role = new Role(scope, id, {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  });
  for (const statement of statements) role.addToPrincipalPolicy(statement);
  return role;
}

const mayInvoke = (target: IFunction) =>
  new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [target.functionArn] });
const maySend = (queue: IQueue) => new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queue.queueArn] });

/**
 * First time of the schedule. Only a schedule that is on has one: the scheduler refuses an update that gives a time of
 * the past, so with it the switch could no longer be turned off.
 */
function startDate(scope: Construct, { scheduleStart, scheduleState }: SettingTexts): string | undefined {
  const given = whereNot(scope, 'ScheduleStartGiven', scheduleStart, '');
  const on = whereIs(scope, 'ScheduleOn', scheduleState, 'ENABLED');
  return textWhere(whereBoth(scope, 'ScheduleStarts', given, on), scheduleStart);
}

/** The schedule of the policy. A start that cannot be handed over for six hours goes to `missedStarts`. */
export function addDispatchSchedule(
  scope: Construct,
  dispatcher: IFunction,
  missedStarts: IQueue,
  settings: SettingTexts,
): CfnSchedule {
  const role = addSchedulerRole(scope, 'ScheduleRole', [mayInvoke(dispatcher), maySend(missedStarts)]);
  const start = startDate(scope, settings);
  const schedule = new CfnSchedule(scope, 'Schedule', {
    description: 'Ledgersweep: starts a run of the policy.',
    scheduleExpression: settings.scheduleExpression,
    scheduleExpressionTimezone: settings.scheduleTimeZone,
    state: settings.scheduleState,
    ...(start === undefined ? {} : { startDate: start }),
    flexibleTimeWindow: { mode: 'OFF' },
    target: {
      arn: dispatcher.functionArn,
      roleArn: role.roleArn,
      input: DISPATCH_INPUT,
      // A late start is harmless, because the cutoff comes from the scheduled time (pitfall P6).
      retryPolicy: { maximumRetryAttempts: 24, maximumEventAgeInSeconds: 21_600 },
      deadLetterConfig: { arn: missedStarts.queueArn },
    },
  });
  schedule.node.addDependency(role);
  return schedule;
}

/** Calls the reconciler every five minutes. A lost call is not retried: the next one does the same work. */
export function addReconcileSchedule(scope: Construct, reconciler: IFunction): CfnSchedule {
  const role = addSchedulerRole(scope, 'ReconcileScheduleRole', [mayInvoke(reconciler)]);
  const schedule = new CfnSchedule(scope, 'ReconcileSchedule', {
    description: 'Ledgersweep: resumes, republishes and closes what is open.',
    scheduleExpression: 'rate(5 minutes)',
    state: 'ENABLED',
    flexibleTimeWindow: { mode: 'OFF' },
    target: {
      arn: reconciler.functionArn,
      roleArn: role.roleArn,
      input: '{}',
      retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
    },
  });
  schedule.node.addDependency(role);
  return schedule;
}
