import { describe, expect, it } from 'vitest';
import type { UnitItem } from '../../../lib/core/ledger/items.ts';
import { digestOfParts, standingOf } from '../../../lib/core/reconcile/batches.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import { checkSound, watch } from '../../helpers/soundness.ts';
import { accounts, published, theRun, theUnit } from './stage.ts';

const DENIED = { class: 'permanent', error: 'ValidationException', requestId: 'req-9' } as const;
const THROTTLED = { class: 'transient', error: 'ThrottlingException' } as const;
const HUNDRED = { batchSize: '100' };

const id = (number: number) => `a${String(number).padStart(4, '0')}`;

describe('a record that fails for good', () => {
  it('is a unit of its own after one attempt, and its ninety-nine neighbours are done at the first delivery', async () => {
    const stage = await published(accounts(100), HUNDRED);
    const seen = watch(stage);
    stage.target.poison(id(41), DENIED);
    await deliverAll(stage);
    expect(stage.decisions).toMatchObject([{ kind: 'acknowledge', why: 'isolated', told: { attempt: 1 } }]);
    expect(await theUnit(stage)).toMatchObject({ state: 'committed', counts: { expired: 99 }, split: [41] });
    expect(await theUnit(stage, '0.41')).toMatchObject({
      ...{ state: 'quarantined', records: 1, attempts: 1, generation: 0, reason: 'permanent_failure' },
      ...{ errorClass: DENIED.error, failureClass: 'permanent', requestId: 'req-9', copiedGeneration: 0 },
    });
    expect(stage.queue.deadLetters.copies().map(({ body, labels }) => [JSON.parse(body).unit, labels])).toEqual([
      ['0.41', { reason: 'permanent_failure', errorClass: DENIED.error, generation: '0' }],
    ]);
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({
      ...{ status: 'complete_with_quarantine', closing: { processed: 99, skipped: 0, remaining: 1 } },
    });

    stage.target.heal(id(41));
    const writes = stage.records.writes.length;
    for (const _time of [1, 2]) await stage.redrive();
    await settle(stage);
    expect(stage.records.writes.slice(writes).map(({ key }) => key)).toEqual([`["S${id(41)}"]`]);
    const run = await theRun(stage);
    expect(run).toMatchObject({ status: 'complete', closing: { processed: 100, remaining: 0 } });
    expect((await standingOf(stage.ledger, run)).terminal).toEqual({
      ...{ batches: 1, records: 100, digest: run.plan?.digest },
    });
    checkSound(stage, seen);
  });

  it('keeps its operation key when it comes back alone', async () => {
    const stage = await published(accounts(3));
    stage.target.poison(id(1), DENIED);
    await settle(stage);
    // Its write had happened after all, and nobody knew.
    const asWritten = await published(accounts(3));
    await settle(asWritten);
    stage.records.put(asWritten.records.row(id(1)) ?? {});
    stage.target.heal(id(1));
    await stage.redrive();
    await settle(stage);
    expect(await theUnit(stage, '0.1')).toMatchObject({ state: 'committed', counts: { expired: 1 } });
    expect(stage.records.writes).toHaveLength(2);
  });

  it.each([2, 25])('%i of a batch are as many units', async (poisoned) => {
    const stage = await published(accounts(100), HUNDRED);
    for (let number = 0; number < poisoned; number += 1) stage.target.poison(id(number * 3), DENIED);
    await settle(stage);
    const { units } = stage.ledger.contents();
    expect(units.filter(({ state }) => state === 'quarantined')).toHaveLength(poisoned);
    expect(stage.queue.deadLetters.copies()).toHaveLength(poisoned);
    expect(await theRun(stage)).toMatchObject({ closing: { processed: 100 - poisoned, remaining: poisoned } });
  });

  it('more than twenty-five of a batch, or all of it, are no fault of single records: the batch waits as one', async () => {
    for (const poisoned of [26, 100]) {
      const stage = await published(accounts(100), HUNDRED);
      for (let number = 0; number < poisoned; number += 1) stage.target.poison(id(number), DENIED);
      await settle(stage);
      expect(stage.ledger.contents().units).toMatchObject([{ unit: '0', state: 'quarantined', records: 100 }]);
      expect(stage.queue.deadLetters.copies()).toHaveLength(1);
      expect(await theRun(stage)).toMatchObject({ closing: { remaining: 100 } });
      stage.target.healAll();
      await stage.redrive();
      await settle(stage);
      expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 100, remaining: 0 } });
      expect(stage.records.writes).toHaveLength(100);
    }
  });

  it('fails alone again and is quarantined again, as itself', async () => {
    const stage = await published(accounts(3));
    stage.target.poison(id(1), DENIED);
    await settle(stage);
    await stage.redrive();
    await settle(stage);
    expect(stage.ledger.contents().units.map(({ unit, state }) => [unit, state])).toEqual([
      ['0', 'committed'],
      ['0.1', 'quarantined'],
    ]);
    expect(await theUnit(stage, '0.1')).toMatchObject({ generation: 1, attempts: 1, copiedGeneration: 1 });
  });

  it('a second delivery of its batch does nothing but make sure that its message is there', async () => {
    const stage = await published(accounts(3), {}, { queue: { copies: 2 } });
    stage.target.poison(id(1), DENIED);
    stage.crew.interference = { fate: ({ name }) => (name === 'queue.sendDeadLetter' ? 'crash' : 'go') };
    const [one, two] = await stage.queue.receive(10);
    if (one === undefined || two === undefined) throw new Error('two deliveries');
    await stage.consume([one]);
    expect(await theUnit(stage, '0.1')).toMatchObject({ state: 'quarantined' });
    expect(stage.queue.deadLetters.copies()).toEqual([]);
    stage.crew.interference = { fate: () => 'go' };
    const calls = stage.crew.calls.filter(({ name }) => name === 'target.apply').length;
    await stage.consume([two]);
    expect(stage.queue.deadLetters.copies()).toHaveLength(1);
    await stage.consume([{ ...one, messageId: 'a third' }]);
    expect(stage.queue.deadLetters.copies()).toHaveLength(1);
    expect(stage.crew.calls.filter(({ name }) => name === 'target.apply')).toHaveLength(calls);
  });
});

describe('a record that alone keeps failing', () => {
  it('is isolated when the attempts are spent; those that changed something are not counted', async () => {
    const stage = await published(accounts(100), { ...HUNDRED, maxAttempts: '3' });
    stage.target.poison(id(7), THROTTLED);
    await settle(stage);
    expect(await theUnit(stage)).toMatchObject({ state: 'committed', attempts: 3, counts: { expired: 99 } });
    expect(await theUnit(stage, '0.7')).toMatchObject({
      ...{ state: 'quarantined', reason: 'attempts_spent', errorClass: THROTTLED.error, failureClass: 'transient' },
    });
    const retries = stage.decisions.filter(({ kind }) => kind === 'retry');
    expect(retries).toHaveLength(3);
    expect(await theRun(stage)).toMatchObject({ closing: { processed: 99, remaining: 1 } });
  });
});

describe('the digest of a split batch', () => {
  async function parts() {
    const stage = await published(accounts(6), { batchSize: '6' });
    for (const number of [1, 4]) stage.target.poison(id(number), DENIED);
    await settle(stage);
    stage.target.healAll();
    await stage.redrive();
    await settle(stage);
    const { units, slices } = stage.ledger.contents();
    const [batch, ...children] = units;
    const [slice] = slices;
    if (batch === undefined || slice === undefined) throw new Error('a batch');
    return { batch, children, slice };
  }

  it('is that of the whole, made of what the target answered for', async () => {
    const { batch, children, slice } = await parts();
    expect(digestOfParts(slice, batch, children)).toBe(slice.keysDigest);
  });

  it.each<[string, (batch: UnitItem, children: readonly UnitItem[]) => readonly [UnitItem, readonly UnitItem[]]]>([
    ['of another batch', (batch, children) => [{ ...batch, keysDigest: 'other' }, children]],
    ['without a child', (batch, children) => [batch, children.slice(1)]],
    ['with a child twice', (batch, [one]) => [batch, one === undefined ? [] : [one, one]]],
    ['with a child that was not split', (batch, children) => [{ ...batch, split: [1] }, children]],
    [
      'with a child of another key',
      (batch, [one, two]) => [batch, one && two ? [{ ...one, keysDigest: 'x' }, two] : []],
    ],
    [
      'with children in each other’s place',
      (batch, [one, two]) => [
        batch,
        one && two
          ? [
              { ...one, unit: two.unit },
              { ...two, unit: one.unit },
            ]
          : [],
      ],
    ],
  ])('is none %s', async (_what, change) => {
    const { batch, children, slice } = await parts();
    const [changed, others] = change(batch, children);
    expect(digestOfParts(slice, changed, others)).not.toBe(slice.keysDigest);
  });
});

it('a record whose consumer died before it could send the message gets its message from the reconciler', async () => {
  const stage = await published(accounts(3));
  stage.target.poison(id(1), DENIED);
  stage.crew.interference = { fate: ({ name }) => (name === 'queue.sendDeadLetter' ? 'crash' : 'go') };
  await stage.consume(await stage.receive());
  stage.crew.interference = { fate: () => 'go' };
  stage.queue.purge();
  await stage.reconcile();
  expect(stage.queue.deadLetters.copies()).toEqual([]);
  stage.world.advance(11 * 60_000);
  for (const _pass of [1, 2]) await stage.reconcile();
  expect(stage.queue.deadLetters.copies().map(({ labels }) => labels.generation)).toEqual(['0']);
  expect(await theUnit(stage, '0.1')).toMatchObject({ state: 'quarantined', copiedGeneration: 0 });
});
