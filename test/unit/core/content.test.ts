import { describe, expect, it } from 'vitest';
import { prepareEvent } from '../../../lib/core/consume/prepare.ts';
import { workDelivery } from '../../../lib/core/consume/work.ts';
import { PortError } from '../../../lib/core/ports/index.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import type { Delivery } from '../../model/index.ts';
import { account, consumePorts, published, timeLeft } from './stage.ts';

const MARKER = 'MARKER';

/** Records whose every attribute but tenant, state and time is marked, the key included. */
function marked() {
  return Array.from({ length: 6 }, (_, number) =>
    account(`${MARKER}-id-${number}`, { name: `${MARKER} name`, mail: `${MARKER}@example.com`, notes: [MARKER] }),
  );
}

/** One delivery as the handler has it, its log lines included. */
async function deliver(stage: Deployment, delivery: Delivery): Promise<void> {
  const ports = consumePorts(stage);
  const prepared = (await prepareEvent({ ledger: ports.ledger, signer: stage.signer }, [delivery])).get(
    delivery.messageId,
  );
  if (prepared === undefined) throw new Error('not prepared');
  const decision = await workDelivery(ports, delivery, prepared, timeLeft());
  if (decision.kind === 'acknowledge') await stage.queue.acknowledge(delivery);
}

/** Everything that leaves the record store and the plan. */
function everythingSaid(stage: Deployment): string {
  const { units, badMessages, runs, tenants } = stage.ledger.contents();
  const letters = stage.queue.deadLetters.copies().map(({ labels, group }) => ({ labels, group }));
  return JSON.stringify([
    ...[stage.queue.sent, letters, stage.log.events, stage.idempotency.keys()],
    ...[units, badMessages, runs, tenants],
  ]);
}

describe('record content', () => {
  it('P76: is in no message, label, log line, idempotency key or ledger state: success, retry, quarantine, redrive', async () => {
    const stage = await published(marked());
    stage.target.poison(`${MARKER}-id-1`, { class: 'transient', error: 'ThrottlingException' });
    stage.target.poison(`${MARKER}-id-4`, { class: 'permanent', error: 'ValidationException' });
    for (let time = 0; time < 8; time += 1) {
      for (const delivery of await stage.receive()) await deliver(stage, delivery);
      stage.world.advance(900_000);
    }
    await stage.reconcile();
    await stage.redrive();
    stage.target.heal(`${MARKER}-id-1`);
    stage.target.heal(`${MARKER}-id-4`);
    await settle(stage);
    const whys = new Set(stage.log.events.map(({ fields }) => fields.why));
    for (const why of ['records_failed', 'isolated']) expect(whys).toContain(why);
    expect(stage.records.writes).toHaveLength(6);
    expect(everythingSaid(stage)).not.toContain(MARKER);
  });

  it('P76: an error’s message, which may quote a record, is not said; its code is', async () => {
    const stage = await published(marked());
    stage.target.apply = async () => {
      throw new PortError(
        'apply',
        { class: 'permanent', error: 'ValidationException' },
        new Error(`${MARKER} is too long`),
      );
    };
    for (const delivery of await stage.receive()) await deliver(stage, delivery);
    stage.target.apply = async () => {
      throw new TypeError(`cannot read ${MARKER}`);
    };
    stage.ledger.load = async () => {
      throw new Error(MARKER);
    };
    const [again] = await stage.queue.receive(1);
    if (again !== undefined) await deliver(stage, again);
    expect(everythingSaid(stage)).toContain('ValidationException');
    expect(everythingSaid(stage)).not.toContain(MARKER);
  });

  it('P76: the body and the handle of a message that cannot be read are nowhere but in the dead letter itself', async () => {
    const stage = await published([]);
    const delivery = { labels: {}, group: 'g', receiveCount: 1, sentAt: 0 };
    for (const body of [`{"${MARKER}`, `{"schemaVersion":1,"tenant":"${MARKER}"}`, `${MARKER}\n{"level":"error"}`]) {
      await deliver(stage, { ...delivery, body, messageId: 'm', handle: `${MARKER} handle` });
    }
    expect(stage.queue.deadLetters.copies()).toHaveLength(3);
    expect(stage.log.events.filter(({ name }) => name === 'delivery')).toHaveLength(3);
    expect(everythingSaid(stage)).not.toContain(MARKER);
  });

  it('P76: a delay that fails is said without the handle', async () => {
    const stage = await published(marked());
    stage.target.poison(`${MARKER}-id-1`, { class: 'transient', error: 'ThrottlingException' });
    const [one, two] = await stage.receive();
    for (const delivery of [one, two]) {
      if (delivery !== undefined) await deliver(stage, { ...delivery, handle: `${MARKER} handle` });
    }
    expect(stage.log.events.filter(({ name }) => name === 'delay_failed')).toHaveLength(1);
    expect(everythingSaid(stage)).not.toContain(MARKER);
  });
});
