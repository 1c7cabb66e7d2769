import type { Context } from 'aws-lambda';
import { createProcess, deadlineOf } from '../../lib/aws/process.ts';
import { LambdaResumer } from '../../lib/aws/resumer.ts';
import { type ReconcileResult, reconcile } from '../../lib/core/reconcile/reconcile.ts';

const shared = createProcess(process.env, ['deadLetterQueueUrl', 'dispatcherFunction']);
const resumer = new LambdaResumer(shared.lambda(), shared.names.dispatcherFunction);

/** One pass over the runs that are not finished. The event says nothing. */
export async function handler(_event: unknown, context: Context): Promise<ReconcileResult> {
  const result = await reconcile({ ...shared, resumer }, deadlineOf(context));
  shared.log.event('info', 'reconciled', { ...result });
  return result;
}
