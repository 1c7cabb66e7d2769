import pMap from 'p-map';
import type { Clock, OutgoingMessage, Queue, Random, SendFailure, Signer } from '../ports/index.ts';
import { SEND_BATCH_LIMIT } from '../ports/index.ts';
import { backoffMillis } from '../retry.ts';
import { type BatchReference, encodeReference, groupOf } from './reference.ts';

export interface SendPorts {
  readonly queue: Queue;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly random: Random;
}

/** A reference that the queue did not confirm, and the last word it gave. */
export interface Unconfirmed {
  readonly reference: BatchReference;
  readonly failure: SendFailure;
}

const SEND_ROUNDS = 4;
const CALLS_AT_ONCE = 4;

/** How long, in seconds from 0 to 900, a message is held back in the queue before anybody receives it. */
export type DelayOf = (reference: BatchReference) => number;

const AT_ONCE: DelayOf = () => 0;

async function sendOnce(
  ports: SendPorts,
  references: readonly BatchReference[],
  delayOf: DelayOf,
): Promise<readonly Unconfirmed[]> {
  const messages = await Promise.all(
    references.map(
      async (reference, index): Promise<OutgoingMessage> => ({
        id: String(index),
        body: await encodeReference(reference, ports.signer),
        group: groupOf(reference.tenant),
        ...(delayOf(reference) > 0 ? { delaySeconds: delayOf(reference) } : {}),
      }),
    ),
  );
  const result = await ports.queue.send(messages);
  const sent = new Set(result.sent);
  return references.flatMap((reference, index) => {
    const id = String(index);
    if (sent.has(id)) return [];
    // An entry in neither list was not confirmed; only what is confirmed counts (pitfall P27).
    const failure = result.failed.find((entry) => entry.id === id) ?? { id, code: 'NotConfirmed', fault: 'service' };
    return [{ reference, failure }];
  });
}

async function sendChunk(
  ports: SendPorts,
  chunk: readonly BatchReference[],
  delayOf: DelayOf,
): Promise<readonly Unconfirmed[]> {
  const refused: Unconfirmed[] = [];
  let left = chunk;
  for (let round = 0; left.length > 0; round += 1) {
    const unconfirmed = await sendOnce(ports, left, delayOf);
    refused.push(...unconfirmed.filter((entry) => entry.failure.fault === 'sender'));
    const again = unconfirmed.filter((entry) => entry.failure.fault === 'service');
    if (again.length === 0) return refused;
    if (round + 1 === SEND_ROUNDS) return [...refused, ...again];
    left = again.map((entry) => entry.reference);
    await ports.clock.sleep(backoffMillis(round, ports.random));
  }
  return refused;
}

/**
 * Sends references to the work queue, the only place that does. Resends what the queue did not confirm, a bounded
 * number of times; an entry that is the sender's fault is not sent again. Returns what stays unconfirmed.
 */
export async function sendReferences(
  ports: SendPorts,
  references: readonly BatchReference[],
  delayOf: DelayOf = AT_ONCE,
): Promise<readonly Unconfirmed[]> {
  const chunks: (readonly BatchReference[])[] = [];
  for (let start = 0; start < references.length; start += SEND_BATCH_LIMIT) {
    chunks.push(references.slice(start, start + SEND_BATCH_LIMIT));
  }
  return (await pMap(chunks, (chunk) => sendChunk(ports, chunk, delayOf), { concurrency: CALLS_AT_ONCE })).flat();
}
