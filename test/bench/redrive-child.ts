import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CreateQueueCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import { createProcess } from '../../lib/aws/process.ts';
import { GENERATION_LABEL } from '../../lib/core/consume/copies.ts';
import { batchUnit } from '../../lib/core/identity/keys.ts';
import type { RunItem } from '../../lib/core/ledger/items.ts';
import { newRun } from '../../lib/core/plan/new-run.ts';
import { encodeReference, groupOf, referenceTo } from '../../lib/core/publish/reference.ts';
import { type ActAnswer, type ActPorts, carryOut } from '../../lib/core/redrive/act.ts';
import { readActRequest } from '../../lib/core/redrive/request.ts';
import { createLedgerTable } from '../contract/ledger-dynamo.ts';
import { benchSettings, SCHEDULED_TIME } from './settings.ts';

// `node --expose-gc redrive-child.ts <dead letters>`: what the acts cost over so many, as one line of JSON.

/** Named apart from the rest, for the filter to find. */
const FILTERED = 37;
const TENANT = 'tenant-00';
const RATE_PER_SECOND = 1_000;
const PLENTY = { remainingMillis: () => 800_000 };

export interface RedriveFigures {
  readonly letters: number;
  readonly listCalls: number;
  readonly filteredCalls: number;
  readonly allCalls: number;
  readonly heapBytes: number;
}

async function createStores(name: string) {
  const sqs = new SQSClient({});
  const queue = async (QueueName: string) => (await sqs.send(new CreateQueueCommand({ QueueName }))).QueueUrl ?? '';
  const SecretString = JSON.stringify({ current: 'k1', k1: 'k'.repeat(64) });
  const { ARN = '' } = await new SecretsManagerClient({}).send(new CreateSecretCommand({ Name: name, SecretString }));
  return {
    LEDGER_TABLE: await createLedgerTable(new DynamoDBClient({})),
    WORK_QUEUE_URL: await queue(`${name}-work`),
    DEAD_LETTER_QUEUE_URL: await queue(`${name}-dead-letters`),
    SIGNING_SECRET_ARN: ARN,
    TERMINAL_LOG_GROUP: 'bench',
  };
}

type Shared = ReturnType<typeof createProcess<'deadLetterQueueUrl'>>;

async function startedRun({ ledger }: Shared): Promise<RunItem> {
  const settings = benchSettings('records', { batchSize: 1 });
  const run = newRun(settings, { scheduledTime: SCHEDULED_TIME, startedBy: 'bench' }, SCHEDULED_TIME);
  await ledger.createRun(run);
  await ledger.moveRun(run.runId, 'freeze', run.lease.epoch, { frozenAt: SCHEDULED_TIME });
  const moved = await ledger.moveRun(run.runId, 'drain', run.lease.epoch, { publishedAt: SCHEDULED_TIME });
  if (moved.run?.status !== 'draining') throw new Error('The run did not start.');
  return moved.run;
}

/** Units as a consumer leaves them: quarantined in the ledger, their copies noted and in the dead-letter queue. */
async function quarantine(shared: Shared, run: RunItem, letters: number): Promise<void> {
  const { ledger, signer, names } = shared;
  const sqs = new SQSClient({});
  const units = Array.from({ length: letters }, (_, ordinal) => ({ unit: batchUnit(ordinal), tenant: TENANT }));
  await pMap(
    units,
    async ({ unit, tenant }, ordinal) => {
      const ref = { runId: run.runId, unit };
      const now = shared.clock.now();
      const errorClass = ordinal < FILTERED ? 'Named' : 'ThrottlingException';
      const change = { since: now, finishedAt: now, reason: 'attempts_spent', errorClass } as const;
      await ledger.moveUnit(ref, 'quarantine', { generation: 0, make: { tenant, records: 1 } }, change);
      const copied = { since: now, copiedAt: now, copiedGeneration: 0 };
      await ledger.moveUnit(ref, 'copy', { generation: 0 }, copied);
    },
    { concurrency: 16 },
  );
  for (let start = 0; start < letters; start += 10) {
    const Entries = await Promise.all(
      units.slice(start, start + 10).map(async ({ unit, tenant }, index) => ({
        Id: String(index),
        MessageBody: await encodeReference(referenceTo(run, { unit, tenant, generation: 0 }), signer),
        MessageGroupId: groupOf(tenant),
        MessageAttributes: { [GENERATION_LABEL]: { DataType: 'String', StringValue: '0' } },
      })),
    );
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: names.deadLetterQueueUrl, Entries }));
  }
}

async function measured(shared: Shared, ports: ActPorts, event: object): Promise<{ calls: number; answer: ActAnswer }> {
  shared.meter.take();
  const answer = await carryOut(ports, readActRequest(event), 'bench', PLENTY);
  return { calls: shared.meter.take().calls, answer };
}

function assertMoved(answer: ActAnswer, moved: number): void {
  if (!('moved' in answer) || answer.moved !== moved || answer.deleted !== moved) {
    throw new Error(`Expected ${moved} units to move: ${JSON.stringify({ ...answer, units: undefined })}`);
  }
}

async function measure(letters: number): Promise<RedriveFigures> {
  const shared = createProcess(await createStores(`redrive-${letters}`), ['deadLetterQueueUrl']);
  const log = { event: () => undefined };
  const ports: ActPorts = { ...shared, log, policyId: 'bench', intake: { set: async () => undefined } };
  await quarantine(shared, await startedRun(shared), letters);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  let peak = 0;
  const sampling = setInterval(() => {
    globalThis.gc?.();
    peak = Math.max(peak, process.memoryUsage().heapUsed - before);
  }, 500);
  const list = await measured(shared, ports, { act: 'list', limit: 100 });
  const named = { actor: 'bench', reason: 'to be measured' };
  const filtered = await measured(shared, ports, { act: 'redrive', ...named, filter: { errorClass: 'Named' } });
  assertMoved(filtered.answer, FILTERED);
  const all = await measured(shared, ports, { act: 'redrive', ...named, all: true, perSecond: RATE_PER_SECOND });
  assertMoved(all.answer, letters - FILTERED);
  clearInterval(sampling);
  return {
    letters,
    listCalls: list.calls,
    filteredCalls: filtered.calls,
    allCalls: all.calls,
    heapBytes: peak,
  };
}

console.log(JSON.stringify(await measure(Number(process.argv[2]))));
