import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GetScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DispatchResult } from '../../lib/core/plan/dispatch.ts';
import type { SettingKey } from '../../lib/core/policy/settings.ts';
import { environmentName } from '../../lib/core/policy/settings.ts';
import type { PreflightView } from '../../lib/core/views.ts';
import { clientConfig, environmentOf } from '../../lib/local/access.ts';
import { appFolder, CdkFailed, deploy } from '../../lib/local/cdk.ts';
import { setFeed } from '../../lib/local/faults.ts';
import { LOCAL_HOME, REPOSITORY } from '../../lib/local/paths.ts';
import { type Item, readRecords } from '../../lib/local/records.ts';
import { fireScheduleAndWait } from '../../lib/local/schedule.ts';
import type { OwnPipeline } from '../../lib/local/up/bring-up.ts';
import { close, viewOf, waitForUnits } from '../../lib/local/up/follow.ts';
import { type RunOrder, readDataOrder } from '../../lib/local/up/order.ts';
import { invoke, outputOf } from '../../lib/local/up/pipeline.ts';
import { parametersOf } from '../../lib/local/up/policy.ts';
import { addVariables } from '../../lib/local/variables.ts';
import { runNode } from '../helpers/local-run.ts';
import { countStandings, PACKAGES_EXCERPT, readPackages, writeLocalCsv } from '../helpers/packages.ts';
import { bringUpUnderTest, ownTable } from '../helpers/pipeline-under-test.ts';

// Few enough that a run is a matter of seconds, with one in two hundred unreadable.
const excerpt = readPackages(PACKAGES_EXCERPT);
const packages = [
  ...excerpt.filter(({ month }) => month !== '').slice(0, 199),
  ...excerpt.filter(({ month }) => month === '').slice(0, 1),
];
const SCHEDULED = '2026-01-01T00:00:00Z';
const EARLIER = '2025-12-31T00:00:00Z';
const PLACEHOLDER = '<aws.scheduler.scheduled-time>';

type Texts = Partial<Record<SettingKey, string>>;

let home: string;
let order: RunOrder;
let pipeline: OwnPipeline;
let loaded: ReadonlyMap<string, Item>;

beforeAll(async () => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
  const csv = join(home, 'packages.csv');
  writeLocalCsv(packages, csv);
  const options = { data: csv, scheduledTime: SCHEDULED, retentionDays: '1461', mode: 'enforce' };
  order = ownTable(await readDataOrder(options, Date.now()));
  const items = order.subject.cases.map((one) => withMillis(one.loaded));
  pipeline = await bringUpUnderTest({ home, settings: order.settings, items, progress: () => {} });
  // Nobody would take away a message that was there.
  await setFeed(pipeline.aws, nameOf('Consumer'), 'off');
  loaded = await rows();
});

afterAll(async () => {
  await pipeline?.aws.stop();
  rmSync(home, { recursive: true, force: true });
});

/** The same time a second time, as a number of milliseconds. */
function withMillis(item: Item): Item {
  const text = item.lastActivity?.S;
  return text === undefined ? item : { ...item, lastMillis: { N: String(Date.parse(text)) } };
}

const nameOf = (role: 'Dispatcher' | 'Consumer') => outputOf(pipeline.outputs, `${role}FunctionName`);

async function rows(): Promise<ReadonlyMap<string, Item>> {
  const all = new Map<string, Item>();
  for await (const item of readRecords(pipeline.dynamo, order.settings.recordTableName))
    all.set(item.id?.S ?? '', item);
  return all;
}

function fire(scheduledTime: string): Promise<DispatchResult> {
  const scheduleName = outputOf(pipeline.outputs, 'ScheduleName');
  const firing = { scheduleName, scheduledTime: new Date(scheduledTime) };
  return fireScheduleAndWait(pipeline.aws, firing) as Promise<DispatchResult>;
}

/** What the deployed dispatcher says where its settings are these, which CloudFormation might not have let in. */
async function withSettings<T>(texts: Texts, ask: () => Promise<T>): Promise<T> {
  const added = Object.entries(texts).map(([key, text]) => [environmentName(key as SettingKey), text]);
  const restore = await addVariables(pipeline.aws, nameOf('Dispatcher'), Object.fromEntries(added));
  try {
    return await ask();
  } finally {
    await restore();
  }
}

/** The reasons of a refusal: of a run that is refused, or of an event that does not even become a run. */
async function reasonsOf(texts: Texts, scheduledTime = SCHEDULED): Promise<string> {
  return withSettings(texts, async () => {
    try {
      const { kind, problems } = await fire(scheduledTime);
      return `${kind}: ${problems.map(({ message }) => message).join(' ')}`;
    } catch (error) {
      return (error as Error).message;
    }
  });
}

async function expectNothingDone(): Promise<void> {
  expect(await rows()).toEqual(loaded);
  expect(await pipeline.sending.queue.depth()).toEqual({ work: 0, deadLetter: 0 });
}

describe('the deployed dispatcher refuses, names parameter and value, and changes nothing', () => {
  it.each<[Texts, string, string]>([
    ...['0', '-1', '', '0d', 'NaN', '1000000000'].map((text): [Texts, string, string] => [
      { retentionDays: text },
      'RetentionDays',
      `received "${text}"`,
    ]),
    [{ timestampAttribute: 'last"Activity' }, 'TimestampAttribute', 'Activity'],
  ])('P25: a setting that cannot be read: %j', async (texts, parameter, received) => {
    const reasons = await reasonsOf(texts);
    expect(reasons).toContain('Refused, nothing was changed.');
    expect(reasons).toContain(parameter);
    expect(reasons).toContain(received);
    await expectNothingDone();
  });

  it.each<[string, Texts, string, string]>([
    ['an unknown table', { recordTableName: 'no-such-table' }, 'RecordTableName', 'no-such-table'],
    // One that is still backfilling is in the unit tests: the local AWS has an index ready at once.
    ['a missing index', { recordIndexName: 'no-such-index' }, 'RecordIndexName', 'no-such-index'],
    [
      'P14: milliseconds read as seconds',
      { timestampAttribute: 'lastMillis', timestampFormat: 'epoch-seconds' },
      'TimestampFormat',
      'Received epoch-seconds',
    ],
    ['a rate that cannot fit', { recordsPerSecond: '1' }, 'RecordsPerSecond', 'Received 1.'],
    ['deletion without its switch', { action: 'delete' }, 'AllowDelete', 'Received delete.'],
    ['a share above the cap', { capSharePercent: '1' }, 'CapSharePercent', 'CapSharePercent 1:'],
    ['a number above the cap', { capRecords: '10' }, 'CapRecords', 'CapRecords 10:'],
  ])('%s', async (_, texts, parameter, received) => {
    const reasons = await reasonsOf(texts);
    expect(reasons).toMatch(/^refused: /);
    expect(reasons).toContain(parameter);
    expect(reasons).toContain(received);
    await expectNothingDone();
  });

  it('a deletion that the role of the deployed consumer was not granted', async () => {
    const texts: Texts = { action: 'delete', allowDelete: 'yes', policyVersion: 'v2' };
    const reasons = await reasonsOf(texts);
    expect(reasons).toMatch(/^refused: /);
    expect(reasons).toMatch(/PartiQLDelete|DeleteItem|AllowDelete/);
    await expectNothingDone();
  });

  it('P6: a scheduled time that is more than five minutes ahead', async () => {
    const ahead = `${new Date(Date.now() + 600_000).toISOString().slice(0, 19)}Z`;
    const reasons = await reasonsOf({}, ahead);
    expect(reasons).toContain('scheduledTime is more than five minutes ahead of now');
    expect(reasons).toContain(ahead);
    await expectNothingDone();
  });

  it('the placeholder as it stands in the schedule', async () => {
    const scheduler = new SchedulerClient(clientConfig(pipeline.aws));
    const Name = outputOf(pipeline.outputs, 'ScheduleName');
    const { Target } = await scheduler.send(new GetScheduleCommand({ Name, GroupName: 'default' }));
    expect(Target?.Input).toContain(PLACEHOLDER);
    const event = JSON.parse(Target?.Input ?? '{}') as object;
    await expect(invoke(pipeline.aws, nameOf('Dispatcher'), event)).rejects.toThrow(
      /scheduledTime is a placeholder .*<aws\.scheduler\.scheduled-time>/,
    );
    await expectNothingDone();
  });

  it('another retention under a version that a frozen report has given its meaning', async () => {
    const reported = await withSettings({ mode: 'report-only' }, () => fire(EARLIER));
    expect(reported).toMatchObject({ kind: 'dispatched', status: 'reported' });
    const reasons = await reasonsOf({ retentionDays: '1000' });
    expect(reasons).toMatch(/^refused: PolicyVersion v1 meant something else/);
    expect(reasons).toContain('Received v1.');
    await expectNothingDone();
  });
});

describe('CloudFormation refuses by itself', () => {
  const deployWith = (texts: Record<string, string>) =>
    deploy(pipeline.aws, {
      stackName: pipeline.stackName,
      app: appFolder(pipeline.aws),
      parameters: { ...parametersOf(order.settings), ...texts },
    });

  it.each([
    ['a value out of range', { RetentionDays: '0' }, 'RetentionDays'],
    ['a name with a quote', { TimestampAttribute: 'last"Activity' }, 'TimestampAttribute'],
    ['deletion without its switch', { Action: 'delete' }, 'AllowDelete'],
  ])('%s', async (_, texts, parameter) => {
    const failed = await deployWith(texts).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CdkFailed);
    expect((failed as Error).message).toContain(parameter);
  });
});

describe('sweep trigger --preflight', () => {
  const preflight = async () => {
    const args = ['trigger', '--preflight', '--scheduled-time', SCHEDULED, '--stack', pipeline.stackName, '--json'];
    const ended = await runNode([join(REPOSITORY, 'bin/sweep.ts'), ...args], environmentOf(pipeline.aws));
    return { code: ended.code, view: JSON.parse(ended.out) as PreflightView };
  };

  it('says what a run would be refused for, or that nothing speaks against it, and starts nothing', async () => {
    const before = await pipeline.ledger.readRun('local-data.v1.20260101T000000Z');
    const refused = await withSettings({ recordsPerSecond: '1' }, preflight);
    expect(refused.code).not.toBe(0);
    expect(refused.view.problems).toMatchObject([{ parameter: 'RecordsPerSecond', received: '1' }]);
    expect(await preflight()).toMatchObject({ code: 0, view: { problems: [] } });
    expect(await pipeline.ledger.readRun('local-data.v1.20260101T000000Z')).toEqual(before);
    await expectNothingDone();
  });
});

it('carries out the same scheduled time once the cause is mended', async () => {
  const { due } = countStandings(packages, '2022-01-01T00:00:00Z');
  const { kind, runId } = await fire(SCHEDULED);
  expect(kind).toBe('dispatched');
  await setFeed(pipeline.aws, nameOf('Consumer'), 'on');
  const run = await pipeline.ledger.readRun(runId);
  if (run === undefined) throw new Error('There is no run.');
  await waitForUnits(pipeline, run, () => {});
  await close(pipeline, runId);
  expect(await viewOf(pipeline, runId)).toMatchObject({ status: 'complete', refusals: [], outcomes: { expired: due } });
});
