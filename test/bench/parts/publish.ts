import { SendMessageCommand } from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import { SqsQueue } from '../../../lib/aws/queue.ts';
import { systemClock, systemRandom } from '../../../lib/aws/system.ts';
import { batchUnit } from '../../../lib/core/identity/keys.ts';
import { newRun } from '../../../lib/core/plan/new-run.ts';
import { type BatchReference, encodeReference, groupOf, referenceTo } from '../../../lib/core/publish/reference.ts';
import { sendReferences } from '../../../lib/core/publish/send.ts';
import { MemorySigner } from '../../model/signer.ts';
import { median, type Part, type Scale } from '../figures.ts';
import { BenchQueue, WORK_QUEUE } from '../queue.ts';
import { benchSettings, SCHEDULED_TIME } from '../settings.ts';

/** What a call of SQS takes at least; the ratio hardly depends on it, as both sides wait for their calls. */
const LATENCY_MILLIS = 5;
const SIZES: Readonly<Record<Scale, { readonly references: number; readonly rounds: number }>> = {
  full: { references: 1_000, rounds: 5 },
  quick: { references: 500, rounds: 3 },
  tiny: { references: 40, rounds: 1 },
};
const CALLS_AT_ONCE = 4;

const signer = new MemorySigner();

function referencesOf(count: number): readonly BatchReference[] {
  const request = { scheduledTime: SCHEDULED_TIME, startedBy: 'bench' };
  const run = newRun(benchSettings('records', { batchSize: 100 }), request, SCHEDULED_TIME);
  return Array.from({ length: count }, (_, ordinal) =>
    referenceTo(run, { unit: batchUnit(ordinal), tenant: `tenant-${ordinal % 20}`, generation: 0 }),
  );
}

type Sender = (queue: BenchQueue, references: readonly BatchReference[]) => Promise<unknown>;

/** Ours: ten to a call, four calls at once, every entry of the answer looked at. */
const publisher: Sender = async (queue, references) => {
  const port = new SqsQueue({ client: queue.client(), workQueueUrl: WORK_QUEUE });
  const ports = { queue: port, signer, clock: systemClock, random: systemRandom };
  const unconfirmed = await sendReferences(ports, references);
  if (unconfirmed.length > 0) throw new Error(`${unconfirmed.length} references were not sent.`);
};

const oneByOne =
  (concurrency: number): Sender =>
  (queue, references) => {
    const client = queue.client();
    return pMap(
      references,
      async (reference) => {
        const MessageBody = await encodeReference(reference, signer);
        const MessageGroupId = groupOf(reference.tenant);
        await client.send(new SendMessageCommand({ QueueUrl: WORK_QUEUE, MessageBody, MessageGroupId }));
      },
      { concurrency },
    );
  };

async function millisOf(sender: Sender, references: readonly BatchReference[]): Promise<number> {
  const queue = new BenchQueue(LATENCY_MILLIS);
  const begun = performance.now();
  await sender(queue, references);
  const millis = performance.now() - begun;
  if (queue.bodies.length !== references.length) throw new Error('Not every reference arrived.');
  return millis;
}

async function callsOf(sender: Sender, references: readonly BatchReference[]): Promise<number> {
  const queue = new BenchQueue();
  await sender(queue, references);
  return queue.requests;
}

/** References per second of the publisher beside a send per reference. */
export const publish: Part = {
  name: 'publish',
  about: 'references per second of the publisher beside one send per reference',
  async measure(scale) {
    const { references: count, rounds } = SIZES[scale];
    const references = referencesOf(count);
    const [loop, atOnce]: number[][] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const ours = await millisOf(publisher, references);
      loop?.push((await millisOf(oneByOne(1), references)) / ours);
      atOnce?.push((await millisOf(oneByOne(CALLS_AT_ONCE), references)) / ours);
    }
    const calls = (await callsOf(oneByOne(1), references)) / (await callsOf(publisher, references));
    return {
      figures: [
        {
          what: 'references per second of the publisher over one send after the other',
          value: median(loop ?? []),
          unit: 'times',
          ...(scale === 'tiny' ? {} : { bound: { atLeast: 10 } }),
        },
        {
          what: `the same over single sends, ${CALLS_AT_ONCE} at once as ours are`,
          value: median(atOnce ?? []),
          unit: 'times',
        },
        {
          what: 'calls of one send per reference over those of ours',
          value: calls,
          unit: 'times',
          bound: { atLeast: 10 },
        },
      ],
      tables: [],
    };
  },
};
