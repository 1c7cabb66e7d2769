import type { Context } from 'aws-lambda';
import { readSettings } from '../../lib/aws/environment.ts';
import { createProcess, deadlineOf } from '../../lib/aws/process.ts';
import { openRecordSource } from '../../lib/aws/targets/dynamodb/source.ts';
import { type DispatchPorts, type DispatchResult, dispatch } from '../../lib/core/plan/dispatch.ts';
import { RefusedRequest, readDispatchRequest } from '../../lib/core/plan/request.ts';

const shared = createProcess(process.env, []);

/** Plans and publishes the run of a scheduled time; joins the run where it exists. */
export async function handler(event: unknown, context: Context): Promise<DispatchResult> {
  const { log, clock, dynamo } = shared;
  try {
    const parsed = readSettings(process.env);
    if (parsed.kind === 'invalid') throw new RefusedRequest(parsed.problems);
    const request = readDispatchRequest(event, clock.now());
    const ports: DispatchPorts = {
      ...shared,
      owner: context.awsRequestId,
      sourceFor: ({ settings, cutoff }) => openRecordSource({ client: dynamo, settings, cutoff }),
    };
    const result = await dispatch(ports, parsed.settings, request, deadlineOf(context));
    log.event('info', 'dispatch', { ...result });
    return result;
  } catch (error) {
    if (error instanceof RefusedRequest) {
      for (const { parameter, message } of error.problems) log.event('error', 'refused', { parameter, message });
    }
    throw error;
  }
}
