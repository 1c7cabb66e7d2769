import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  FilterLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageCommand,
  type Message,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../lib/core/identity/instant.ts';
import { readAudit } from '../../lib/core/read/audit.ts';
import type { ReconcileResult } from '../../lib/core/reconcile/reconcile.ts';
import type { ActView, AuditView, MessageAbandonedView, QuarantineView } from '../../lib/core/redrive/views.ts';
import { clientConfig, environmentOf } from '../../lib/local/access.ts';
import { LOCAL_HOME, REPOSITORY } from '../../lib/local/paths.ts';
import { type Item, readRecords } from '../../lib/local/records.ts';
import { fireScheduleAndWait } from '../../lib/local/schedule.ts';
import type { OwnPipeline } from '../../lib/local/up/bring-up.ts';
import { close, viewOf, waitForUnits } from '../../lib/local/up/follow.ts';
import { invoke, outputOf } from '../../lib/local/up/pipeline.ts';
import { readPolicy } from '../../lib/local/up/policy.ts';
import { waitFor } from '../../lib/local/wait.ts';
import { nameUnderTest } from '../helpers/aws-under-test.ts';
import { runNode } from '../helpers/local-run.ts';
import { bringUpUnderTest } from '../helpers/pipeline-under-test.ts';

const MARKER = 'MARKER-of-a-record';
const POISON = 'account-0042';
const NAMED = { actor: 'test', reason: 'the record was mended' };
const DEADLINE_MILLIS = 60_000;

/** Every attribute says so that it is of a record; the poisoned one cannot take another byte. */
function account(number: number): Item {
  const id = `account-${String(number).padStart(4, '0')}`;
  const item: Item = {
    id: { S: id },
    tenant: { S: 'acme' },
    status: { S: 'ACTIVE' },
    lastActivity: { S: '2020-01-01T00:00:00.000Z' },
    note: { S: MARKER },
  };
  return id === POISON ? { ...item, ballast: { S: `${MARKER}${'x'.repeat(400 * 1024 - 160)}` } } : item;
}

let home: string;
let pipeline: OwnPipeline;
let runId: string;
/** The record that failed, as a unit of its own. */
let child: string;
let sqs: SQSClient;
/** As they were seen in the dead-letter queue. */
const letters: Message[] = [];

const settings = (() => {
  const parsed = readPolicy({
    policyId: 'failures',
    recordTableName: nameUnderTest('failures'),
    retentionDays: '1461',
    mode: 'enforce',
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join(' '));
  return parsed.settings;
})();

const out = (name: string) => outputOf(pipeline.outputs, name);
const act = (event: object) => invoke(pipeline.aws, out('RedriveFunctionName'), event);
const reconcile = () => invoke(pipeline.aws, out('ReconcilerFunctionName'), {}) as Promise<ReconcileResult>;

/** What the command line, a process of its own, ends with and prints. */
async function sweep<T>(...args: readonly string[]): Promise<{ readonly code: number | null; readonly view: T }> {
  const all = [join(REPOSITORY, 'bin/sweep.ts'), ...args, '--stack', pipeline.stackName, '--json'];
  const { code, out: printed, err } = await runNode(all, environmentOf(pipeline.aws));
  if (printed === '') throw new Error(`Exit code ${code}: ${err}`);
  return { code, view: JSON.parse(printed) as T };
}

const units = async () => (await pipeline.ledger.units(runId, undefined)).items;

beforeAll(async () => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
  const items = Array.from({ length: 100 }, (_, number) => account(number));
  pipeline = await bringUpUnderTest({ home, settings, items, progress: () => {} });
  sqs = new SQSClient(clientConfig(pipeline.aws));
  const firing = { scheduleName: out('ScheduleName'), scheduledTime: new Date('2026-01-01T00:00:00Z') };
  ({ runId } = (await fireScheduleAndWait(pipeline.aws, firing)) as { runId: string });
  const run = await pipeline.ledger.readRun(runId);
  if (run === undefined) throw new Error('There is no run.');
  await waitForUnits(pipeline, run, () => {});
});

afterAll(async () => {
  await pipeline?.aws.stop();
  rmSync(home, { recursive: true, force: true });
});

async function record(id: string): Promise<Item> {
  const key = { TableName: settings.recordTableName, Key: { id: { S: id } }, ConsistentRead: true };
  return (await pipeline.dynamo.send(new GetItemCommand(key))).Item ?? {};
}

/** One message of the dead-letter queue, with everything that it carries. */
async function deadLetter(): Promise<Message> {
  return waitFor('a dead letter', DEADLINE_MILLIS, async () => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: out('DeadLetterQueueUrl'),
        MessageAttributeNames: ['All'],
        VisibilityTimeout: 2,
      }),
    );
    if (Messages[0] !== undefined) letters.push(Messages[0]);
    return Messages[0];
  });
}

async function toWorkQueue(body: string, attributes: Message['MessageAttributes']): Promise<void> {
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: out('WorkQueueUrl'),
      MessageBody: body,
      MessageGroupId: 'moved',
      ...(attributes === undefined ? {} : { MessageAttributes: attributes }),
    }),
  );
}

const workDone = () =>
  waitFor('the work queue to be empty', DEADLINE_MILLIS, async () =>
    (await pipeline.sending.queue.depth()).work === 0 ? true : undefined,
  );

describe('one poisoned record among a hundred', () => {
  it('is alone in quarantine after one attempt; its neighbours are done at their first delivery', async () => {
    const [batch, alone] = await units();
    const position = batch?.split?.[0];
    child = `0.${position}`;
    expect(batch).toMatchObject({ unit: '0', state: 'committed', attempts: 1, counts: { expired: 99 } });
    expect(alone).toMatchObject({
      ...{ unit: child, state: 'quarantined', attempts: 1, records: 1, generation: 0 },
      reason: 'permanent_failure',
    });
    expect((await record(POISON)).status).toEqual({ S: 'ACTIVE' });
    await close(pipeline, runId);
    expect(await viewOf(pipeline, runId)).toMatchObject({
      ...{ status: 'complete_with_quarantine', planned: 100, processed: 99, remaining: 1, quarantinedUnits: 1 },
    });
    const view = (await act({ act: 'list' })) as QuarantineView;
    expect(view).toMatchObject({
      ...{ units: 1, records: 1, queues: { work: 0, deadLetter: 1 } },
      groups: [{ reason: 'permanent_failure', errorClass: 'ValidationError', failureClass: 'permanent', units: 1 }],
    });
    expect(view.listed[0]?.messageExpiresAt).not.toBeNull();
  });

  it('as a mere duplicate of its message, does not come back', async () => {
    const { Body = '' } = await deadLetter();
    await toWorkQueue(Body, undefined);
    await workDone();
    expect((await units())[1]).toMatchObject({ state: 'quarantined', generation: 0 });
    expect((await record(POISON)).status).toEqual({ S: 'ACTIVE' });
  });

  it('moved back by hand, as the console does, is audited as unattributed and tried under its next generation', async () => {
    const { Body = '', MessageAttributes, ReceiptHandle } = await deadLetter();
    await toWorkQueue(Body, MessageAttributes);
    await sqs.send(new DeleteMessageCommand({ QueueUrl: out('DeadLetterQueueUrl'), ReceiptHandle }));
    await workDone();
    expect((await units())[1]).toMatchObject({ state: 'planned', generation: 1 });
    await reconcile();
    await waitFor('the second generation to fail', DEADLINE_MILLIS, async () =>
      (await units())[1]?.state === 'quarantined' ? true : undefined,
    );
    expect((await units())[1]).toMatchObject({ generation: 1, attempts: 1 });
    const trail = await readAudit(pipeline.ledger, { kind: 'run', runId });
    expect(trail?.entries).toMatchObject([{ act: 'redrive', actor: 'unattributed', units: [child] }]);
  });

  it('with its dead letter purged, is reported by the reconciler', async () => {
    await sqs.send(new PurgeQueueCommand({ QueueUrl: out('DeadLetterQueueUrl') }));
    // A copy sent less than ten minutes ago may only not be seen yet.
    const [, unit] = await units();
    const copiedAt = (unit?.copiedAt ?? 0) - 11 * 60_000;
    await pipeline.dynamo.send(
      new UpdateItemCommand({
        TableName: out('LedgerTableName'),
        Key: { pk: { S: `RUN#${runId}` }, sk: { S: `BATCH#00000000.${child.slice(2).padStart(4, '0')}` } },
        UpdateExpression: 'SET copiedAt = :at',
        ExpressionAttributeValues: { ':at': { N: String(copiedAt) } },
      }),
    );
    expect(await reconcile()).toMatchObject({ missing: 1 });
  });

  it('mended and redriven by name, is applied once, and the run completes although its message was gone', async () => {
    const { ballast, ...mended } = await record(POISON);
    await pipeline.dynamo.send(new PutItemCommand({ TableName: settings.recordTableName, Item: mended }));
    const all = (await act({ act: 'redrive', ...NAMED, all: true })) as ActView;
    expect(all).toMatchObject({ selected: 0, leftOut: { permanent: 1 } });
    const filter = { run: runId, unit: child };
    expect(await act({ act: 'redrive', dryRun: true, filter })).toMatchObject({ selected: 1, moved: 0, left: 1 });
    const redrive = ['redrive', '--run', runId, '--unit', child, '--reason', NAMED.reason, '--yes'];
    expect(await sweep(...redrive)).toMatchObject({ code: 0, view: { selected: 1, moved: 1 } });
    await reconcile();
    await waitFor('the redriven record', DEADLINE_MILLIS, async () =>
      (await units())[1]?.state === 'committed' ? true : undefined,
    );
    expect((await record(POISON)).status).toEqual({ S: 'EXPIRED' });
    await waitFor('the run to complete', DEADLINE_MILLIS, async () => {
      await reconcile();
      return (await pipeline.ledger.readRun(runId))?.status === 'complete' ? true : undefined;
    });
    expect(await viewOf(pipeline, runId)).toMatchObject({ processed: 100, remaining: 0, proof: { holds: true } });
    const before = await record(POISON);
    expect(await act({ act: 'redrive', ...NAMED, filter })).toMatchObject({ selected: 0, moved: 0 });
    expect(await sweep(...redrive)).toMatchObject({ code: 3, view: { selected: 0, moved: 0 } });
    await workDone();
    expect(await record(POISON)).toEqual(before);
  });
});

describe('the audit trail', () => {
  const audit = () => sweep<AuditView>('audit', runId);
  const INTACT = 0;
  const NOT_VERIFIED = 6;
  const judged = async () => {
    const { code, view } = await audit();
    return { code, faults: view.faults.map(({ fault }) => fault) };
  };
  const key = (number: number) => ({
    pk: { S: `RUN#${runId}` },
    sk: { S: `AUDIT#${String(number).padStart(8, '0')}` },
  });
  const table = () => out('LedgerTableName');

  async function entry(number: number): Promise<Item> {
    const { Item } = await pipeline.dynamo.send(new GetItemCommand({ TableName: table(), Key: key(number) }));
    if (Item === undefined) throw new Error(`no entry ${number}`);
    return Item;
  }

  const put = (Item: Item) => pipeline.dynamo.send(new PutItemCommand({ TableName: table(), Item }));
  const remove = (number: number) =>
    pipeline.dynamo.send(new DeleteItemCommand({ TableName: table(), Key: key(number) }));

  it('verifies, and names who and why', async () => {
    const { code, view: trail } = await audit();
    expect(code).toBe(INTACT);
    expect(trail).toMatchObject({ verified: true, faults: [] });
    expect(trail.entries).toMatchObject([
      { actor: 'unattributed', confirmedBy: { event: 'StartMessageMoveTask' } },
      { reason: NAMED.reason, act: 'redrive', units: [child], confirmedBy: { event: 'Invoke' } },
    ]);
    expect(trail.entries[1]?.actor).toMatch(/^arn:aws:/);
    expect(trail.entries[1]?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([0, 1])('finds entry %i edited, and finds it removed', async (number) => {
    const whole = await entry(number);
    await put({ ...whole, reason: { S: 'another one' } });
    expect(await judged()).toMatchObject({ code: NOT_VERIFIED, faults: expect.arrayContaining(['altered']) });
    await remove(number);
    const fault = number === 0 ? 'missing' : 'cut-off';
    expect(await judged()).toMatchObject({ code: NOT_VERIFIED, faults: expect.arrayContaining([fault]) });
    await put(whole);
    expect(await judged()).toEqual({ code: INTACT, faults: [] });
  });
});

describe('messages that are not to be trusted', () => {
  /** What a valid body becomes under whoever can write to the queue but not sign. */
  const ALTERED: readonly object[] = [
    { mac: 'A'.repeat(43) },
    { runId: 'failures.v1.20250101T000000Z' },
    { tenant: 'another' },
    { cutoff: formatInstant(Date.UTC(2025, 0, 1)) },
    { policyVersion: 'v2' },
    { unit: '1' },
    { generation: 7 },
  ];

  const everything = async () => {
    const records: Item[] = [];
    for await (const item of readRecords(pipeline.dynamo, settings.recordTableName)) records.push(item);
    return { records, units: await units() };
  };

  const listed = async (reason: string) =>
    ((await act({ act: 'list' })) as QuarantineView).badMessages.filter((message) => message.reason === reason);

  const all = (count: number, reason: string) =>
    waitFor(`${count} messages that are ${reason}`, DEADLINE_MILLIS, async () => {
      const found = await listed(reason);
      return found.length >= count ? found : undefined;
    });

  it('write nothing, are listed by their digests, and can be given up', async () => {
    const valid = letters.at(-1)?.Body ?? '';
    const before = await everything();
    for (const change of ALTERED) await toWorkQueue(JSON.stringify({ ...JSON.parse(valid), ...change }), undefined);
    await toWorkQueue(`{"${MARKER}`, undefined);
    await toWorkQueue(JSON.stringify({ ...JSON.parse(valid), schemaVersion: 2 }), undefined);
    const forged = await all(ALTERED.length, 'bad_signature');
    await all(1, 'malformed');
    await all(1, 'unknown_schema');
    await workDone();
    expect(await everything()).toEqual(before);
    const [{ digest } = { digest: '' }] = forged;
    const given = await sweep<MessageAbandonedView>('abandon', '--message', digest, '--reason', NAMED.reason, '--yes');
    expect(given).toMatchObject({ code: 0, view: { message: digest, deleted: 1 } });
    const left = await listed('bad_signature');
    expect(left).toHaveLength(ALTERED.length - 1);
    expect(left.map((message) => message.digest)).not.toContain(digest);
  });
});

describe('what others read', () => {
  /** Of a record, of a message, of its receipt. */
  const SECRETS = [MARKER, 'acme', POISON, '"mac', 'ReceiptHandle', 'receiptHandle'];

  it('as labels of the dead letters: codes, a generation, a digest', async () => {
    await deadLetter();
    const labels = new Set<string>();
    for (const { MessageAttributes = {} } of letters) {
      labels.add(Object.keys(MessageAttributes).sort().join());
      const text = JSON.stringify(MessageAttributes);
      expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
    }
    expect(labels).toEqual(new Set(['errorClass,generation,reason', 'digest,reason']));
  });

  it('as idempotency records: nothing of a record', async () => {
    const table = { TableName: out('IdempotencyTableName') };
    let texts: readonly string[] = [];
    for await (const { Items = [] } of paginateScan({ client: pipeline.dynamo }, table)) {
      texts = [...texts, ...Items.map((item) => JSON.stringify(item))];
    }
    expect(texts.length).toBeGreaterThan(0);
    for (const secret of SECRETS) expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  });

  it('as logs: what ended and who acted where it is kept for long, and never anything of a record', async () => {
    const logs = new CloudWatchLogsClient(clientConfig(pipeline.aws));
    const { logGroups = [] } = await logs.send(new DescribeLogGroupsCommand({}));
    const lines: Record<string, string[]> = {};
    for (const { logGroupName = '' } of logGroups) {
      let nextToken: string | undefined;
      do {
        const page = await logs.send(new FilterLogEventsCommand({ logGroupName, nextToken }));
        lines[logGroupName] = [
          ...(lines[logGroupName] ?? []),
          ...(page.events ?? []).map(({ message = '' }) => message),
        ];
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
    }
    const terminal = lines[out('TerminalLogGroupName')]?.map((line) => JSON.parse(line).message) ?? [];
    for (const event of ['unit_quarantined', 'message_quarantined', 'unattributed_redrive', 'audit', 'run_closed']) {
      expect(terminal).toContain(event);
    }
    expect(terminal).not.toContain('delivery');
    const all = Object.values(lines).flat();
    expect(all.filter((line) => line.includes('"delivery"')).length).toBeGreaterThan(4);
    const secrets = [...SECRETS, ...letters.map(({ ReceiptHandle = '' }) => ReceiptHandle)];
    for (const secret of secrets) expect(all.filter((line) => line.includes(secret))).toEqual([]);
  });
});
