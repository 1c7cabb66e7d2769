import { describe, expect, it } from 'vitest';
import {
  IDEMPOTENCY_EXPIRY_DAYS,
  MESSAGES_PER_EVENT,
  REMAINING_TIME_MARGIN_MILLIS,
} from '../../lib/core/policy/budget.ts';
import { SETTINGS } from '../../lib/core/policy/settings.ts';
import { rendered, resource, resources, stackTemplate } from './synthesis.ts';

const SECONDS_PER_DAY = 86_400;
const template = stackTemplate();
const queue = (name: string) => resource(template, 'AWS::SQS::Queue', name).Properties;
const mapping = Object.values(resources(template, 'AWS::Lambda::EventSourceMapping'));

type Budgets = Record<string, { functionTimeoutSeconds: string; visibilityTimeoutSeconds: string }>;
const [[mappingId, budgets] = ['', {}]] = Object.entries(template.toJSON().Mappings as Record<string, Budgets>);
const lookup = (name: string) => ({ 'Fn::FindInMap': [mappingId, { Ref: 'BatchTimeBudgetSeconds' }, name] });

describe('queues', () => {
  it('are the work queue, its dead-letter queue, and the inbox of missed starts', () => {
    template.resourceCountIs('AWS::SQS::Queue', 3);
  });

  it('are encrypted and refuse plain HTTP', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    const refusing = Object.values(resources(template, 'AWS::SQS::QueuePolicy')).map(({ Properties }) => {
      const { Statement } = Properties.PolicyDocument as { Statement: { Resource: unknown }[] };
      expect(Statement).toEqual([
        {
          Action: 'sqs:*',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          Effect: 'Deny',
          Principal: { AWS: '*' },
          Resource: expect.anything(),
        },
      ]);
      return [rendered((Properties.Queues as unknown[])[0]), rendered(Statement[0]?.Resource)];
    });
    const names = ['<DeadLetterQueue>', '<WorkQueue>', '<MissedStartsQueue>'];
    expect(refusing).toEqual(names.map((name) => [name, name]));
  });

  it('P58: keep the dead letters for 14 days, more than a source that keeps messages for at most 4', () => {
    expect(queue('DeadLetterQueue').MessageRetentionPeriod).toBe(14 * SECONDS_PER_DAY);
    expect(queue('MissedStartsQueue').MessageRetentionPeriod).toBe(14 * SECONDS_PER_DAY);
    expect(queue('WorkQueue').MessageRetentionPeriod).toBeLessThanOrEqual(4 * SECONDS_PER_DAY);
  });

  it('P41: outlive no idempotency record, even one after the other', () => {
    const both =
      Number(queue('DeadLetterQueue').MessageRetentionPeriod) + Number(queue('WorkQueue').MessageRetentionPeriod);
    expect(IDEMPOTENCY_EXPIRY_DAYS * SECONDS_PER_DAY).toBeGreaterThan(both);
  });

  it('P31: receive often enough before the queue itself gives up', () => {
    const { maxReceiveCount, deadLetterTargetArn } = queue('WorkQueue').RedrivePolicy as Record<string, unknown>;
    expect(rendered(deadLetterTargetArn)).toBe('<DeadLetterQueue>');
    expect(maxReceiveCount).toBeGreaterThanOrEqual(3);
    // The ledger counts attempts; the queue must not be the one that decides.
    expect(maxReceiveCount).toBeGreaterThan(SETTINGS.maxAttempts.max);
  });

  it('let only the work queue dead-letter into the dead-letter queue', () => {
    const { redrivePermission, sourceQueueArns } = queue('DeadLetterQueue').RedriveAllowPolicy as {
      redrivePermission: string;
      sourceQueueArns: unknown[];
    };
    expect(redrivePermission).toBe('byQueue');
    expect(sourceQueueArns.map(rendered)).toEqual([
      `arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:${queue('WorkQueue').QueueName}`,
    ]);
  });

  it('P67: use no customer key, so no grant on one is missing', () => {
    expect(JSON.stringify(template.toJSON())).not.toMatch(/kms/i);
  });
});

describe('times that follow from the batch time budget', () => {
  it('are looked up for the function and for the queue by the same parameter', () => {
    expect(Object.keys(budgets)).toEqual(expect.arrayContaining([...SETTINGS.batchTimeBudgetSeconds.choices]));
    expect(resource(template, 'AWS::Lambda::Function', 'ConsumerFunction').Properties.Timeout).toEqual(
      lookup('functionTimeoutSeconds'),
    );
    expect(queue('WorkQueue').VisibilityTimeout).toEqual(lookup('visibilityTimeoutSeconds'));
  });

  it.each(Object.entries(budgets))('P30: with %s s, hide a message for six function timeouts', (_, times) => {
    const [only] = mapping;
    const window = Number(only?.Properties.MaximumBatchingWindowInSeconds);
    expect(window).toBe(0);
    expect(Number(times.visibilityTimeoutSeconds)).toBeGreaterThanOrEqual(
      6 * Number(times.functionTimeoutSeconds) + window,
    );
    expect(Number(times.visibilityTimeoutSeconds)).toBeLessThanOrEqual(12 * 3600);
  });

  it.each(Object.entries(budgets))(
    'P35: with %s s, let a whole event finish before the function times out',
    (budget, times) => {
      const worstMillis = MESSAGES_PER_EVENT * Number(budget) * 1000 + REMAINING_TIME_MARGIN_MILLIS;
      expect(worstMillis).toBeLessThan(Number(times.functionTimeoutSeconds) * 1000);
      expect(Number(times.functionTimeoutSeconds)).toBeLessThanOrEqual(900);
    },
  );
});

describe('event source mapping', () => {
  it('P63: is one, and reads the work queue: nothing drains a dead-letter queue by itself', () => {
    expect(
      mapping.map(({ Properties }) => [rendered(Properties.EventSourceArn), rendered(Properties.FunctionName)]),
    ).toEqual([['<WorkQueue>', '<ConsumerFunction>']]);
  });

  it('P34: reports single failures', () => {
    expect(mapping[0]?.Properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
  });

  it('P31: is limited by MaximumConcurrency, and no function by reserved concurrency', () => {
    expect(mapping[0]?.Properties.ScalingConfig).toEqual({ MaximumConcurrency: { Ref: 'ConsumerConcurrency' } });
    for (const { Properties } of Object.values(resources(template, 'AWS::Lambda::Function'))) {
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
  });

  it('P35: takes as many messages as the time budget was reckoned for', () => {
    expect(mapping[0]?.Properties.BatchSize).toBe(MESSAGES_PER_EVENT);
  });

  it('P39: filters nothing, because a filter acknowledges what it does not match', () => {
    expect(JSON.stringify(template.toJSON())).not.toContain('FilterCriteria');
  });
});
