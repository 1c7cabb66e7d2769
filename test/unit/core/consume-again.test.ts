import { describe, expect, it } from 'vitest';
import { consume } from '../../../lib/core/consume/consume.ts';
import { prepareEvent } from '../../../lib/core/consume/prepare.ts';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { type Idempotency, PortError, type RecordResult, type TargetCall } from '../../../lib/core/ports/index.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import type { Delivery } from '../../model/index.ts';
import {
  accounts,
  altered,
  consumePorts,
  decide,
  expiredIds,
  published,
  receiveOne,
  resent,
  theRun,
  theUnit,
  timeLeft,
} from './stage.ts';

const COMMITTED = { kind: 'acknowledge', why: 'committed' };
const TERMINAL = { kind: 'acknowledge', why: 'terminal' };
const LEASE_MILLIS = 10_000;

/** A target whose next call waits for the test, and then fails as told. */
function stuckTarget(stage: Deployment) {
  let fail: (error: unknown) => void = () => {};
  const stuck = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const apply = (_call: TargetCall): Promise<readonly RecordResult[]> => stuck;
  return { target: altered(stage.target, { apply }), fail: (error: unknown) => fail(error) };
}

/** Lets everything run that can run without another port's answer. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('a delivery that comes again', () => {
  it('P40: under another message id, it is the same work', async () => {
    const stage = await published(accounts(3));
    const first = await receiveOne(stage);
    // Both are judged before either is done, so that only the identity of the work tells them from each other.
    expect(await decide(stage, [first, resent(first, 'm2')])).toEqual([
      COMMITTED,
      { kind: 'acknowledge', why: 'remembered' },
    ]);
    expect(stage.idempotency.keys()).toHaveLength(1);
    expect(stage.idempotency.keys().join()).not.toContain(first.messageId);
    expect(stage.records.writes).toHaveLength(3);
    expect(await decide(stage, [resent(first, 'm3')])).toEqual([TERMINAL]);
  });

  it.each([61 * 60_000, 10 * DAY_MILLIS, 40 * DAY_MILLIS])(
    'P41: after %i ms, with nothing remembered, nothing is done',
    async (later) => {
      const stage = await published(accounts(3));
      const delivery = await receiveOne(stage);
      await decide(stage, [delivery]);
      const rows = stage.records.rows();
      stage.world.advance(later);
      stage.idempotency.forgetAll();
      expect(await decide(stage, [resent(delivery)])).toEqual([TERMINAL]);
      expect(stage.records.rows()).toEqual(rows);
      expect(stage.records.writes).toHaveLength(3);
      expect((await theUnit(stage)).attempts).toBe(1);
    },
  );

  it('P41: even where the ledger was restored to before the work, the key in the record keeps it from a second effect', async () => {
    const stage = await published(accounts(3));
    const delivery = await receiveOne(stage);
    const early = await prepareEvent({ ledger: stage.ledger, signer: stage.signer }, [delivery]);
    await decide(stage, [delivery]);
    const restored = await published(accounts(3));
    stage.idempotency.forgetAll();
    const prepared = early.get(delivery.messageId);
    if (prepared === undefined) throw new Error('not prepared');
    const ports = consumePorts(stage, { ledger: restored.ledger });
    expect(await consume(ports, delivery, prepared, timeLeft())).toMatchObject(COMMITTED);
    expect(stage.records.writes).toHaveLength(3);
    expect(await theUnit(restored)).toMatchObject({ counts: { expired: 3 } });
  });

  it('P42: with no time left nothing is started, nothing is leased and no attempt is counted', async () => {
    for (const left of [0, -5, 1_999]) {
      const stage = await published(accounts(3));
      const [decision] = await decide(stage, [await receiveOne(stage)], {}, timeLeft(left));
      expect(decision).toMatchObject({ kind: 'retry', why: 'out_of_time', failureClass: 'deferred' });
      expect(stage.idempotency.keys()).toEqual([]);
      expect(stage.ledger.contents().units).toEqual([]);
      expect(stage.records.writes).toEqual([]);
    }
  });

  it('P42: after a crash in the work, the next delivery waits for the lease and then does it', async () => {
    const stage = await published(accounts(3));
    const delivery = await receiveOne(stage);
    stage.crew.interference = { fate: ({ name }) => (name === 'target.apply' ? 'crash' : 'go') };
    expect(await stage.consume([delivery])).toMatchObject({ kind: 'crashed' });
    stage.crew.interference = { fate: () => 'go' };
    stage.world.advance(LEASE_MILLIS - 1);
    const [waiting] = await decide(stage, [resent(delivery)]);
    expect(waiting).toMatchObject({ kind: 'retry', why: 'in_progress_elsewhere', failureClass: 'deferred' });
    expect((await theUnit(stage)).attempts).toBe(1);
    stage.world.advance(1);
    expect(await decide(stage, [resent(delivery)])).toEqual([COMMITTED]);
    expect(stage.records.writes).toHaveLength(3);
    expect(await theUnit(stage)).toMatchObject({ state: 'committed', attempts: 2 });
  });

  it('P42: a consumer whose clock runs 30 seconds ahead starts beside another, and there is still one effect', async () => {
    const stage = await published(accounts(3));
    const delivery = await receiveOne(stage);
    const ahead = stage.idempotency.on(stage.world.clock(30_000));
    const [first] = await Promise.all([
      decide(stage, [delivery]),
      decide(stage, [resent(delivery)], { idempotency: ahead, clock: stage.world.clock(30_000) }),
    ]);
    expect(first).toHaveLength(1);
    await settle(stage);
    expect(stage.records.writes).toHaveLength(3);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 3 } });
  });

  it('P42: what a crash left in progress does not keep the next generation waiting', async () => {
    const stage = await published(accounts(3), {}, { idempotency: { leaseMillis: 3_600_000 } });
    stage.crew.interference = { fate: ({ name }) => (name === 'target.apply' ? 'crash' : 'go') };
    await stage.consume(await stage.receive());
    stage.crew.interference = { fate: () => 'go' };
    const guard = { generation: 0 };
    const at = { since: stage.world.millis };
    await stage.ledger.moveUnit({ runId: stage.runId, unit: '0' }, 'quarantine', guard, at);
    await stage.redrive();
    await stage.consume(await stage.receive());
    expect(stage.decisions).toMatchObject([COMMITTED]);
    expect(stage.idempotency.keys()).toHaveLength(2);
    expect(await theUnit(stage)).toMatchObject({ state: 'committed', generation: 1, counts: { expired: 3 } });
  });

  it.each(['transient', 'permanent'] as const)(
    'P43: a late loser with a %s failure deletes the record of the winner; the third delivery still finds it done',
    async (failureClass) => {
      const stage = await published(accounts(2));
      const delivery = await receiveOne(stage);
      const early = await prepareEvent({ ledger: stage.ledger, signer: stage.signer }, [delivery]);
      const { target, fail } = stuckTarget(stage);
      const loser = decide(stage, [delivery], { target });
      await turn();
      stage.world.advance(LEASE_MILLIS);
      expect(await decide(stage, [resent(delivery, 'winner')])).toEqual([COMMITTED]);
      fail(new PortError('apply', { class: failureClass, error: 'Late' }));
      const [lost] = await loser;
      expect(lost).toMatchObject(
        failureClass === 'transient' ? { kind: 'retry' } : { kind: 'acknowledge', why: 'stale' },
      );
      expect(stage.idempotency.keys()).toEqual([]);

      expect(await decide(stage, [resent(delivery, 'third')])).toEqual([TERMINAL]);
      // And where the third had read the ledger before the winner was done:
      const prepared = early.get(delivery.messageId);
      if (prepared === undefined) throw new Error('not prepared');
      const unused = altered(stage.target, { apply: () => Promise.reject(new Error('nothing is left to do')) });
      const third = consume(consumePorts(stage, { target: unused }), delivery, prepared, timeLeft());
      expect(await third).toMatchObject(COMMITTED);
      expect(stage.records.writes).toHaveLength(2);
      expect(stage.queue.deadLetters.copies()).toEqual([]);
      expect(await theUnit(stage)).toMatchObject({ state: 'committed', attempts: 2, counts: { expired: 2 } });
    },
  );

  it('P47: what is remembered is two short texts, whatever the batch did', async () => {
    const stage = await published(accounts(100), { batchSize: '100' });
    const results: unknown[] = [];
    const port = stage.idempotency.on(stage.world.clock());
    const idempotency: Idempotency = {
      once: async (key, body) => {
        const once = await port.once(key, body);
        results.push('result' in once ? once.result : undefined);
        return once;
      },
    };
    expect(await decide(stage, [await receiveOne(stage)], { idempotency })).toEqual([COMMITTED]);
    expect(results).toEqual([{ state: 'committed', keysDigest: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) }]);
    expect(JSON.parse(JSON.stringify(results))).toEqual(results);
  });

  it('P47: where the answer cannot be stored, there is one effect, and the next delivery finds it done', async () => {
    const stage = await published(accounts(3));
    const delivery = await receiveOne(stage);
    const idempotency: Idempotency = {
      once: async (_key, body) => {
        await body();
        throw new PortError('once', { class: 'transient', error: 'IdempotencyPersistenceLayerError' });
      },
    };
    const [first] = await decide(stage, [delivery], { idempotency });
    expect(first).toMatchObject({ kind: 'retry', errorClass: 'IdempotencyPersistenceLayerError' });
    expect(await decide(stage, [resent(delivery)], { idempotency })).toEqual([TERMINAL]);
    expect(stage.records.writes).toHaveLength(3);
  });

  it('P53: twenty batches delivered three times each, with answers of the ledger lost, are counted once', async () => {
    const stage = await published(accounts(60), {}, { queue: { copies: 3 }, seed: 11 });
    let moves = 0;
    stage.crew.interference = {
      fate: ({ name, process }, moment) => {
        if (name !== 'ledger.moveUnit' || moment !== 'after' || !process.startsWith('consumer')) return 'go';
        moves += 1;
        return moves % 7 === 2 ? 'fail' : 'go';
      },
    };
    await settle(stage);
    expect(moves).toBeGreaterThan(40);
    expect(stage.records.writes).toHaveLength(60);
    expect(await theRun(stage)).toMatchObject({
      ...{ status: 'complete', closing: { processed: 60, skipped: 0, remaining: 0, outcomes: { expired: 60 } } },
    });
  });

  it('P53: consumers write their own unit and never the item of the run', async () => {
    const stage = await published(accounts(150));
    const deliveries: Delivery[] = [];
    for (let next = await stage.receive(); next.length > 0; next = await stage.receive()) deliveries.push(...next);
    const ends = await Promise.all(deliveries.map((delivery) => stage.consume([delivery])));
    expect(ends.every(({ kind }) => kind === 'done')).toBe(true);
    expect(stage.decisions).toMatchObject(Array.from({ length: 50 }, () => COMMITTED));
    const byConsumers = stage.crew.calls.filter(({ process }) => process.startsWith('consumer'));
    expect(new Set(byConsumers.map(({ name }) => name))).toEqual(
      new Set([
        'ledger.load',
        'ledger.moveUnit',
        'ledger.readStops',
        'signer.verify',
        'idempotency.once',
        'target.apply',
        'mapping.acknowledge',
      ]),
    );
    expect(expiredIds(stage)).toHaveLength(150);
  });
});
