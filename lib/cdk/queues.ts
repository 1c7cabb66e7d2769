import { Duration, Stack, Token } from 'aws-cdk-lib';
import { Queue, QueueEncryption, type QueueProps, RedrivePermission } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { DEAD_LETTER_RETENTION_DAYS, MAX_RECEIVE_COUNT, WORK_QUEUE_RETENTION_DAYS } from '../core/policy/budget.ts';

export interface Queues {
  readonly work: Queue;
  /** A person's inbox: nothing drains it by itself. */
  readonly deadLetter: Queue;
  /** Scheduled starts that did not start anything, from the scheduler and from Lambda alike. */
  readonly missedStarts: Queue;
}

const SAFE: QueueProps = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };
const MAX_QUEUE_NAME_LENGTH = 80;

/** Makes the queues; `visibilityTimeout` is six times the timeout of the function that reads the work queue. */
export function addQueues(scope: Construct, visibilityTimeout: Duration): Queues {
  const queueName = workQueueName(scope);
  const deadLetter = new Queue(scope, 'DeadLetterQueue', {
    ...SAFE,
    // The clock of a message started when it was first sent, not when it was moved here (pitfall P58).
    retentionPeriod: Duration.days(DEAD_LETTER_RETENTION_DAYS),
    redriveAllowPolicy: {
      redrivePermission: RedrivePermission.BY_QUEUE,
      sourceQueues: [Queue.fromQueueArn(scope, 'WorkQueueByName', queueArn(scope, queueName))],
    },
  });
  const work = new Queue(scope, 'WorkQueue', {
    ...SAFE,
    queueName,
    retentionPeriod: Duration.days(WORK_QUEUE_RETENTION_DAYS),
    visibilityTimeout,
    deadLetterQueue: { queue: deadLetter, maxReceiveCount: MAX_RECEIVE_COUNT },
  });
  // One queue for both layers: to the person who looks they mean the same, and the remedy is the same trigger.
  const missedStarts = new Queue(scope, 'MissedStartsQueue', {
    ...SAFE,
    retentionPeriod: Duration.days(DEAD_LETTER_RETENTION_DAYS),
  });
  return { work, deadLetter, missedStarts };
}

function queueArn(scope: Construct, queueName: string): string {
  return Stack.of(scope).formatArn({ service: 'sqs', resource: queueName });
}

/**
 * Each of the two queues must name the other one, which CloudFormation cannot order; so the work queue has a name
 * that is known beforehand: the stack's, cut to fit, and the hash of the construct's place.
 */
function workQueueName(scope: Construct): string {
  const { stackName } = Stack.of(scope);
  const suffix = `-work-${scope.node.addr.slice(-8)}`;
  const prefix = Token.isUnresolved(stackName) ? 'ledgersweep' : stackName;
  return `${prefix.slice(0, MAX_QUEUE_NAME_LENGTH - suffix.length)}${suffix}`;
}
