import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { PowertoolsIdempotency } from '../../lib/aws/idempotency.ts';
import { createProcess, deadlineOf } from '../../lib/aws/process.ts';
import { targetOf } from '../../lib/aws/targets/dynamodb/target.ts';
import { consume } from '../../lib/core/consume/consume.ts';
import type { Decision, Delivery } from '../../lib/core/consume/delivery.ts';
import { prepareEvent } from '../../lib/core/consume/prepare.ts';
import { settleDelivery } from '../../lib/core/consume/settle.ts';

const shared = createProcess(process.env, ['idempotencyTable', 'deadLetterQueueUrl']);
const target = targetOf('batch-execute', { client: shared.dynamo, meter: shared.meter });
const policyId = process.env.SWEEP_POLICY_ID ?? '';

/** Tells the batch processor that a message stays in the queue. */
class NotAcknowledged extends Error {
  constructor(decision: Extract<Decision, { kind: 'retry' }>) {
    super(decision.why);
    this.name = 'NotAcknowledged';
  }
}

function deliveryOf(record: SQSRecord): Delivery {
  return {
    messageId: record.messageId,
    handle: record.receiptHandle,
    body: record.body,
    receiveCount: Number(record.attributes.ApproximateReceiveCount),
  };
}

/** Works on the deliveries of one event; returns those that are not to be acknowledged. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const deadline = deadlineOf(context);
  const ports = {
    ...shared,
    target,
    policyId,
    owner: context.awsRequestId,
    idempotency: new PowertoolsIdempotency({
      client: shared.dynamo,
      tableName: shared.names.idempotencyTable,
      deadline,
    }),
  };
  const prepared = await prepareEvent(ports, event.Records.map(deliveryOf));
  const work = async (record: SQSRecord): Promise<void> => {
    const delivery = deliveryOf(record);
    const found = prepared.get(delivery.messageId);
    if (found === undefined) throw new Error('A delivery that is not of this event.');
    const decision = await consume(ports, delivery, found, deadline);
    await settleDelivery(ports, delivery, found, decision);
    if (decision.kind === 'retry') throw new NotAcknowledged(decision);
  };
  return processPartialResponse(event, work, new BatchProcessor(EventType.SQS), {
    context,
    processInParallel: false,
    throwOnFullBatchFailure: false,
  });
}
