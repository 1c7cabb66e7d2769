import { failureOf, type Log, type Queue } from '../ports/index.ts';
import type { Decision, Delivery } from './delivery.ts';
import type { Prepared } from './prepare.ts';

/**
 * Logs a decided delivery and, for a retry, hides the message for as long as the decision says. A message that cannot
 * be hidden comes back when its visibility ends, so that failure is only logged.
 */
export async function settleDelivery(
  ports: { readonly queue: Queue; readonly log: Log },
  delivery: Delivery,
  prepared: Prepared,
  decision: Decision,
): Promise<void> {
  const subject = prepared.kind === 'loaded' ? prepared.reference : undefined;
  ports.log.event(decision.kind === 'retry' ? 'warn' : 'info', 'delivery', {
    runId: subject?.runId ?? null,
    unit: subject?.unit ?? null,
    generation: subject?.generation ?? null,
    receiveCount: delivery.receiveCount,
    decision: decision.kind,
    why: decision.why,
    errorClass: decision.kind === 'retry' ? decision.errorClass : null,
    failureClass: decision.kind === 'retry' ? decision.failureClass : null,
  });
  if (decision.kind !== 'retry' || decision.afterSeconds === undefined) return;
  try {
    await ports.queue.delay(delivery.handle, decision.afterSeconds);
  } catch (error) {
    ports.log.event('warn', 'delay_failed', { errorClass: failureOf(error).error });
  }
}
