import { describe, expect, it } from 'vitest';
import { STOPS_BELIEVED_MILLIS } from '../../../lib/core/control/gate.ts';
import { digestOf } from '../../../lib/core/identity/encode.ts';
import type { Slice } from '../../../lib/core/ledger/items.ts';
import { sealSlice } from '../../../lib/core/plan/open-slices.ts';
import { type Ledger, PortError, type TargetCall } from '../../../lib/core/ports/index.ts';
import { type BatchReference, encodeReference, referenceTo } from '../../../lib/core/publish/reference.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { type Delivery, idOfKey } from '../../model/index.ts';
import {
  account,
  accounts,
  altered,
  decide,
  deploy,
  endsIn,
  OLD,
  published,
  receiveOne,
  theRun,
  theUnit,
} from './stage.ts';

const COMMITTED = { kind: 'acknowledge', why: 'committed' };
const BAD = { kind: 'acknowledge', why: 'bad_message' };

function delivery(body: string, messageId = `message ${digestOf([body])}`): Delivery {
  return { messageId, handle: messageId, body, labels: {}, group: 'g', receiveCount: 1, sentAt: 0 };
}

/** A well-signed body for batch 0 of the run, with something else in it. */
async function signed(stage: Deployment, change: Partial<BatchReference> = {}): Promise<string> {
  const unit = { unit: '0', tenant: 't1', generation: 0 };
  return encodeReference({ ...referenceTo(await theRun(stage), unit), ...change }, stage.signer);
}

function without(body: string, field: string): string {
  const { [field]: _left, ...others } = JSON.parse(body);
  return JSON.stringify(others);
}

describe('one event of several messages', () => {
  it('P32: each message has its own end, whatever its neighbours are', async () => {
    const stage = await published(accounts(9));
    const [one, two, three] = await stage.queue.receive(10);
    if (one === undefined || two === undefined || three === undefined) throw new Error('three messages');
    const unit = JSON.parse(two.body).unit as string;
    stage.target.poison(`a000${Number(unit) * 3}`, { class: 'transient', error: 'ThrottlingError' });
    const forged = delivery(JSON.stringify({ ...JSON.parse(one.body), generation: 7 }));
    const event = [delivery('{'), one, forged, two, delivery('null'), three];
    expect(await decide(stage, event)).toEqual([
      ...[BAD, COMMITTED, BAD],
      expect.objectContaining({ kind: 'retry', why: 'records_failed', errorClass: 'ThrottlingError' }),
      ...[BAD, COMMITTED],
    ]);
    expect(stage.records.writes).toHaveLength(8);
  });

  it.each<[string, unknown]>([
    ['an Error', new Error('boom')],
    ['undefined', undefined],
    ['null', null],
    ['a text', 'boom'],
    ['an object', { code: 1 }],
  ])('P32: %s thrown for one message is a retry of that message and of no other', async (_what, thrown) => {
    const stage = await published(accounts(9));
    const event = await stage.queue.receive(10);
    const apply = async (call: TargetCall) => {
      if (call.items.some(({ key }) => idOfKey(key) === 'a0004')) throw thrown;
      return stage.target.apply(call);
    };
    const decisions = await decide(stage, event, { target: altered(stage.target, { apply }) });
    const retried = event.filter((_delivery, at) => decisions[at]?.kind === 'retry');
    expect(retried.map(({ body }) => JSON.parse(body).unit)).toEqual(['1']);
    expect(stage.ledger.contents().units.map(({ unit, state }) => `${unit} ${state}`)).toEqual([
      ...['0 committed', '1 published', '2 committed'],
    ]);
  });

  it('P32: a ledger that cannot be read is a retry of all, nothing is judged without it', async () => {
    const stage = await published(accounts(9));
    const event = [...(await stage.queue.receive(10)), delivery('{')];
    const load = async () => {
      throw new PortError('load', { class: 'transient', error: 'ProvisionedThroughputExceededException' });
    };
    const decisions = await decide(stage, event, { ledger: altered<Ledger>(stage.ledger, { load }) });
    const retry = { kind: 'retry', why: 'ledger_unavailable', errorClass: 'ProvisionedThroughputExceededException' };
    expect(decisions).toEqual([...Array.from({ length: 3 }, () => expect.objectContaining(retry)), BAD]);
    expect(stage.records.writes).toEqual([]);
  });

  it('P35: of ten batches of one second each, with 3.5 seconds left, two are done and the rest not started', async () => {
    const stage = await published(accounts(10), { batchSize: '1' });
    const event = await stage.queue.receive(10);
    expect(event).toHaveLength(10);
    const apply = async (call: TargetCall) => {
      stage.world.advance(1_000);
      return stage.target.apply(call);
    };
    const deadline = endsIn(stage.world, 3_500);
    const decisions = await decide(stage, event, { target: altered(stage.target, { apply }) }, deadline);
    expect(decisions.slice(0, 2)).toEqual([COMMITTED, COMMITTED]);
    for (const late of decisions.slice(2)) expect(late).toMatchObject({ kind: 'retry', why: 'out_of_time' });
    expect(deadline.remainingMillis()).toBeGreaterThanOrEqual(1_000);
    expect(stage.ledger.contents().units).toHaveLength(2);
  });

  it('P72: within a batch, no call is started where nobody can say whether the policy is paused', async () => {
    const stage = await published(accounts(10), { batchSize: '10' });
    const apply = async (call: TargetCall) => {
      stage.world.advance(STOPS_BELIEVED_MILLIS);
      return stage.target.apply(call);
    };
    let reads = 0;
    const readStops: Ledger['readStops'] = async (...asked) => {
      reads += 1;
      if (reads > 1) throw new PortError('readStops', { class: 'transient', error: 'ThrottlingException' });
      return stage.ledger.readStops(...asked);
    };
    const ports = { ledger: altered<Ledger>(stage.ledger, { readStops }), target: altered(stage.target, { apply }) };
    const decisions = await decide(stage, [await receiveOne(stage)], ports);
    expect(decisions).toMatchObject([{ kind: 'retry', why: 'ledger_unavailable' }]);
    expect(stage.records.writes).toHaveLength(stage.target.recordsPerCall);
    expect(await theUnit(stage)).toMatchObject({ state: 'published', attempts: 0 });
  });

  it('P35: within a batch, no call is started that the time left may not cover, and what was done stays done', async () => {
    const stage = await published(accounts(10), { batchSize: '10' });
    const first = await receiveOne(stage);
    const apply = async (call: TargetCall) => {
      stage.world.advance(1_000);
      return stage.target.apply(call);
    };
    const target = altered(stage.target, { apply });
    const [decision] = await decide(stage, [first], { target }, endsIn(stage.world, 3_500));
    expect(decision).toMatchObject({ kind: 'retry', why: 'out_of_time', failureClass: 'deferred' });
    expect(stage.records.writes).toHaveLength(6);
    stage.world.advance(60_000);
    const again = await receiveOne(stage);
    expect(await decide(stage, [again], { target }, endsIn(stage.world, 60_000))).toEqual([COMMITTED]);
    expect(stage.records.writes).toHaveLength(10);
  });
});

describe('a message that is not to be trusted', () => {
  /** Sees to it that the message changed nothing and can be found by its digest and its reason. */
  async function condemned(stage: Deployment, body: string, reason: string): Promise<void> {
    expect(await decide(stage, [delivery(body)])).toEqual([BAD]);
    expect(stage.records.writes).toEqual([]);
    expect(stage.ledger.contents().units).toEqual([]);
    expect(stage.ledger.contents().badMessages).toMatchObject([{ reason, policyId: 'accounts' }]);
    const digest = digestOf(['message', body]);
    expect(stage.queue.deadLetters.copies()).toMatchObject([{ body, labels: { reason, digest } }]);
    expect(JSON.stringify(stage.ledger.contents().badMessages)).not.toContain(body);
  }

  it('P45: two bodies without a batch are two bad messages, not one piece of work', async () => {
    const stage = await published(accounts(3));
    const bodies = [await signed(stage), await signed(stage, { tenant: 't2' })].map((body) => without(body, 'unit'));
    expect(
      await decide(
        stage,
        bodies.map((body) => delivery(body)),
      ),
    ).toEqual([BAD, BAD]);
    expect(stage.ledger.contents().badMessages.map(({ reason }) => reason)).toEqual(['malformed', 'malformed']);
    expect(stage.idempotency.keys()).toEqual([]);
    expect(stage.records.writes).toEqual([]);
  });

  it('P39: of a schema version that is not known, it waits in the ledger and the dead-letter queue', async () => {
    const stage = await published(accounts(3));
    await condemned(stage, JSON.stringify({ ...JSON.parse(await signed(stage)), schemaVersion: 99 }), 'unknown_schema');
  });

  it.each([
    { mac: 'AAAA' },
    { tenant: 't2' },
    { runId: 'accounts.v1.20250101T000000Z' },
    { cutoff: '2025-06-01T00:00:00.000Z' },
    { policyVersion: 'v2' },
    { unit: '1' },
    { generation: 1 },
  ])('altered in %j after it was signed, it is forged', async (change) => {
    const stage = await published(accounts(3));
    await condemned(stage, JSON.stringify({ ...JSON.parse(await signed(stage)), ...change }), 'bad_signature');
  });

  it('of a slice that a dead dispatcher left beyond the plan, it is not carried out', async () => {
    const stage = await published(accounts(3));
    const [planned] = stage.ledger.contents().slices;
    const entries = [{ key: '["Sa9999"]', witness: `S:${OLD}`, writeUnits: 1 }];
    const beyond = sealSlice({ tenant: 't1', entries }, stage.runId, 1, 1);
    expect(beyond.tenant).toBe(planned?.tenant);
    await stage.ledger.putSlice(beyond);
    stage.records.put(account('a9999'));
    await condemned(stage, await signed(stage, { unit: '1' }), 'unknown_unit');
  });

  it('received twice, it keeps the first sighting', async () => {
    const stage = await published(accounts(3));
    await decide(stage, [delivery('{', 'one')]);
    stage.world.advance(60_000);
    await decide(stage, [delivery('{', 'two')]);
    expect(stage.ledger.contents().badMessages).toMatchObject([{ at: Date.UTC(2026, 0, 1) }]);
  });

  it.each<[string, Partial<BatchReference>]>([
    ['unknown_run', { runId: 'accounts.v1.20250101T000000Z' }],
    ['unknown_run', { runId: 'other-policy.v1.20260101T000000Z' }],
    ['unknown_unit', { unit: '1' }],
    ['unknown_unit', { unit: '1.0' }],
    ['unknown_generation', { generation: 1 }],
    ['not_of_this_run', { cutoff: Date.UTC(2025, 5, 1) }],
    ['not_of_this_run', { policyVersion: 'v2' }],
    ['not_of_this_batch', { tenant: 't2' }],
  ])('well signed, but %s: %j', async (reason, change) => {
    const stage = await published(accounts(3));
    await condemned(stage, await signed(stage, change), reason);
  });

  it('of a slice that was altered after the plan was frozen, it is not carried out', async () => {
    const stage = await published(accounts(3));
    const load: Ledger['load'] = async (refs) =>
      (await stage.ledger.load(refs)).map((loaded) => ({ ...loaded, slice: alteredSlice(loaded.slice) }));
    const decisions = await decide(stage, [await receiveOne(stage)], {
      ledger: altered<Ledger>(stage.ledger, { load }),
    });
    expect(decisions).toEqual([BAD]);
    expect(stage.ledger.contents().badMessages).toMatchObject([{ reason: 'slice_altered' }]);
    expect(stage.records.writes).toEqual([]);
  });

  it('of a run that only reports, it is not carried out', async () => {
    const stage = deploy(accounts(3), { mode: 'report-only' });
    await stage.dispatch();
    await condemned(stage, await signed(stage), 'report_only');
  });

  it('signed with a key that this host has not heard of, it is tried again and not condemned', async () => {
    const stage = await published(accounts(3));
    const waiting = await receiveOne(stage);
    stage.signer.forget('key-1');
    expect(await decide(stage, [waiting])).toMatchObject([
      { kind: 'retry', why: 'unknown_key', failureClass: 'transient', errorClass: 'UnknownKey' },
    ]);
    expect(stage.ledger.contents().badMessages).toEqual([]);
    expect(stage.queue.deadLetters.copies()).toEqual([]);
  });
});

function alteredSlice(slice: Slice | undefined): Slice | undefined {
  if (slice === undefined) return undefined;
  return { ...slice, entries: slice.entries.map((entry) => ({ ...entry, key: '["Sanother"]' })) };
}
