import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GetEventSourceMappingCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunItem, UnitItem } from '../../lib/core/ledger/items.ts';
import { everyItem } from '../../lib/core/read/pages.ts';
import type { CancelView, SwitchView } from '../../lib/core/redrive/views.ts';
import { clientConfig } from '../../lib/local/access.ts';
import { LOCAL_HOME } from '../../lib/local/paths.ts';
import { type Item, loadRecords, readRecords } from '../../lib/local/records.ts';
import { fireSchedule } from '../../lib/local/schedule.ts';
import type { OwnPipeline } from '../../lib/local/up/bring-up.ts';
import { close, viewOf, waitForUnits } from '../../lib/local/up/follow.ts';
import { invoke, outputOf } from '../../lib/local/up/pipeline.ts';
import { readPolicy } from '../../lib/local/up/policy.ts';
import { waitFor } from '../../lib/local/wait.ts';
import { nameUnderTest } from '../helpers/aws-under-test.ts';
import { bringUpUnderTest } from '../helpers/pipeline-under-test.ts';

const RECORDS = 20_000;
const MORE = 5_000;
const NAMED = { actor: 'test', reason: 'to see that it stops' };
const DEADLINE_MILLIS = 120_000;
const STOPPED_MILLIS = 10_000;
const WATCHED_MILLIS = 5_000;

function* accounts(from: number, count: number): Generator<Item> {
  for (let number = from; number < from + count; number += 1) {
    yield {
      id: { S: `account-${number}` },
      tenant: { S: `tenant-${number % 10}` },
      status: { S: 'ACTIVE' },
      lastActivity: { S: '2020-01-01T00:00:00.000Z' },
    };
  }
}

const settings = (() => {
  const parsed = readPolicy({
    policyId: 'stops',
    recordTableName: nameUnderTest('stops'),
    retentionDays: '1461',
    mode: 'enforce',
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(({ message }) => message).join(' '));
  // Time enough for a batch also where the machine has other things to do: a delivery that is cut off spends an attempt.
  return { ...parsed.settings, batchTimeBudgetSeconds: '15' } as const;
})();

let home: string;
let pipeline: OwnPipeline;

beforeAll(async () => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
  pipeline = await bringUpUnderTest({ home, settings, items: accounts(0, RECORDS), progress: () => {} });
});

afterAll(async () => {
  await pipeline?.aws.stop();
  rmSync(home, { recursive: true, force: true });
});

const out = (name: string) => outputOf(pipeline.outputs, name);
const act = <T>(event: object) => invoke(pipeline.aws, out('RedriveFunctionName'), event) as Promise<T>;

/** Ids of the records that stand as expired. */
async function expired(): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { id, status } of readRecords(pipeline.dynamo, settings.recordTableName)) {
    if (status?.S === 'EXPIRED') ids.add(id?.S ?? '');
  }
  return ids;
}

async function unitsOf(runId: string): Promise<readonly UnitItem[]> {
  const units: UnitItem[] = [];
  for await (const unit of everyItem((cursor) => pipeline.ledger.units(runId, cursor))) units.push(unit);
  return units;
}

/** Fires the schedule and waits until some batches are done, and not all. */
async function begun(scheduledTime: string): Promise<RunItem> {
  const runId = `stops.v1.${scheduledTime.replace(/[-:]/g, '')}`;
  await fireSchedule(pipeline.aws, { scheduleName: out('ScheduleName'), scheduledTime: new Date(scheduledTime) });
  return waitFor('the middle of the run', DEADLINE_MILLIS, async () => {
    const run = await pipeline.ledger.readRun(runId);
    if (run?.plan === undefined) return undefined;
    const done = (await unitsOf(runId)).filter(({ state }) => state === 'committed');
    return done.length > 3 && done.length < run.plan.batches - 10 ? run : undefined;
  });
}

/** That no record changes any more once ten seconds are over since the act returned. */
async function expectStandstill(returnedAt: number): Promise<ReadonlySet<string>> {
  const wait = (until: number) =>
    waitFor('the time', STOPPED_MILLIS + WATCHED_MILLIS + 1_000, () => (Date.now() >= until ? true : undefined));
  await wait(returnedAt + STOPPED_MILLIS);
  const after = await expired();
  await wait(Date.now() + WATCHED_MILLIS);
  expect(await expired()).toEqual(after);
  return after;
}

it('a pause in the middle of twenty thousand records stops every change; a resume completes the run and spends nothing', async () => {
  const run = await begun('2026-01-01T00:00:00Z');
  const paused = await act<SwitchView>({ act: 'pause', ...NAMED });
  expect(paused).toMatchObject({ result: 'done', intake: 'settled', paused: { actor: 'test' } });
  const standing = await expectStandstill(Date.now());
  expect(standing.size).toBeGreaterThan(0);
  expect(standing.size).toBeLessThan(RECORDS);
  const lambda = new LambdaClient(clientConfig(pipeline.aws));
  const mapping = await lambda.send(new GetEventSourceMappingCommand({ UUID: out('ConsumerMappingId') }));
  expect(mapping.State).toBe('Disabled');
  expect(await act<SwitchView>({ act: 'pause', actor: 'another', reason: 'too' })).toMatchObject({
    ...{ result: 'already', paused: { actor: 'test' } },
  });

  expect(await act<SwitchView>({ act: 'resume', ...NAMED })).toMatchObject({ result: 'done', paused: null });
  await waitFor('the run to be published', DEADLINE_MILLIS, async () => {
    await invoke(pipeline.aws, out('ReconcilerFunctionName'), {});
    return (await pipeline.ledger.readRun(run.runId))?.status === 'draining' ? true : undefined;
  });
  const published = await pipeline.ledger.readRun(run.runId);
  if (published === undefined) throw new Error('the run is gone');
  await waitForUnits(pipeline, published, () => {});
  await close(pipeline, run.runId);
  expect(await viewOf(pipeline, run.runId)).toMatchObject({
    ...{ status: 'complete', processed: RECORDS, skipped: 0, remaining: 0, proof: { holds: true } },
  });
  expect((await expired()).size).toBe(RECORDS);
  // On a machine that is short of breath a call may fail by itself; that is then what spent an attempt, and it says so.
  const spent = (await unitsOf(run.runId)).filter(
    ({ attempts, errorClass }) => attempts !== 1 && errorClass === undefined,
  );
  expect(spent).toEqual([]);
  expect(await pipeline.sending.queue.depth()).toEqual({ work: 0, deadLetter: 0 });
});

it('a cancel in the middle stops every change; what was finished stays and all of it is accounted for', async () => {
  await loadRecords(pipeline.dynamo, settings.recordTableName, accounts(RECORDS, MORE));
  const run = await begun('2026-01-02T00:00:00Z');
  const cancelled = await act<CancelView>({ act: 'cancel', run: run.runId, ...NAMED });
  expect(cancelled).toMatchObject({ result: 'done' });
  const standing = await expectStandstill(Date.now());
  const view = await viewOf(pipeline, run.runId);
  expect(view).toMatchObject({ status: 'cancelled', planned: MORE, remaining: 0 });
  expect(view.processed + view.skipped).toBe(MORE);
  expect(view.cancelled).toBe(view.skipped);
  expect(view.cancelled).toBeGreaterThan(0);
  expect(standing.size - RECORDS).toBe(view.processed);
  expect((await unitsOf(run.runId)).filter(({ state }) => state !== 'committed' && state !== 'cancelled')).toEqual([]);
  expect(await act<CancelView>({ act: 'cancel', run: run.runId, ...NAMED })).toMatchObject({ result: 'already' });
});
