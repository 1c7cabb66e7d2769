import { type AttributeValue, type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { itemSize } from '../../lib/aws/item-size.ts';
import { DynamoLedger } from '../../lib/aws/ledger/ledger.ts';
import { runKey } from '../../lib/aws/ledger/run-item.ts';
import {
  auditSort,
  EXPIRES_AT,
  itemKey,
  OPEN_INDEX,
  openShardOf,
  openUnitSort,
  policyPartition,
  runAtSort,
  runPartition,
  SK,
  sliceSort,
  tallySort,
  unitSort,
} from '../../lib/aws/ledger/schema.ts';
import { sliceKey } from '../../lib/aws/ledger/slice-item.ts';
import { unitKey } from '../../lib/aws/ledger/unit-item.ts';
import { createMeter } from '../../lib/aws/meter.ts';
import { systemClock, systemRandom } from '../../lib/aws/system.ts';
import type { Slice } from '../../lib/core/ledger/items.ts';
import { aPause } from './ledger-control-cases.ts';
import { damageCases } from './ledger-damage-cases.ts';
import { createLedgerTable, ledgerOn } from './ledger-dynamo.ts';
import { lostAnswerCases } from './ledger-lost-answer-cases.ts';
import {
  anEntry,
  aRunId,
  aSlice,
  aTally,
  aTenant,
  FIRST,
  PLAN,
  runScope,
  start,
  storedRun,
  T0,
} from './ledger-samples.ts';
import { aSelection } from './ledger-selection-cases.ts';
import { aChild } from './ledger-split-cases.ts';

const KB = 1024;

/** What the ledger on a DynamoDB must do that a contract of ports cannot see: items, sizes, lost answers, prices. */
export function ledgerDynamoCases(name: string, makeClient: () => DynamoDBClient): void {
  describe(`ledger on a table: ${name}`, () => {
    const client = makeClient();
    let table: string;
    let ledger: DynamoLedger;
    beforeAll(async () => {
      table = await createLedgerTable(client);
      ledger = ledgerOn(client, table);
    });
    const itemAt = async (key: Record<string, AttributeValue>) =>
      (await client.send(new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item ?? {};

    describe('items', () => itemCases(() => ledger, itemAt));

    describe('trails that somebody wrote to', () =>
      damageCases(
        () => ledger,
        async (item) => {
          await client.send(new PutItemCommand({ TableName: table, Item: item }));
        },
      ));
    describe('retention', () =>
      retentionCases(
        () => client,
        () => table,
        itemAt,
      ));
    describe('lost answers', () =>
      lostAnswerCases(
        () => ledger,
        makeClient,
        () => table,
      ));
    describe('prices', () => priceCases(makeClient, () => table));
  });
}

type ItemAt = (key: Record<string, AttributeValue>) => Promise<Record<string, AttributeValue>>;

function itemCases(ledgerOf: () => DynamoLedger, itemAt: ItemAt): void {
  const { partitionKey, sortKey } = OPEN_INDEX;

  it('P53: spreads open units over shards and takes the index attributes off by the write that closes', async () => {
    const runId = aRunId();
    const shards = new Set<string>();
    for (let n = 0; n < 24; n += 1) {
      const ref = { runId, unit: String(n) };
      await ledgerOf().moveUnit(ref, 'postpone', FIRST, { since: T0, notBefore: T0 + 1 });
      const open = await itemAt(unitKey(ref));
      expect(open[sortKey]?.S).toBe(openUnitSort('planned', T0 + 1, runId, ref.unit));
      expect(open[partitionKey]?.S).toBe(openShardOf(runId, ref.unit));
      shards.add(open[partitionKey]?.S ?? '');
      await start(ledgerOf(), ref, 0);
      const closed = await itemAt(unitKey(ref));
      expect([partitionKey in closed, sortKey in closed]).toEqual([false, false]);
    }
    expect(shards.size).toBeGreaterThan(3);
  });

  it('takes a finished run out of the index', async () => {
    const { runId } = await storedRun(ledgerOf());
    expect(partitionKey in (await itemAt(runKey(runId)))).toBe(true);
    await ledgerOf().moveRun(runId, 'report', 0, { plan: PLAN });
    expect(partitionKey in (await itemAt(runKey(runId)))).toBe(false);
  });

  it('keeps a unit under 1 KB: exceptions that do not fit are left out, the counts never', async () => {
    const runId = 'a-policy-with-a-long-name-of-forty-eight-chars-x.version-of-24-characters.20260101T020000Z';
    const scattered = Array.from({ length: 500 }, (_, n) => 2 * n);
    for (const [unit, exceptions, kept] of [
      ['0', { state_changed: [1, 2, 3, 40, 41, 97] }, true],
      ['1', { state_changed: scattered }, false],
      ['2', { state_changed: Array.from({ length: 1_000 }, (_, n) => n) }, true],
    ] as const) {
      const ref = { runId, unit };
      const claim = 'c23f3a52-1b0e-4f62-9d0d-0f5b4b6f3a11/7d5c9be3-64a5-4b7e-8a51-4b6b7a0c9d12';
      await ledgerOf().moveUnit(
        ref,
        'start',
        { generation: 0, make: { tenant: 't'.repeat(60), records: 1_000 } },
        { since: T0, startedAt: T0, attempts: 1, claim },
      );
      const counts = { expired: 500, state_changed: exceptions.state_changed.length };
      const change = { since: T0, finishedAt: T0, counts, exceptions, keysDigest: 'd'.repeat(43) };
      const cost = { calls: 1_234, readUnits: 0.5, writeUnits: 1_234 };
      await ledgerOf().moveUnit(ref, 'commit', { generation: 0 }, { ...change, cost });
      expect(itemSize(await itemAt(unitKey(ref)))).toBeLessThanOrEqual(KB);
      const unitItem = await ledgerOf().readUnit(ref);
      expect(unitItem?.counts).toEqual(counts);
      expect(unitItem?.exceptions).toEqual(kept ? exceptions : undefined);
    }
  });

  it('keeps 100 entries within two write units and gives them back exactly', async () => {
    const runId = aRunId();
    for (const [entries, limit] of [
      [100, 2 * KB],
      [1_000, 12 * KB],
    ] as const) {
      const slice = sliceOf(runId, entries, entries);
      await ledgerOf().putSlice(slice);
      const size = itemSize(await itemAt(sliceKey(runId, entries)));
      console.info(`a slice of ${entries} entries takes ${size} bytes`);
      expect(size).toBeLessThanOrEqual(limit);
      expect(await ledgerOf().slices(runId, entries, entries + 1)).toEqual([slice]);
    }
  });

  it('a unit that was redriven with everything it may carry stays under 1 KB', async () => {
    const runId = 'a-policy-with-a-long-name-of-forty-eight-chars-x.version-of-24-characters.20260101T020000Z';
    const ref = { runId, unit: '12345678.999' };
    const make = { tenant: 't'.repeat(60), records: 1_000 };
    const ledger = ledgerOf();
    await ledger.moveUnit(
      ref,
      'quarantine',
      { generation: 0, make },
      { since: T0, finishedAt: T0, reason: 'permanent_failure', errorClass: 'e'.repeat(40), requestId: 'r'.repeat(56) },
    );
    const back = { since: T0, generation: 1, attempts: 0, bornAt: T0, notBefore: T0 };
    await ledger.moveUnit(ref, 'redrive', { generation: 0 }, back);
    const claim = 'c23f3a52-1b0e-4f62-9d0d-0f5b4b6f3a11/7d5c9be3-64a5-4b7e-8a51-4b6b7a0c9d12';
    await ledger.moveUnit(ref, 'start', { generation: 1 }, { since: T0, startedAt: T0, attempts: 1, claim });
    const counts = { expired: 250, state_changed: 250, held: 250, absent: 250 };
    const exceptions = { state_changed: Array.from({ length: 90 }, (_, n) => 2 * n), held: [999] };
    const cost = { calls: 1_234, readUnits: 0.5, writeUnits: 1_234 };
    const change = { since: T0, finishedAt: T0, counts, exceptions, keysDigest: 'd'.repeat(43), cost };
    await ledger.moveUnit(ref, 'commit', { generation: 1 }, change);
    expect(itemSize(await itemAt(unitKey(ref)))).toBeLessThanOrEqual(KB);
    expect((await ledger.readUnit(ref))?.counts).toEqual(counts);
  });

  it('a batch with as many split records as it may have stays under 1 KB, and so does each of those', async () => {
    const runId = 'a-policy-with-a-long-name-of-forty-eight-chars-x.version-of-24-characters.20260101T020001Z';
    const ref = { runId, unit: '12345678' };
    const make = { tenant: 't'.repeat(60), records: 1_000 };
    const claim = 'c23f3a52-1b0e-4f62-9d0d-0f5b4b6f3a11/7d5c9be3-64a5-4b7e-8a51-4b6b7a0c9d12';
    const failed = { errorClass: 'e'.repeat(40), failureClass: 'transient', requestId: 'r'.repeat(56) } as const;
    await ledgerOf().moveUnit(
      ref,
      'start',
      { generation: 0, make },
      { since: T0, startedAt: T0, attempts: 1, bornAt: T0, claim, ...failed },
    );
    const split = Array.from({ length: 25 }, (_, n) => 39 * n + 3);
    const children = split.map((position) => ({
      ...aChild(`12345678.${position}`),
      ...{ ...failed, tenant: make.tenant },
    }));
    const exceptions = { state_changed: Array.from({ length: 90 }, (_, n) => 2 * n), held: [999] };
    const change = {
      since: T0,
      finishedAt: T0,
      counts: { expired: 225, state_changed: 250, held: 250, absent: 250 },
      exceptions,
      keysDigest: 'd'.repeat(43),
      cost: { calls: 1_234, readUnits: 0.5, writeUnits: 1_234 },
      split,
    };
    await ledgerOf().splitUnit(ref, { generation: 0 }, change, children);
    const sizes = [itemSize(await itemAt(unitKey(ref)))];
    for (const { unit } of children) {
      const child = { runId, unit };
      await ledgerOf().moveUnit(child, 'copy', { generation: 0 }, { since: T0 + 7, copiedAt: T0, copiedGeneration: 0 });
      sizes.push(itemSize(await itemAt(unitKey(child))));
    }
    console.info(
      `a batch with 25 split records takes ${sizes[0]} bytes, a split record ${Math.max(...sizes.slice(1))}`,
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(KB);
    expect((await ledgerOf().readUnit(ref))?.split).toEqual(split);
  });

  it('keeps the largest selection in a small part of an item', async () => {
    const selection = aSelection(10_000);
    await ledgerOf().putSelection(selection);
    const item = await itemAt(itemKey(policyPartition(selection.policyId), `${SK.selection}${selection.digest}`));
    console.info(`a selection of 10,000 units takes ${itemSize(item)} bytes`);
    expect(itemSize(item)).toBeLessThanOrEqual(100 * KB);
  });

  it('refuses a slice that no item can hold, for good', async () => {
    const slice = sliceOf(aRunId(), 0, 1_000, 900);
    const refused = { failure: { class: 'permanent', error: 'ItemTooLarge' } };
    await expect(ledgerOf().putSlice(slice)).rejects.toMatchObject(refused);
  });
}

/** Entries like real ones: sparse account numbers and seconds that repeat nowhere; or keys of noise of a length. */
function sliceOf(runId: string, ordinal: number, count: number, noiseLength = 0): Slice {
  let state = 42;
  const noise = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const entries = Array.from({ length: count }, () => {
    const tail = Array.from({ length: noiseLength }, () => String.fromCharCode(33 + noise(90))).join('');
    const number = String(noise(1_000_000)).padStart(6, '0');
    const witness = new Date(1.5e12 + noise(1e8) * 1_000).toISOString().replace('.000', '');
    return { key: JSON.stringify([`Sacct-${number}${tail}`]), witness: `S${witness}`, writeUnits: 1 };
  });
  return { ...aSlice(runId, ordinal, 1), entries };
}

const DAY_SECONDS = 86_400;

function retentionCases(clientOf: () => DynamoDBClient, tableOf: () => string, itemAt: ItemAt): void {
  const WRITTEN_AT = T0 + 1;
  const EXPIRES = { N: String((T0 + 1_000) / 1_000 + 400 * DAY_SECONDS) };
  const clock = { ...systemClock, now: () => WRITTEN_AT };
  const keeping = (retentionDays: number | undefined) =>
    new DynamoLedger({ client: clientOf(), tableName: tableOf(), clock, random: systemRandom, retentionDays });
  const expiryAt = async (key: Record<string, AttributeValue>) => (await itemAt(key))[EXPIRES_AT];

  it('lets what is written go after the retention, in whole seconds from the write', async () => {
    const ledger = keeping(400);
    const { runId, policyId, scheduledTime, policyVersion } = await storedRun(ledger);
    const partition = runPartition(runId);
    await ledger.putSlice(aSlice(runId, 0, 1));
    await ledger.putTally(aTally(runId, 0, 1));
    await ledger.putTenant(aTenant(runId, 'acme', 1));
    await ledger.appendAudit(runScope(runId), anEntry(0));
    await start(ledger, { runId, unit: '0' }, 0);
    await ledger.recordBadMessage({ policyId, digest: 'd', reason: 'bad_signature', at: T0 });
    for (const [at, sort] of [
      [partition, sliceSort(0)],
      [partition, tallySort(0)],
      [partition, `${SK.tenant}acme`],
      [partition, auditSort(0)],
      [partition, unitSort('0')],
      [policyPartition(policyId), runAtSort(scheduledTime, policyVersion)],
      [policyPartition(policyId), `${SK.message}d`],
    ] as const) {
      expect(await expiryAt(itemKey(at, sort)), sort).toEqual(EXPIRES);
    }
  });

  it('lets nothing go that is open: a run under way or closed around its quarantine, a unit that waits', async () => {
    const ledger = keeping(400);
    const { runId } = await storedRun(ledger);
    const run = runKey(runId);
    const unit = { runId, unit: '0' };
    expect(await expiryAt(run)).toBeUndefined();
    await ledger.moveRun(runId, 'refuse', 0, {});
    expect(await expiryAt(run)).toEqual(EXPIRES);
    await ledger.moveRun(runId, 'retry', 0, {});
    expect(await expiryAt(run)).toBeUndefined();
    for (const edge of ['freeze', 'drain', 'completeWithQuarantine'] as const) {
      await ledger.moveRun(runId, edge, 0, {});
      expect(await expiryAt(run), edge).toBeUndefined();
    }
    await start(ledger, unit, 0);
    expect(await expiryAt(unitKey(unit))).toEqual(EXPIRES);
    await ledger.moveUnit(unit, 'quarantine', FIRST, { since: T0 });
    expect(await expiryAt(unitKey(unit))).toBeUndefined();
    await ledger.moveUnit(unit, 'redrive', FIRST, { since: T0, notBefore: T0, generation: 1 });
    expect(await expiryAt(unitKey(unit))).toBeUndefined();
    await ledger.moveUnit(unit, 'start', { generation: 1 }, { since: T0, attempts: 1 });
    await ledger.moveUnit(unit, 'commit', { generation: 1 }, { since: T0 });
    expect(await expiryAt(unitKey(unit))).toEqual(EXPIRES);
    await ledger.moveRun(runId, 'reopen', undefined, {});
    await ledger.moveRun(runId, 'complete', undefined, {});
    expect(await expiryAt(run)).toEqual(EXPIRES);
  });

  it('lets a split batch go and its records only once they are settled; a cancelled run once its totals are final', async () => {
    const ledger = keeping(400);
    const { runId } = await storedRun(ledger);
    const ref = { runId, unit: '0' };
    const child = { runId, unit: '0.1' };
    await start(ledger, ref, 0);
    await ledger.splitUnit(ref, { generation: 0 }, { since: T0, split: [1] }, [aChild('0.1')]);
    expect([await expiryAt(unitKey(ref)), await expiryAt(unitKey(child))]).toEqual([EXPIRES, undefined]);
    await ledger.moveUnit(child, 'copy', { generation: 0 }, { since: T0, copiedAt: T0, copiedGeneration: 0 });
    expect(await expiryAt(unitKey(child))).toBeUndefined();
    await ledger.moveUnit(child, 'abandon', { generation: 0 }, { since: T0 });
    expect(await expiryAt(unitKey(child))).toEqual(EXPIRES);
    await ledger.moveRun(runId, 'cancel', undefined, { cancelledAt: T0 });
    expect(await expiryAt(runKey(runId))).toBeUndefined();
    await ledger.moveRun(runId, 'settle', undefined, {});
    expect(await expiryAt(runKey(runId))).toEqual(EXPIRES);
  });

  it('lets a selection go, but not for as long as it is put again', async () => {
    const ledger = keeping(400);
    const selection = aSelection(3);
    const key = itemKey(policyPartition(selection.policyId), `${SK.selection}${selection.digest}`);
    await keeping(90).putSelection(selection);
    await ledger.putSelection(selection);
    expect(await expiryAt(key)).toEqual(EXPIRES);
  });

  it('never lets the policy’s control item or its trail go', async () => {
    const ledger = keeping(400);
    const { policyId } = await storedRun(ledger);
    await ledger.claimVersion(policyId, 'v1', 'digest');
    await ledger.pause(policyId, aPause(T0));
    await ledger.resume(policyId, T0, T0 + 1);
    await ledger.settleIntake(policyId, 'to-enable');
    await ledger.appendAudit({ kind: 'policy', policyId }, anEntry(0));
    for (const sort of [SK.control, auditSort(0)]) {
      const item = await itemAt(itemKey(policyPartition(policyId), sort));
      expect([Object.keys(item).length > 2, item[EXPIRES_AT]], sort).toEqual([true, undefined]);
    }
  });

  it('lets nothing go where the process knows no retention', async () => {
    const ledger = keeping(undefined);
    const { runId } = await storedRun(ledger);
    await ledger.putSlice(aSlice(runId, 0, 1));
    await ledger.moveRun(runId, 'report', 0, {});
    for (const key of [runKey(runId), sliceKey(runId, 0)]) expect(await expiryAt(key)).toBeUndefined();
  });

  it('P55: knows a write of its own again at another time of day', async () => {
    const ledger = keeping(400);
    const run = await storedRun(ledger);
    expect(await ledger.putSlice(aSlice(run.runId, 0, 1))).toBe('written');
    expect((await ledger.moveRun(run.runId, 'freeze', 0, { plan: PLAN })).kind).toBe('moved');
    const later = new DynamoLedger({
      ...{ client: clientOf(), tableName: tableOf(), clock: systemClock, random: systemRandom, retentionDays: 90 },
    });
    expect(await later.putSlice(aSlice(run.runId, 0, 1))).toBe('written');
    expect((await later.moveRun(run.runId, 'freeze', 0, { plan: PLAN })).kind).toBe('moved');
  });
}

function priceCases(makeClient: () => DynamoDBClient, tableOf: () => string): void {
  it('prices the calls of a unit: one write unit each, none for the index that it never enters', async () => {
    const meter = createMeter();
    const client = makeClient();
    meter.price(client);
    const ledger = new DynamoLedger({ client, tableName: tableOf(), clock: systemClock, random: systemRandom });
    const ref = { runId: aRunId(), unit: '0' };
    await start(ledger, ref, 0);
    await ledger.moveUnit(ref, 'commit', { generation: 0 }, { since: T0, counts: { expired: 3 } });
    expect(meter.take()).toEqual({ calls: 2, readUnits: 0, writeUnits: 2 });
    expect((await ledger.moveUnit(ref, 'commit', { generation: 0 }, { since: T0 + 1 })).kind).toBe('refused');
    expect(meter.take()).toEqual({ calls: 1, readUnits: 0, writeUnits: 1 });
    await ledger.moveUnit({ ...ref, unit: '1' }, 'quarantine', FIRST, { since: T0 });
    expect(meter.take()).toEqual({ calls: 1, readUnits: 0, writeUnits: 2 });
    await ledger.load([ref, { ...ref, unit: '1' }]);
    expect(meter.take()).toEqual({ calls: 1, readUnits: 5, writeUnits: 0 });
    await ledger.readStops('p', ref.runId);
    expect(meter.take()).toEqual({ calls: 1, readUnits: 2, writeUnits: 0 });
  });
}
