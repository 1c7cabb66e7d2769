import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setFeed } from '../../lib/local/faults.ts';
import { LOCAL_HOME } from '../../lib/local/paths.ts';
import { createRecordTable, readRecords } from '../../lib/local/records.ts';
import { type OwnPipeline, redeploy } from '../../lib/local/up/bring-up.ts';
import { startRun, viewOf } from '../../lib/local/up/follow.ts';
import { type RunOrder, readDataOrder } from '../../lib/local/up/order.ts';
import { invoke, outputOf } from '../../lib/local/up/pipeline.ts';
import { nameUnderTest } from '../helpers/aws-under-test.ts';
import { countStandings, PACKAGES_EXCERPT, readPackages, writeLocalCsv } from '../helpers/packages.ts';
import { bringUpUnderTest, ownTable } from '../helpers/pipeline-under-test.ts';
import { attempt, putProbeInto } from '../helpers/probe.ts';

const packages = readPackages(PACKAGES_EXCERPT);
const ANOTHER_TABLE = nameUnderTest('another-table');
const RUN_ID = 'local-data.v1.20260101T000000Z';

let home: string;
let order: RunOrder;
let pipeline: OwnPipeline;

beforeAll(async () => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
  const csv = join(home, 'packages.csv');
  writeLocalCsv(packages, csv);
  order = ownTable(
    await readDataOrder({ data: csv, scheduledTime: '2026-01-01T00:00:00Z', retentionDays: '1461' }, Date.now()),
  );
  const items = order.subject.cases.map(({ loaded }) => loaded);
  pipeline = await bringUpUnderTest({ home, settings: order.settings, items, progress: () => {} });
  await createRecordTable(pipeline.dynamo, { name: ANOTHER_TABLE, partitionKey: 'id' });
});

afterAll(async () => {
  await pipeline?.aws.stop();
  rmSync(home, { recursive: true, force: true });
});

const nameOf = (role: Role) => outputOf(pipeline.outputs, `${role}FunctionName`);
type Role = 'Dispatcher' | 'Consumer' | 'Redrive' | 'Reconciler';
const ROLES: readonly Role[] = ['Dispatcher', 'Consumer', 'Redrive', 'Reconciler'];

const rows = async () => {
  const all = new Map<string, object>();
  for await (const item of readRecords(pipeline.dynamo, order.settings.recordTableName))
    all.set(item.id?.S ?? '', item);
  return all;
};

/** Tries every way to touch a record; none of the allowed ones would change it. */
async function tryAll(role: Role, table = order.settings.recordTableName): Promise<Record<string, string>> {
  const Key = { id: { S: packages[0]?.name ?? '' } };
  const never = { ConditionExpression: 'attribute_exists(never)' };
  const partiql = (Statement: string, ...values: string[]) => ({
    Statements: [{ Statement, Parameters: values.map((S) => ({ S })) }],
  });
  const id = Key.id.S;
  const calls: readonly (readonly [string, string, object])[] = [
    ['get', 'GetItem', { TableName: table, Key }],
    ['scan', 'Scan', { TableName: table, Limit: 1 }],
    ['put', 'PutItem', { TableName: table, Item: Key, ...never }],
    ['update', 'UpdateItem', { TableName: table, Key, UpdateExpression: 'REMOVE never', ...never }],
    ['delete', 'DeleteItem', { TableName: table, Key, ...never }],
    [
      'update by statement',
      'BatchExecuteStatement',
      partiql(`UPDATE "${table}" SET "x" = ? WHERE "id" = ? AND "never" = ?`, 'x', id, 'x'),
    ],
    ['insert by statement', 'BatchExecuteStatement', partiql(`INSERT INTO "${table}" VALUE {'id': ?}`, id)],
    [
      'delete by statement',
      'BatchExecuteStatement',
      partiql(`DELETE FROM "${table}" WHERE "id" = ? AND "never" = ?`, id, 'x'),
    ],
  ];
  const answers: Record<string, string> = {};
  for (const [what, call, input] of calls) {
    const answer = await attempt(pipeline.aws, nameOf(role), call, input);
    const known = answer === 'allowed' || /^(ConditionalCheckFailed|AccessDenied)/.test(answer);
    answers[what] = known ? (answer.startsWith('AccessDenied') ? 'denied' : 'allowed') : answer;
  }
  return answers;
}

const NOTHING_ALLOWED = {
  get: 'denied',
  scan: 'denied',
  put: 'denied',
  update: 'denied',
  delete: 'denied',
  'update by statement': 'denied',
  'insert by statement': 'denied',
  'delete by statement': 'denied',
};

describe('a report-only deployment', () => {
  it('reports the plan, changes no record and publishes no message', async () => {
    const before = await rows();
    // Nobody would take away a message that was there.
    await setFeed(pipeline.aws, nameOf('Consumer'), 'off');
    const scheduleName = outputOf(pipeline.outputs, 'ScheduleName');
    const run = await startRun(
      pipeline,
      RUN_ID,
      { scheduleName, scheduledTime: new Date(order.scheduledTime) },
      () => {},
    );
    const { due, held, unreadable } = countStandings(packages, '2022-01-01T00:00:00Z');
    expect(run.status).toBe('reported');
    const view = await viewOf(pipeline, RUN_ID);
    expect(view).toMatchObject({
      discovered: due + held,
      planned: due,
      held,
      unreadable,
      processed: 0,
      remaining: due,
    });
    expect(view.proof.published).toMatchObject({ batches: 0 });
    expect(await rows()).toEqual(before);
    expect(await pipeline.sending.queue.depth()).toEqual({ work: 0, deadLetter: 0 });
    expect(before.size).toBe(packages.length);
  });

  it('lets redrive and the reconciler work with their own roles', async () => {
    expect(await invoke(pipeline.aws, nameOf('Redrive'), { act: 'list' })).toMatchObject({ units: 0 });
    expect(await invoke(pipeline.aws, nameOf('Reconciler'), {})).toMatchObject({ openRuns: 0 });
  });

  it('has no function that may write a record, and only the dispatcher reads them', async () => {
    await putProbeInto(pipeline.aws, ROLES.map(nameOf));
    expect(await tryAll('Consumer')).toEqual(NOTHING_ALLOWED);
    expect(await tryAll('Dispatcher')).toEqual({ ...NOTHING_ALLOWED, scan: 'allowed' });
    expect(await tryAll('Redrive')).toEqual(NOTHING_ALLOWED);
    expect(await tryAll('Reconciler')).toEqual(NOTHING_ALLOWED);
  });
});

describe('an enforcing deployment', () => {
  beforeAll(async () => {
    const again = await redeploy(pipeline, { ...order.settings, mode: 'enforce' });
    pipeline = { ...again, aws: pipeline.aws };
    await putProbeInto(pipeline.aws, ROLES.map(nameOf));
  });

  it('lets the consumer change records of its own table, and delete none without the switch', async () => {
    const allowed = { get: 'allowed', update: 'allowed', 'update by statement': 'allowed' };
    expect(await tryAll('Consumer')).toEqual({ ...NOTHING_ALLOWED, ...allowed });
    expect(await tryAll('Consumer', ANOTHER_TABLE)).toEqual(NOTHING_ALLOWED);
  });

  it('denies the dispatcher a write, and redrive and the reconciler any touch, of the record table', async () => {
    expect(await tryAll('Dispatcher')).toEqual({ ...NOTHING_ALLOWED, scan: 'allowed' });
    expect(await tryAll('Redrive')).toEqual(NOTHING_ALLOWED);
    expect(await tryAll('Reconciler')).toEqual(NOTHING_ALLOWED);
  });
});

describe('a deployment that may delete', () => {
  beforeAll(async () => {
    const settings = { ...order.settings, mode: 'enforce', action: 'delete', allowDelete: 'yes' } as const;
    pipeline = { ...(await redeploy(pipeline, settings)), aws: pipeline.aws };
    await putProbeInto(pipeline.aws, ROLES.map(nameOf));
  });

  it('lets the consumer delete records too, and nobody else anything more', async () => {
    const { put, scan, 'insert by statement': insert } = NOTHING_ALLOWED;
    const all = Object.fromEntries(Object.keys(NOTHING_ALLOWED).map((what) => [what, 'allowed']));
    expect(await tryAll('Consumer')).toEqual({ ...all, put, scan, 'insert by statement': insert });
    expect(await tryAll('Consumer', ANOTHER_TABLE)).toEqual(NOTHING_ALLOWED);
    expect(await tryAll('Dispatcher')).toEqual({ ...NOTHING_ALLOWED, scan: 'allowed' });
    expect(await tryAll('Redrive')).toEqual(NOTHING_ALLOWED);
    expect(await tryAll('Reconciler')).toEqual(NOTHING_ALLOWED);
  });
});
