import { Duration, TimeZone } from 'aws-cdk-lib';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { describe, expect, it } from 'vitest';
import { pipelineTemplate, rendered, resource, resources, stackTemplate } from './synthesis.ts';

const START = new Date('2027-01-01T02:00:00Z');
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
    const own = pipelineTemplate({ schedule: ScheduleExpression.rate(Duration.days(7)), scheduleStart: START });
    expect(resource(own, 'AWS::Scheduler::Schedule', 'Schedule').Properties).toMatchObject({
      ScheduleExpression: 'rate(7 days)',
      StartDate: '2027-01-01T02:00:00Z',
    });
    expect(() => pipelineTemplate({ schedule: ScheduleExpression.rate(Duration.minutes(5)) })).toThrow(
      'ScheduleExpression',
    );
  });

  it('does not fire at deployment: a rate without a start is refused', () => {
    const schedule = ScheduleExpression.rate(Duration.days(7));
    expect(() => pipelineTemplate({ schedule })).toThrow(/ScheduleStart is needed with rate\(7 days\).*deployment/);
    expect(pipelineTemplate().toJSON()).not.toHaveProperty('Resources.PipelineScheduleA958415D.Properties.StartDate');
  });

  it('may start at a whole second that a calendar has, and at no other', () => {
    for (const scheduleStart of [new Date('2027-01-01T02:00:00.500Z'), new Date(Number.NaN), new Date(8.64e15)]) {
      expect(() => pipelineTemplate({ scheduleStart })).toThrow(/ScheduleStart has the wrong form|is too long/);
    }
  });

  it('has no start while it is off, so that it can be turned off after its first time', () => {
    const own = pipelineTemplate({
      schedule: ScheduleExpression.rate(Duration.days(7)),
      scheduleStart: START,
      scheduleState: 'DISABLED',
    });
    expect(resource(own, 'AWS::Scheduler::Schedule', 'Schedule').Properties).not.toHaveProperty('StartDate');
  });

  it('is refused in a time zone that does not exist', () => {
    const schedule = ScheduleExpression.cron({ minute: '0', hour: '2', timeZone: TimeZone.of('Europe/Atlantis') });
    expect(() => pipelineTemplate({ schedule })).toThrow('ScheduleTimeZone is not a time zone that exists');
  });
});
