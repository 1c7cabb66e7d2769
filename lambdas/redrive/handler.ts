import type { Context } from 'aws-lambda';
import { makeLambda } from '../../lib/aws/clients.ts';
import { MappingIntake } from '../../lib/aws/intake.ts';
import { createProcess, deadlineOf } from '../../lib/aws/process.ts';
import { RefusedRequest } from '../../lib/core/plan/request.ts';
import { type ActAnswer, carryOut } from '../../lib/core/redrive/act.ts';
import { readActRequest } from '../../lib/core/redrive/request.ts';

const shared = createProcess(process.env, ['deadLetterQueueUrl', 'consumerMapping']);
const intake = new MappingIntake(makeLambda(shared), shared.names.consumerMapping);

/** The one door for a person's acts, such as `{"act":"redrive","actor":…,"reason":…,"all":true}`. */
export function handler(event: unknown, context: Context): Promise<ActAnswer> {
  const deadline = deadlineOf(context);
  return shared.invocation(deadline, async () => {
    try {
      const request = readActRequest(event);
      return await carryOut({ ...shared, intake }, request, context.awsRequestId, deadline);
    } catch (error) {
      if (error instanceof RefusedRequest) logRefusals(error);
      throw error;
    }
  });
}

function logRefusals({ problems }: RefusedRequest): void {
  for (const { parameter, message: problem } of problems) {
    shared.log.event('warn', 'refused', { runId: null, parameter, problem });
  }
}
