import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import { WORK_QUEUE } from '../queue.ts';

const ENTRIES_PER_CALL = 10;
const CALLS_AT_ONCE = 4;

/** Sends bodies ten at a time, several calls at once; throws where the queue did not take one. */
export async function sendAll(sqs: SQSClient, bodies: readonly string[]): Promise<void> {
  const calls = Array.from({ length: Math.ceil(bodies.length / ENTRIES_PER_CALL) }, (_, n) =>
    bodies.slice(n * ENTRIES_PER_CALL, (n + 1) * ENTRIES_PER_CALL),
  );
  await pMap(
    calls,
    async (call) => {
      const Entries = call.map((MessageBody, n) => ({ Id: String(n), MessageBody }));
      const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: WORK_QUEUE, Entries }));
      if (Failed.length > 0) throw new Error(`${Failed.length} messages were not sent.`);
    },
    { concurrency: CALLS_AT_ONCE },
  );
}
