import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { DynamoAdmission } from '../../lib/aws/admission.ts';
import { makeRecordStore } from '../../lib/aws/clients.ts';
import { deliveryOf, isQueueEvent } from '../../lib/aws/delivery.ts';
import { PowertoolsIdempotency } from '../../lib/aws/idempotency.ts';
import { type ProbeAnswer, type ProbeRequest, readProbeRequest } from '../../lib/aws/probe.ts';
import { createProcess, deadlineOf } from '../../lib/aws/process.ts';
import { probeWrites } from '../../lib/aws/targets/dynamodb/probe.ts';
import { targetOf } from '../../lib/aws/targets/dynamodb/target.ts';
import type { Decision } from '../../lib/core/consume/delivery.ts';
import { prepareEvent } from '../../lib/core/consume/prepare.ts';
import { workDelivery } from '../../lib/core/consume/work.ts';
import { Gate } from '../../lib/core/control/gate.ts';
import type { Deadline } from '../../lib/core/ports/index.ts';

const shared = createProcess(process.env, ['idempotencyTable', 'deadLetterQueueUrl']);
const { dynamo, meter, policyId } = shared;
const target = targetOf('batch-execute', { client: makeRecordStore({ meter }), meter });
const admission = new DynamoAdmission({ client: dynamo, tableName: shared.names.ledgerTable, policyId });
const gate = new Gate(shared.ledger, shared.clock);

/** Tells the batch processor that a message stays in the queue. */
class NotAcknowledged extends Error {
  constructor(decision: Extract<Decision, { kind: 'retry' }>) {
    super(decision.why);
    this.name = 'NotAcknowledged';
  }
}

/**
 * Works on the deliveries of one event and returns those that are not to be acknowledged; or tells the dispatcher what
 * this function's role may not do. Rejects anything else: any answer would acknowledge it (pitfall P34).
 */
export async function handler(event: unknown, context: Context): Promise<SQSBatchResponse | ProbeAnswer> {
  const asked = readProbeRequest(event);
  if (asked !== undefined) return answerProbe(asked);
  if (!isQueueEvent(event)) throw new TypeError('The event is neither of the work queue nor a probe.');
  const deadline = deadlineOf(context);
  return shared.invocation(deadline, () => workOff(event, context, deadline));
}

async function answerProbe({ settings, keys }: ProbeRequest): Promise<ProbeAnswer> {
  const problems = await probeWrites(dynamo, settings, keys);
  // What it cost belongs to no unit, least of all to the next one.
  meter.take();
  return { problems };
}

async function workOff(event: SQSEvent, context: Context, deadline: Deadline): Promise<SQSBatchResponse> {
  const ports = {
    ...shared,
    target,
    admission,
    gate,
    owner: context.awsRequestId,
    idempotency: new PowertoolsIdempotency({
      client: dynamo,
      tableName: shared.names.idempotencyTable,
      deadline,
    }),
  };
  const prepared = await prepareEvent(ports, event.Records.map(deliveryOf));
  const work = async (record: SQSRecord): Promise<void> => {
    const delivery = deliveryOf(record);
    const found = prepared.get(delivery.messageId);
    if (found === undefined) throw new Error('A delivery that is not of this event.');
    const decision = await workDelivery(ports, delivery, found, deadline);
    if (decision.kind === 'retry') throw new NotAcknowledged(decision);
  };
  return processPartialResponse(event, work, new BatchProcessor(EventType.SQS), {
    context,
    processInParallel: false,
    throwOnFullBatchFailure: false,
  });
}
