import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UnitItem } from '../../lib/core/ledger/items.ts';
import { readAudit } from '../../lib/core/read/audit.ts';
import { clientConfig } from '../../lib/local/access.ts';
import { armCrash, type Crash, setFeed } from '../../lib/local/faults.ts';
import { LOCAL_HOME } from '../../lib/local/paths.ts';
import { type Item, loadRecords, readRecords } from '../../lib/local/records.ts';
import { fireScheduleAndWait } from '../../lib/local/schedule.ts';
import { bringUp, type OwnPipeline } from '../../lib/local/up/bring-up.ts';
import { invoke, outputOf } from '../../lib/local/up/pipeline.ts';
import { readPolicy } from '../../lib/local/up/policy.ts';
import { waitFor } from '../../lib/local/wait.ts';

const RECORDS = 60;
const DEADLINE_MILLIS = 90_000;

function accounts(tenant: string, poison: 'with-a-poisoned-one' | 'all-well'): readonly Item[] {
  return Array.from({ length: RECORDS }, (_, number) => {
    const item: Item = {
      id: { S: `${tenant}-${number}` },
      tenant: { S: tenant },
      status: { S: 'ACTIVE' },
      lastActivity: { S: '2020-01-01T00:00:00.000Z' },
    };
    // It cannot take another byte.
    const poisoned = poison === 'with-a-poisoned-one' && number === 7;
    return poisoned ? { ...item, ballast: { S: 'x'.repeat(400 * 1024 - 160) } } : item;
  });
}

const settings = (() => {
  const parsed = readPolicy({
    policyId: 'killed',
    recordTableName: 'accounts',
    retentionDays: '1461',
    mode: 'enforce',
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join(' '));
  return parsed.settings;
})();

let home: string;
let pipeline: OwnPipeline;
let sqs: SQSClient;
let day = 0;

beforeAll(async () => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
  pipeline = await bringUp({ home, settings, items: [], progress: () => {} });
  sqs = new SQSClient(clientConfig(pipeline.aws));
  // Of the deployed 60 s; a killed delivery is then back before anybody tires of it.
  const Attributes = { VisibilityTimeout: '4' };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: out('WorkQueueUrl'), Attributes }));
});

afterAll(async () => {
  await pipeline?.aws.stop();
  rmSync(home, { recursive: true, force: true });
});

const out = (name: string) => outputOf(pipeline.outputs, name);

async function statesOf(tenant: string): Promise<Record<string, number>> {
  const states: Record<string, number> = {};
  for await (const row of readRecords(pipeline.dynamo, settings.recordTableName)) {
    const state = row.status?.S ?? '';
    if (row.tenant?.S === tenant) states[state] = (states[state] ?? 0) + 1;
  }
  return states;
}

/** Plans and publishes a run over these records alone, has the consumer killed once, and waits until all is settled. */
async function killedAt(crash: Omit<Crash, 'functionName'>, items: readonly Item[]): Promise<readonly UnitItem[]> {
  await loadRecords(pipeline.dynamo, settings.recordTableName, items);
  const functionName = out('ConsumerFunctionName');
  // The dispatcher asks the consumer what it may do, which is not to be the call that kills it.
  await setFeed(pipeline.aws, functionName, 'off');
  day += 1;
  const scheduledTime = new Date(Date.UTC(2026, 0, day));
  const firing = { scheduleName: out('ScheduleName'), scheduledTime };
  const { runId } = (await fireScheduleAndWait(pipeline.aws, firing)) as { runId: string };
  const armed = await armCrash(pipeline.aws, { functionName, ...crash });
  await setFeed(pipeline.aws, functionName, 'on');
  const settled = ['committed', 'quarantined'];
  const units = await waitFor('every unit to be settled', DEADLINE_MILLIS, async () => {
    const found = await unitsOf(runId);
    const { work } = await pipeline.sending.queue.depth();
    return found.length > 0 && work === 0 && found.every(({ state }) => settled.includes(state)) ? found : undefined;
  });
  expect(armed.happened()).toBe(true);
  await armed.disarm();
  return units;
}

const unitsOf = async (runId: string) => (await pipeline.ledger.units(runId, undefined)).items;

const workDone = () =>
  waitFor('the work queue to be empty', DEADLINE_MILLIS, async () =>
    (await pipeline.sending.queue.depth()).work === 0 ? true : undefined,
  );

/** Into the work queue, with its labels; waits until it was dealt with. */
async function sendAgain({ Body, MessageAttributes }: Message): Promise<void> {
  const message = { MessageBody: Body, MessageAttributes, MessageGroupId: 'moved' };
  await sqs.send(new SendMessageCommand({ QueueUrl: out('WorkQueueUrl'), ...message }));
  await workDone();
}

/** As the console does it: out of the dead-letter queue too. */
async function moveByHand(letter: Message): Promise<void> {
  await sendAgain(letter);
  const { ReceiptHandle } = letter;
  await sqs.send(new DeleteMessageCommand({ QueueUrl: out('DeadLetterQueueUrl'), ReceiptHandle }));
}

const BATCH = 'DynamoDB_20120810.BatchExecuteStatement';
const UPDATE = 'DynamoDB_20120810.UpdateItem';

it.each<[string, Omit<Crash, 'functionName'>, number]>([
  ['before the first write', { target: BATCH, when: 'before', nth: 1 }, 2],
  ['after some writes', { target: BATCH, when: 'after', nth: 2 }, 2],
  // The first update of the ledger counts the attempt, the second commits.
  ['after all writes, before completion', { target: UPDATE, when: 'before', nth: 2 }, 2],
  ['after completion, before acknowledgement', { target: UPDATE, when: 'after', nth: 2 }, 1],
])('a consumer killed %s: one effect for each record, and attempts that are true', async (what, crash, attempts) => {
  const tenant = what.replace(/[^a-z]+/g, '-');
  const units = await killedAt(crash, accounts(tenant, 'all-well'));
  expect(units).toMatchObject([{ unit: '0', state: 'committed', attempts, counts: { expired: RECORDS } }]);
  expect(await statesOf(tenant)).toEqual({ EXPIRED: RECORDS });
});

it.each<[string, Omit<Crash, 'functionName'>]>([
  ['between quarantine and dead letter', { target: 'AmazonSQS.SendMessage', when: 'before', nth: 1 }],
  ['between dead letter and its note', { target: 'AmazonSQS.SendMessage', when: 'after', nth: 1 }],
])(
  'a consumer killed %s: the record waits for a person, and its message with it, and is then changed once',
  async (what, crash) => {
    const tenant = what.replace(/[^a-z]+/g, '-');
    const units = await killedAt(crash, accounts(tenant, 'with-a-poisoned-one'));
    const [batch, alone] = units;
    expect(batch).toMatchObject({ state: 'committed', attempts: 1, counts: { expired: RECORDS - 1 } });
    expect(alone).toMatchObject({ state: 'quarantined', attempts: 1, generation: 0, copiedGeneration: 0 });
    expect(units).toHaveLength(2);
    expect(await statesOf(tenant)).toEqual({ EXPIRED: RECORDS - 1, ACTIVE: 1 });
    const QueueUrl = out('DeadLetterQueueUrl');
    const all = { QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
    const { Messages: copies = [] } = await sqs.send(new ReceiveMessageCommand(all));
    const [copy, ...others] = copies;
    expect(copy?.Body).toContain(`"unit":"${alone?.unit}"`);
    expect(copy?.MessageAttributes?.generation?.StringValue).toBe('0');

    const mended = { TableName: settings.recordTableName, Key: { id: { S: `${tenant}-7` } } };
    await pipeline.dynamo.send(new UpdateItemCommand({ ...mended, UpdateExpression: 'REMOVE ballast' }));
    const runId = alone?.runId ?? '';
    await moveByHand(copy ?? {});
    await invoke(pipeline.aws, out('ReconcilerFunctionName'), {});
    await workDone();
    const done = await unitsOf(runId);
    expect(done[1]).toMatchObject({ state: 'committed', generation: 1, attempts: 1, counts: { expired: 1 } });
    expect(await statesOf(tenant)).toEqual({ EXPIRED: RECORDS });
    for (const other of others) await moveByHand(other);
    await sendAgain(copy ?? {});
    expect(await unitsOf(runId)).toEqual(done);
    const trail = await readAudit(pipeline.ledger, { kind: 'run', runId });
    expect(trail?.entries).toMatchObject([{ act: 'redrive', actor: 'unattributed', units: [alone?.unit] }]);
  },
);
