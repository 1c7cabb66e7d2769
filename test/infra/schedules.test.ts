import { Duration } from 'aws-cdk-lib';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { describe, expect, it } from 'vitest';
import { pipelineTemplate, rendered, resource, resources, stackTemplate } from './synthesis.ts';

const template = stackTemplate();
const schedule = (name: string) => resource(template, 'AWS::Scheduler::Schedule', name).Properties;
const target = (name: string) => schedule(name).Target as Record<string, unknown>;

describe('schedule of the policy', () => {
  it('takes its expression, time zone and state from the parameters', () => {
    expect(schedule('Schedule')).toMatchObject({
      ScheduleExpression: { Ref: 'ScheduleExpression' },
      ScheduleExpressionTimezone: { Ref: 'ScheduleTimeZone' },
      State: { Ref: 'ScheduleState' },
      FlexibleTimeWindow: { Mode: 'OFF' },
    });
  });

  it('P6: hands the dispatcher the time that was meant', () => {
    expect(rendered(target('Schedule').Arn)).toBe('<DispatcherFunction>');
    expect(JSON.parse(String(target('Schedule').Input))).toEqual({
      scheduledTime: '<aws.scheduler.scheduled-time>',
      executionId: '<aws.scheduler.execution-id>',
    });
  });

  it('P6: says its retries, and keeps a start that it could not hand over', () => {
    expect(target('Schedule').RetryPolicy).toEqual({ MaximumRetryAttempts: 24, MaximumEventAgeInSeconds: 21_600 });
    expect(rendered((target('Schedule').DeadLetterConfig as { Arn: unknown }).Arn)).toBe('<MissedStartsQueue>');
  });
});

describe('schedule of the reconciler', () => {
  it('P6: calls it every five minutes and does not pile up what it missed', () => {
    expect(schedule('ReconcileSchedule')).toMatchObject({
      ScheduleExpression: 'rate(5 minutes)',
      State: 'ENABLED',
      FlexibleTimeWindow: { Mode: 'OFF' },
    });
    expect(rendered(target('ReconcileSchedule').Arn)).toBe('<ReconcilerFunction>');
    expect(target('ReconcileSchedule').RetryPolicy).toEqual({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
  });

  it('is a schedule of its own, with a role of its own', () => {
    expect(Object.keys(resources(template, 'AWS::Scheduler::Schedule'))).toHaveLength(2);
    expect(rendered(target('Schedule').RoleArn)).toBe('<ScheduleRole>');
    expect(rendered(target('ReconcileSchedule').RoleArn)).toBe('<ReconcileScheduleRole>');
  });
});

describe('a schedule given to the construct', () => {
  it('P3: is refused where the CDK turned a missing minute into every minute', () => {
    expect(() => pipelineTemplate({ schedule: ScheduleExpression.cron({ hour: '2' }) })).toThrow(
      /ScheduleExpression has the wrong form.*minutes are given as a number.*cron\(\* 2/,
    );
  });

  it('P3: is written as it was meant where the minute is given', () => {
    const own = pipelineTemplate({ schedule: ScheduleExpression.cron({ minute: '0', hour: '2' }) });
    expect(resource(own, 'AWS::Scheduler::Schedule', 'Schedule').Properties).toMatchObject({
      ScheduleExpression: 'cron(0 2 * * ? *)',
      ScheduleExpressionTimezone: 'Etc/UTC',
      State: 'ENABLED',
    });
  });

  it('P3: never makes a template with a minute of its own', () => {
    for (const synthesised of [template, pipelineTemplate()]) {
      expect(JSON.stringify(synthesised.toJSON())).not.toContain('cron(* ');
    }
  });

  it('may be a rate of hours or days', () => {
    const own = pipelineTemplate({ schedule: ScheduleExpression.rate(Duration.days(7)) });
    expect(resource(own, 'AWS::Scheduler::Schedule', 'Schedule').Properties.ScheduleExpression).toBe('rate(7 days)');
    expect(() => pipelineTemplate({ schedule: ScheduleExpression.rate(Duration.minutes(5)) })).toThrow(
      'ScheduleExpression',
    );
  });
});
