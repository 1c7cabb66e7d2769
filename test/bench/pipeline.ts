import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SQSEvent } from 'aws-lambda';
import { DynamoAdmission } from '../../lib/aws/admission.ts';
import { makeRecordStore } from '../../lib/aws/clients.ts';
import { deliveryOf } from '../../lib/aws/delivery.ts';
import { PowertoolsIdempotency } from '../../lib/aws/idempotency.ts';
import { createProcess } from '../../lib/aws/process.ts';
import { SqsQueue } from '../../lib/aws/queue.ts';
import { SecretsManagerSigner } from '../../lib/aws/signer.ts';
import { openRecordSource } from '../../lib/aws/targets/dynamodb/source.ts';
import { targetOf } from '../../lib/aws/targets/dynamodb/target.ts';
import type { ConsumePorts } from '../../lib/core/consume/consume.ts';
import { prepareEvent } from '../../lib/core/consume/prepare.ts';
import { workDelivery } from '../../lib/core/consume/work.ts';
import { Gate } from '../../lib/core/control/gate.ts';
import { type DispatchPorts, dispatch } from '../../lib/core/plan/dispatch.ts';
import { MESSAGES_PER_EVENT } from '../../lib/core/policy/budget.ts';
import type { GrantProbe, Log, Meter, Queue, Signer } from '../../lib/core/ports/index.ts';
import { standingOf } from '../../lib/core/reconcile/batches.ts';
import { reconcile } from '../../lib/core/reconcile/reconcile.ts';
import { type RunView, viewRun } from '../../lib/core/views.ts';
import type { Contender, Counted } from './contender.ts';
import { answeredBy } from './in-process.ts';
import { DEAD_LETTER_QUEUE, WORK_QUEUE } from './queue.ts';
import { SCHEDULED_TIME } from './settings.ts';
import type { World } from './store.ts';
import { summing, Tally } from './tally.ts';

const PLENTY = { remainingMillis: () => 800_000 };
/** The consumer is not deployed here; asking it is one call for a whole run. */
const GRANTED: GrantProbe = { missingGrants: async () => [] };
const SECRET = JSON.stringify({ current: 'k1', k1: 'k'.repeat(64) });
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

interface Parts {
  readonly process: ReturnType<typeof createProcess<'idempotencyTable' | 'deadLetterQueueUrl'>>;
  readonly meter: ReturnType<typeof summing>;
  readonly consumer: ConsumePorts & { readonly meter: Meter; readonly queue: Queue; readonly signer: Signer };
}

/** Ours: the functions of the pipeline in this process, on their real adapters; only the queue's own side is played. */
export class Pipeline implements Contender {
  readonly #world: World;
  readonly #tally: Tally;
  readonly #parts: Parts;
  #runId = '';
  #events = 0;
  #passes = 0;
  #retries = 0;
  #logBytes = 0;
  #view: RunView | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#tally = new Tally(world.roleOf);
    this.#parts = this.#wire();
  }

  /** The run as it was closed. */
  get view(): RunView {
    if (this.#view === undefined) throw new Error('The run was not closed.');
    return this.#view;
  }

  async plan(): Promise<void> {
    const { settings } = this.#world;
    const sourceFor: DispatchPorts['sourceFor'] = ({ cutoff, kind }) =>
      openRecordSource({ client: this.#parts.process.dynamo, settings, cutoff, kind });
    const ports = { ...this.#parts.consumer, sourceFor, probe: GRANTED, owner: 'bench' };
    const request = { scheduledTime: SCHEDULED_TIME, startedBy: 'bench' };
    const dispatched = await dispatch(ports, settings, request, PLENTY);
    if (dispatched.kind !== 'dispatched') throw new Error(`The dispatch ended as ${JSON.stringify(dispatched)}.`);
    this.#runId = dispatched.runId;
  }

  async work(): Promise<void> {
    await this.consume();
    await this.#close();
  }

  /** Works the queue off, and nothing more; gives the number of events. */
  async consume(): Promise<number> {
    const { queue, consumers } = this.#world;
    const events = await queue.drain({ most: MESSAGES_PER_EVENT, consumers }, (event) => this.#handle(event));
    this.#events += events;
    return events;
  }

  counted(): Counted {
    const { outcomes, processed, skipped } = this.view;
    return {
      calls: this.#tally.take(),
      cost: this.#parts.meter.total(),
      invocations: this.#events + 1 + this.#passes,
      changed: outcomes.expired ?? processed,
      skipped,
      retries: this.#retries,
      logBytes: this.#logBytes,
    };
  }

  async #handle(event: SQSEvent): Promise<ReadonlySet<string>> {
    const { consumer } = this.#parts;
    const deliveries = event.Records.map(deliveryOf);
    const prepared = await prepareEvent(consumer, deliveries);
    const failed = new Set<string>();
    for (const delivery of deliveries) {
      const found = prepared.get(delivery.messageId);
      if (found === undefined) throw new Error('A delivery that is not of this event.');
      const decision = await workDelivery(consumer, delivery, found, PLENTY);
      if (decision.kind === 'retry') failed.add(delivery.messageId);
    }
    this.#retries += failed.size;
    return failed;
  }

  /** One pass of the reconciler, which closes the run. */
  async #close(): Promise<void> {
    const still = { resumer: { resume: async () => undefined }, intake: { set: async () => undefined } };
    await reconcile({ ...this.#parts.consumer, ...still }, PLENTY);
    this.#passes += 1;
    const { ledger, clock } = this.#parts.process;
    const run = await ledger.readRun(this.#runId);
    if (run === undefined) throw new Error('The run is not in the ledger.');
    this.#view = viewRun(run, await standingOf(ledger, run), clock.now());
    if (this.#view.status !== 'complete' || !this.#view.proof.holds) {
      throw new Error(`The run is ${this.#view.status}.`);
    }
  }

  #wire(): Parts {
    const { settings, ledgerTable, idempotencyTable, queue } = this.#world;
    const { policyId } = settings;
    const process = createProcess(
      {
        LEDGER_TABLE: ledgerTable,
        IDEMPOTENCY_TABLE: idempotencyTable,
        WORK_QUEUE_URL: WORK_QUEUE,
        DEAD_LETTER_QUEUE_URL: DEAD_LETTER_QUEUE,
        SIGNING_SECRET_ARN: 'bench',
        TERMINAL_LOG_GROUP: 'bench',
      },
      ['idempotencyTable', 'deadLetterQueueUrl'],
    );
    const { dynamo, ledger, clock } = process;
    const store = makeRecordStore({ meter: process.meter });
    const sqs = queue.client();
    const secrets = new SecretsManagerClient({
      ...answeredBy(() => ({ SecretString: SECRET })),
      credentials: CREDENTIALS,
    });
    for (const client of [sqs, secrets]) process.meter.count(client);
    for (const client of [dynamo, store, sqs, secrets]) this.#tally.watch(client);
    const meter = summing(process.meter);
    const consumer = {
      ...process,
      policyId,
      meter,
      log: this.#log(),
      owner: 'bench',
      queue: new SqsQueue({ client: sqs, workQueueUrl: WORK_QUEUE, deadLetterQueueUrl: DEAD_LETTER_QUEUE }),
      signer: new SecretsManagerSigner({ client: secrets, secretArn: 'bench', clock }),
      target: targetOf('batch-execute', { client: store, meter: process.meter }),
      admission: new DynamoAdmission({ client: dynamo, tableName: ledgerTable, policyId }),
      gate: new Gate(ledger, clock),
      idempotency: new PowertoolsIdempotency({ client: dynamo, tableName: idempotencyTable, deadline: PLENTY }),
    };
    return { process, meter, consumer };
  }

  /** Makes the lines and counts their bytes, but prints nothing. */
  #log(): Log {
    return {
      event: (level, message, fields) => {
        const line = { level, message, timestamp: new Date(), service: 'ledgersweep', ...fields };
        this.#logBytes += JSON.stringify(line).length + 1;
      },
    };
  }
}
