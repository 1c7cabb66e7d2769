import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../helpers/deployment.ts';
import { deliverAll, settle } from '../../helpers/settle.ts';
import type { Row } from '../../model/index.ts';
import { ask, DENIED, MINUTE_MILLIS, THROTTLED, wellEnded } from './acts-stage.ts';
import { account, published } from './stage.ts';

const MARK = 'MARK-';
/** Its own, for a message names the tenant by design. */
const TENANT = 'TENANTMARK';
/** In bodies, handles and secrets of the models. */
const HANDLE = 'handle-';
const SECRET = 'secret-';

/** Every attribute of every record is marked; the eligible state is the policy's word and not the record's. */
function markedRows(): readonly Row[] {
  return Array.from({ length: 12 }, (_, number) =>
    account(`${MARK}id-${number}`, {
      tenant: `${TENANT}${number % 2}`,
      name: `${MARK}name`,
      notes: [`${MARK}note`],
      [`${MARK}attribute`]: `${MARK}value`,
    }),
  );
}

interface Watched {
  readonly stage: Deployment;
  readonly remembered: unknown[];
}

/** Remembers also what the idempotency records were given to keep. */
async function watched(): Promise<Watched> {
  const stage = await published(markedRows(), { successSamplePercent: '100', batchSize: '2' });
  const remembered: unknown[] = [];
  const { on } = stage.idempotency;
  stage.idempotency.on = (clock) => {
    const port = on.call(stage.idempotency, clock);
    return {
      once: (key, body) =>
        port.once(key, async () => {
          const result = await body();
          remembered.push([key, result]);
          return result;
        }),
    };
  };
  return { stage, remembered };
}

/** What others than the pipeline read: log lines, labels of dead letters, idempotency records. */
function said({ stage, remembered }: Watched, labels: readonly unknown[]): string {
  return JSON.stringify([stage.log.events, labels, remembered, stage.idempotency.keys()]);
}

describe('what is in the records, in a message or in the ring of keys', () => {
  it('is in no log line, label or idempotency record: success, retry, quarantine, every act, moved by hand', async () => {
    const watch = await watched();
    const { stage } = watch;
    const labels: unknown[] = [];
    const { sendDeadLetter } = stage.queue;
    stage.queue.sendDeadLetter = async (body, given, group) => {
      labels.push(given);
      return sendDeadLetter.call(stage.queue, body, given, group);
    };
    const { runId: run } = stage;
    stage.target.poison(`${MARK}id-0`, DENIED);
    for (const number of [1, 3]) stage.target.poison(`${MARK}id-${number}`, THROTTLED);
    const [good] = stage.queue.work.copies();
    const forged = JSON.stringify({ ...JSON.parse(good?.body ?? ''), tenant: `${MARK}tenant`, unit: '0' });
    for (const body of [forged, `{"${MARK}`]) stage.queue.work.add({ body, labels: {}, group: 'g' });
    stage.queue.deadLetters.add({ body: `["${MARK}"]`, labels: {}, group: 'g' });
    await settle(stage);

    await ask(stage, 'list');
    const waiting = stage.ledger.contents().units.filter(({ state }) => state === 'quarantined');
    expect(waiting.length).toBeGreaterThan(1);
    for (const { unit } of waiting) await ask(stage, 'inspect', { run, unit });
    await ask(stage, 'pause');
    await deliverAll(stage);
    await ask(stage, 'resume');
    await ask(stage, 'redrive', { all: true });
    await settle(stage);
    stage.queue.moveBack(10);
    await settle(stage);
    stage.queue.purgeDeadLetters();
    stage.world.advance(60 * MINUTE_MILLIS);
    await wellEnded(stage.reconcile());
    stage.target.heal(`${MARK}id-1`);
    await ask(stage, 'redrive', { filter: { tenant: `${TENANT}1` } });
    await settle(stage);
    await ask(stage, 'abandon', { all: true });
    await settle(stage);
    const other = stage.scheduledTime + 86_400_000;
    await stage.dispatch(other);
    const next = stage.runIdAt(other);
    if ((await stage.ledger.readRun(next))?.status === 'draining') await ask(stage, 'cancel', { run: next });

    const names = new Set(stage.log.events.map(({ name }) => name));
    for (const name of ['delivery', 'record', 'unit_quarantined', 'message_quarantined', 'audit', 'run_closed']) {
      expect(names).toContain(name);
    }
    for (const name of ['unattributed_redrive', 'dead_letters_missing']) expect(names).toContain(name);
    const whys = new Set(stage.log.named('delivery').map(({ fields }) => fields.why));
    for (const why of ['committed', 'records_failed', 'isolated', 'bad_message']) expect(whys).toContain(why);
    expect(labels.length).toBeGreaterThan(3);
    expect(watch.remembered.length).toBeGreaterThan(1);

    const text = said(watch, labels);
    for (const marker of [MARK, TENANT, HANDLE, SECRET, '"mac"', 'keyId']) expect(text).not.toContain(marker);
    // No record's position is told but in the lines that a sample was asked for.
    const positions = stage.log.events.filter(({ fields }) => fields.position !== undefined);
    expect(new Set(positions.map(({ name }) => name))).toEqual(new Set(['record']));
  });

  it('may be in a message: a reference names the tenant, and no other attribute', async () => {
    const { stage } = await watched();
    await settle(stage);
    const bodies = JSON.stringify(stage.queue.sent);
    expect(bodies).toContain(TENANT);
    for (const marker of [MARK, HANDLE, SECRET]) expect(bodies).not.toContain(marker);
  });

  it('is in no entry of a trail and in no selection', async () => {
    const { stage } = await watched();
    stage.target.poison(`${MARK}id-3`, THROTTLED);
    await settle(stage);
    stage.target.healAll();
    await ask(stage, 'redrive', { filter: { tenant: `${TENANT}1` } });
    const { audit, selections } = stage.ledger.contents();
    expect([audit.length, selections.length]).toEqual([1, 1]);
    for (const marker of [MARK, TENANT]) expect(JSON.stringify([audit, selections])).not.toContain(marker);
  });
});
