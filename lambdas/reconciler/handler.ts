import type { Context } from 'aws-lambda';
import { makeLambda } from '../../lib/aws/clients.ts';
import { MappingIntake } from '../../lib/aws/intake.ts';
import { createProcess, deadlineOf } from '../../lib/aws/process.ts';
import { LambdaResumer } from '../../lib/aws/resumer.ts';
import { type ReconcileResult, reconcile } from '../../lib/core/reconcile/reconcile.ts';

const shared = createProcess(process.env, ['deadLetterQueueUrl', 'dispatcherFunction', 'consumerMapping']);
const lambda = makeLambda(shared);
const resumer = new LambdaResumer(lambda, shared.names.dispatcherFunction);
const intake = new MappingIntake(lambda, shared.names.consumerMapping);

/** One pass over the runs that are not finished. The event says nothing. */
export function handler(_event: unknown, context: Context): Promise<ReconcileResult> {
  const deadline = deadlineOf(context);
  return shared.invocation(deadline, async () => {
    const result = await reconcile({ ...shared, resumer, intake }, deadline);
    shared.log.event('info', 'reconciled', { ...result });
    return result;
  });
}
