import type { Context } from 'aws-lambda';
import { createProcess, deadlineOf } from '../../lib/aws/process.ts';
import { listQuarantine, type QuarantineList, type RedriveResult, redriveAll } from '../../lib/core/redrive/redrive.ts';
import { readRedriveRequest } from '../../lib/core/redrive/request.ts';

const shared = createProcess(process.env, ['deadLetterQueueUrl']);
const policyId = process.env.SWEEP_POLICY_ID ?? '';

/** The one door for a person's acts: `{"act":"list"}`, or `{"act":"redrive","actor":…,"reason":…,"all":true}`. */
export async function handler(event: unknown, context: Context): Promise<QuarantineList | RedriveResult> {
  const request = readRedriveRequest(event);
  if (request.act === 'list') return listQuarantine(shared, policyId);
  const act = { ...request, requestId: context.awsRequestId };
  const result = await redriveAll(shared, act, deadlineOf(context));
  const { redriven, published, deleted, left } = result;
  shared.log.event('info', 'redrive', { actor: act.actor, redriven: redriven.length, published, deleted, left });
  return result;
}
