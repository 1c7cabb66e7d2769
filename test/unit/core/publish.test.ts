import { describe, expect, it } from 'vitest';
import { batchUnit } from '../../../lib/core/identity/keys.ts';
import { dispatch } from '../../../lib/core/plan/dispatch.ts';
import type { Ledger, OutgoingMessage, SendFailure, SendResult } from '../../../lib/core/ports/index.ts';
import { AHEAD_MILLIS, publishDue } from '../../../lib/core/publish/due.ts';
import { MissingSlice } from '../../../lib/core/publish/publish.ts';
import { parseReference } from '../../../lib/core/publish/reference.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { accounts, altered, deploy, dispatchPorts, SCHEDULED, theRun, theUnit, timeLeft } from './stage.ts';

const REQUEST = { scheduledTime: SCHEDULED, startedBy: 'schedule' };

function unitOf({ body }: { readonly body: string }): string {
  const parsed = parseReference(body);
  return parsed.kind === 'reference' ? parsed.reference.unit : 'unreadable';
}

type Treatment = 'sent' | 'neither' | SendFailure['fault'];

/** Ten batches, published through a queue that treats each unit so at the given call, from 0. */
async function publishTen(treat: (unit: string, call: number) => Treatment) {
  const stage = deploy(accounts(30), {}, { ledger: { paging: { size: 10, emptyPages: 'none' } } });
  const calls: (readonly string[])[] = [];
  const send = async (messages: readonly OutgoingMessage[]): Promise<SendResult> => {
    const treated = messages.map((message) => ({ message, as: treat(unitOf(message), calls.length) }));
    calls.push(messages.map(unitOf));
    const passed = treated.filter(({ as }) => as === 'sent').map(({ message }) => message);
    const { sent } = passed.length === 0 ? { sent: [] } : await stage.queue.send(passed);
    const failed = treated.flatMap(({ message: { id }, as }) =>
      as === 'sender' || as === 'service' ? [{ id, code: `Fault-${as}`, fault: as }] : [],
    );
    return { sent, failed };
  };
  const ports = dispatchPorts(stage, { queue: altered(stage.queue, { send }) });
  const end = await dispatch(ports, stage.settings, REQUEST, timeLeft());
  return { stage, calls, end, ports };
}

function inQueue(stage: Deployment): readonly string[] {
  return stage.queue.work
    .copies()
    .map(unitOf)
    .sort((a, b) => Number(a) - Number(b));
}

const TEN = Array.from({ length: 10 }, (_, ordinal) => batchUnit(ordinal));

describe('publishing', () => {
  it('P27: of 7 sent, 2 failed and 1 in neither list, the three are sent again and nothing twice', async () => {
    const odd: Record<string, Treatment> = { '2': 'service', '5': 'service', '7': 'neither' };
    const { stage, calls } = await publishTen((unit, call) => (call === 0 ? (odd[unit] ?? 'sent') : 'sent'));
    expect(calls).toEqual([TEN, ['2', '5', '7']]);
    expect(inQueue(stage)).toEqual(TEN);
    expect((await theRun(stage)).published).toMatchObject({ batches: 10, records: 30 });
    expect(stage.ledger.contents().units).toEqual([]);
  });

  it('P27: an entry that fails three times and is then taken counts as sent', async () => {
    const { stage, calls } = await publishTen((unit, call) => (unit === '4' && call < 3 ? 'service' : 'sent'));
    expect(calls).toEqual([TEN, ['4'], ['4'], ['4']]);
    expect(inQueue(stage)).toEqual(TEN);
    expect(stage.ledger.contents().units).toEqual([]);
  });

  it.each(['service', 'neither'] as const)(
    'P27: an entry that is never confirmed (%s) is not sent for ever, and is in the ledger as not published',
    async (never) => {
      const { stage, calls } = await publishTen((unit) => (unit === '4' ? never : 'sent'));
      expect(calls).toEqual([TEN, ['4'], ['4'], ['4']]);
      expect(await theUnit(stage, '4')).toMatchObject({
        ...{ state: 'planned', reason: 'not_published', attempts: 0, generation: 0, records: 3 },
        errorClass: never === 'service' ? 'Fault-service' : 'NotConfirmed',
      });
      await settle(stage);
      expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 30 } });
    },
  );

  it('P27: while one entry is not confirmed, the run does not close', async () => {
    const { stage, ports } = await publishTen((unit) => (unit === '4' ? 'service' : 'sent'));
    for (let delivered = await stage.receive(); delivered.length > 0; delivered = await stage.receive()) {
      await stage.consume(delivered);
    }
    await stage.reconcile();
    expect((await theRun(stage)).status).toBe('draining');
    expect(await publishDue(ports, timeLeft())).toBe(0);
    expect(await theUnit(stage, '4')).not.toMatchObject({ state: 'committed' });
  });

  it('sends what is due shortly, and has the queue hold it back until then', async () => {
    const stage = deploy(accounts(3));
    await stage.dispatch();
    stage.queue.purge();
    const guard = { generation: 0, make: { tenant: 't1', records: 3 } };
    const at = stage.world.millis;
    const change = { since: at, notBefore: at + 90_500 };
    await stage.ledger.moveUnit({ runId: stage.runId, unit: '0' }, 'postpone', guard, change);
    expect(await publishDue(dispatchPorts(stage), timeLeft())).toBe(1);
    expect(await theUnit(stage)).toMatchObject({ state: 'published' });
    stage.world.advance(90_000);
    expect(await stage.receive()).toEqual([]);
    stage.world.advance(1_000);
    expect(await stage.receive()).toHaveLength(1);
  });

  it('P27: an entry that is the sender’s fault is sent once and then waits for a person under its identity', async () => {
    const { stage, calls } = await publishTen((unit) => (unit === '4' ? 'sender' : 'sent'));
    expect(calls).toEqual([TEN]);
    expect(await theUnit(stage, '4')).toMatchObject({
      ...{ state: 'quarantined', reason: 'not_publishable', errorClass: 'Fault-sender', records: 3 },
    });
    await settle(stage);
    const run = await theRun(stage);
    expect(run).toMatchObject({ status: 'complete_with_quarantine', closing: { processed: 27, remaining: 3 } });
    expect(stage.queue.sent.map(unitOf)).not.toContain('4');
    await stage.redrive();
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 30, remaining: 0 } });
  });

  it('P27: a redriven entry that is the sender’s fault again is quarantined again, not sent at every pass', async () => {
    const { stage, ports } = await publishTen((unit) => (unit === '4' ? 'sender' : 'sent'));
    const redriven = { since: stage.world.millis, notBefore: stage.world.millis, generation: 1, attempts: 0 };
    await stage.ledger.moveUnit({ runId: stage.runId, unit: '4' }, 'redrive', { generation: 0 }, redriven);
    expect(await publishDue(ports, timeLeft())).toBe(0);
    expect(await theUnit(stage, '4')).toMatchObject({ state: 'quarantined', reason: 'not_publishable', generation: 1 });
  });

  it('P27: a send that the whole call lost is made again by the next dispatch', async () => {
    const stage = deploy(accounts(9), {}, { queue: { entryFailsSent: 0.5, entryMissing: 0.3 }, seed: 5 });
    await stage.dispatch();
    stage.queue.calm();
    await settle(stage);
    expect(stage.records.writes).toHaveLength(9);
    expect((await theRun(stage)).status).toBe('complete');
  });

  it('does not send what an index that is behind shows as due, though the unit waits', async () => {
    const stage = deploy(accounts(3));
    await stage.dispatch();
    const unit = { runId: stage.runId, unit: '0', generation: 0 };
    const guard = { generation: 0, make: { tenant: 't1', records: 3 } };
    const later = { since: stage.world.millis, notBefore: stage.world.millis + AHEAD_MILLIS + 1 };
    await stage.ledger.moveUnit(unit, 'postpone', guard, later);
    const shown = { ...unit, tenant: 't1', records: 3, attempts: 0, since: stage.world.millis };
    const openUnits = async () => ({ items: [shown], next: undefined });
    const ports = dispatchPorts(stage, { ledger: altered<Ledger>(stage.ledger, { openUnits }) });
    expect(await publishDue(ports, timeLeft())).toBe(0);
    stage.world.advance(1);
    expect(await publishDue(ports, timeLeft())).toBe(1);
    expect(await publishDue(ports, timeLeft())).toBe(0);
    expect(stage.queue.sent).toHaveLength(2);
  });

  it.each([0, 1, 4])('publishes nothing over a slice %i that the ledger has lost', async (lost) => {
    const stage = deploy(accounts(18), {}, { ledger: { paging: { size: 10, emptyPages: 'none' } } });
    const sliceHeads: typeof stage.ledger.sliceHeads = async (runId, from, before) =>
      (await stage.ledger.sliceHeads(runId, from, before)).filter((slice) => slice.ordinal !== lost);
    const ports = dispatchPorts(stage, { ledger: altered(stage.ledger, { sliceHeads }) });
    await expect(dispatch(ports, stage.settings, REQUEST, timeLeft())).rejects.toThrow(MissingSlice);
    const sent = stage.queue.sent.map((message) => Number(unitOf(message)));
    expect(sent.filter((ordinal) => ordinal >= lost)).toEqual([]);
    expect((await theRun(stage)).published?.batches).toBeLessThanOrEqual(lost);
  });
});
