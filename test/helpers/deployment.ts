import type { ConsumePorts } from '../../lib/core/consume/consume.ts';
import type { Decision } from '../../lib/core/consume/delivery.ts';
import { prepareEvent } from '../../lib/core/consume/prepare.ts';
import { workDelivery } from '../../lib/core/consume/work.ts';
import { Gate } from '../../lib/core/control/gate.ts';
import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import { runIdOf } from '../../lib/core/identity/keys.ts';
import { type DispatchPorts, type DispatchResult, dispatch } from '../../lib/core/plan/dispatch.ts';
import type { DispatchRequest } from '../../lib/core/plan/request.ts';
import type { Settings } from '../../lib/core/policy/settings.ts';
import type { Deadline, Resumption } from '../../lib/core/ports/index.ts';
import { type ReconcilePorts, type ReconcileResult, reconcile } from '../../lib/core/reconcile/reconcile.ts';
import { type ActAnswer, type ActPorts, carryOut } from '../../lib/core/redrive/act.ts';
import { readActRequest } from '../../lib/core/redrive/request.ts';
import type { ActView } from '../../lib/core/redrive/views.ts';
import {
  type AdmissionOptions,
  type Delivery,
  type IdempotencyOptions,
  type LedgerOptions,
  MemoryAdmission,
  MemoryDeadline,
  MemoryIdempotency,
  MemoryIntake,
  MemoryLedger,
  MemoryLog,
  MemoryMeter,
  MemoryProbe,
  MemoryQueue,
  MemoryRecordSource,
  MemoryRecords,
  MemoryResumer,
  MemorySigner,
  MemoryTarget,
  type QueueOptions,
  type Row,
  type SourceOptions,
  type TargetOptions,
  World,
} from '../model/index.ts';
import { Crew, type Ended, type Interference, NO_INTERFERENCE, type Process } from './process.ts';
import { Stops } from './stops.ts';

export interface DeploymentOptions {
  readonly seed?: number;
  readonly settings: Settings;
  readonly rows: readonly Row[];
  readonly source?: Partial<SourceOptions>;
  readonly target?: Partial<TargetOptions>;
  readonly ledger?: Partial<LedgerOptions>;
  readonly queue?: Partial<QueueOptions>;
  readonly idempotency?: Partial<IdempotencyOptions>;
  readonly admission?: Partial<AdmissionOptions>;
  /** `first` is the mutant that acknowledges before the work. */
  readonly acknowledge?: 'last' | 'first';
  readonly interference?: Interference;
}

/** How one invocation runs: its name, its host's clock error, and how many looks or how long it has time for. */
export interface Invocation {
  readonly name?: string;
  readonly skewMillis?: number;
  readonly looksAtDeadline?: number;
  readonly timeoutMillis?: number;
}

/** Messages that the event source mapping hands to one consumer. */
const MESSAGES_PER_EVENT = 3;
const PLENTY_MILLIS = 800_000;
/** Reasons under which a unit may wait whose last failure was one for good. */
const PERMANENT = ['permanent_failure', 'not_publishable', 'too_old', 'attempts_spent', 'dead_lettered'] as const;

/** The whole pipeline on models: every function can be invoked, side by side and with crashes. */
export class Deployment {
  /** The policy as it is deployed now; a test may deploy another. */
  settings: Settings;
  readonly scheduledTime: EpochMillis;
  readonly world: World;
  readonly records: MemoryRecords;
  readonly source: MemoryRecordSource;
  readonly target: MemoryTarget;
  readonly ledger: MemoryLedger;
  readonly queue: MemoryQueue;
  readonly idempotency: MemoryIdempotency;
  readonly admission: MemoryAdmission;
  readonly probe = new MemoryProbe();
  readonly signer = new MemorySigner();
  readonly resumer = new MemoryResumer();
  readonly intake = new MemoryIntake();
  readonly log = new MemoryLog();
  readonly crew: Crew;
  readonly decisions: Decision[] = [];
  /** What people have stopped, and whether anybody went on. */
  readonly stops: Stops;
  readonly #acknowledge: 'last' | 'first';
  #invocations = 0;

  constructor(options: DeploymentOptions) {
    this.settings = options.settings;
    this.world = new World({ seed: options.seed ?? 1 });
    this.scheduledTime = this.world.millis;
    this.records = new MemoryRecords(this.world, options.settings, options.rows);
    this.source = new MemoryRecordSource(this.records, options.source);
    this.target = new MemoryTarget(this.world, this.records, options.target);
    this.ledger = new MemoryLedger({ note: (what) => this.world.note(what), ...options.ledger });
    this.queue = new MemoryQueue(this.world, options.queue);
    this.idempotency = new MemoryIdempotency(this.world, options.idempotency);
    this.admission = new MemoryAdmission(this.world, options.admission);
    this.#acknowledge = options.acknowledge ?? 'last';
    this.crew = new Crew(options.interference);
    this.stops = new Stops(this.world);
    // A lag of the indexes is one of order, not of minutes.
    this.world.onAdvance(() => this.ledger.settle());
  }

  get runId(): string {
    return this.runIdAt(this.scheduledTime);
  }

  runIdAt(scheduledTime: EpochMillis): string {
    return runIdOf(this.settings.policyId, this.settings.policyVersion, scheduledTime);
  }

  dispatch(scheduledTime = this.scheduledTime, invocation: Invocation = {}): Promise<Ended<DispatchResult>> {
    return this.#dispatch({ scheduledTime, startedBy: 'schedule' }, invocation);
  }

  /** As the reconciler asks for it. */
  resume(run: Resumption, invocation: Invocation = {}): Promise<Ended<DispatchResult>> {
    return this.#dispatch({ ...run, startedBy: 'reconciler' }, invocation);
  }

  #dispatch(request: DispatchRequest, invocation: Invocation): Promise<Ended<DispatchResult>> {
    const process = this.#process('dispatcher', invocation);
    const ports: DispatchPorts = {
      ...this.#publishPorts(process, invocation),
      sourceFor: async (run) => process.wrap('source', this.source.forRun(run)),
      probe: process.wrap('probe', this.probe),
      owner: process.name,
    };
    return process.run(() => dispatch(ports, this.settings, request, this.#deadline(invocation)));
  }

  reconcile(invocation: Invocation = {}): Promise<Ended<ReconcileResult>> {
    const process = this.#process('reconciler', invocation);
    const ports: ReconcilePorts = {
      ...this.#actPorts(process, invocation),
      resumer: process.wrap('resumer', this.resumer),
    };
    return process.run(() => reconcile(ports, this.#deadline(invocation)));
  }

  /** What a person asks of the redrive function, as JSON. */
  act(event: object, invocation: Invocation = {}): Promise<Ended<ActAnswer>> {
    const process = this.#process('redrive', invocation);
    const ports = this.#actPorts(process, invocation);
    const request = readActRequest(event);
    if (request.act === 'resume') this.stops.goesOn();
    const { resumes } = this.stops;
    return process.run(async () => {
      const answer = await carryOut(ports, request, process.name, this.#deadline(invocation));
      // A resume that crossed it may have come last.
      if (request.act === 'pause' && this.stops.resumes === resumes) this.stops.stopped('policy');
      if (request.act === 'cancel') this.stops.stopped(request.run);
      return answer;
    });
  }

  /** Brings back everything, however often it came back before and whatever it failed of. */
  redrive(invocation: Invocation = {}): Promise<Ended<ActView>> {
    const process = this.#process('redrive', invocation);
    const ports = this.#actPorts(process, invocation);
    const named = { act: 'redrive', actor: 'someone', reason: 'mended', beyondGenerations: true };
    const ask = async (which: object) => {
      const request = readActRequest({ ...named, ...which });
      return (await carryOut(ports, request, process.name, this.#deadline(invocation))) as ActView;
    };
    return process.run(async () => {
      // What failed for good comes back only where it is named, however it came to wait in the end.
      const named: ActView[] = [];
      for (const reason of PERMANENT) named.push(await ask({ filter: { reason } }));
      const rest = await ask({ all: true });
      const sum = (name: 'moved' | 'published' | 'deleted') =>
        [...named, rest].reduce((total, view) => total + view[name], 0);
      const units = [...named, rest].flatMap((view) => view.units);
      return { ...rest, units, moved: sum('moved'), published: sum('published'), deleted: sum('deleted') };
    });
  }

  /** Ends all trouble that is drawn by chance, and lets discovery see the present. */
  calm(): void {
    for (const model of [this.target, this.queue, this.idempotency, this.admission]) model.calm();
    this.source.catchUp();
    this.crew.interference = NO_INTERFERENCE;
  }

  /** What the event source mapping has for one consumer. */
  async receive(): Promise<readonly Delivery[]> {
    return this.intake.state === 'on' ? this.queue.receive(MESSAGES_PER_EVENT) : [];
  }

  /** One invocation of the consumer, and the deletion of what it reported as done. */
  consume(deliveries: readonly Delivery[], invocation: Invocation = {}): Promise<Ended<void>> {
    const process = this.#process('consumer', invocation);
    const publish = this.#publishPorts(process, invocation);
    const watched = this.stops.watched(publish.ledger, process.wrap('target', this.target));
    const ports: ConsumePorts = {
      ...publish,
      ...watched,
      idempotency: process.wrap('idempotency', this.idempotency.on(publish.clock)),
      admission: process.wrap('admission', this.admission),
      gate: new Gate(watched.ledger, publish.clock),
      log: this.log,
      policyId: this.settings.policyId,
      owner: process.name,
    };
    const mapping = process.wrap('mapping', { acknowledge: (one: Delivery) => this.queue.acknowledge(one) });
    return process.run(async () => {
      if (this.#acknowledge === 'first') for (const delivery of deliveries) await mapping.acknowledge(delivery);
      const done = await this.#consumeEvent(ports, deliveries, this.#deadline(invocation));
      if (this.#acknowledge === 'last') for (const delivery of done) await mapping.acknowledge(delivery);
    });
  }

  /** As the handler does it: one message after the other, retries put off, the rest reported as done. */
  async #consumeEvent(
    ports: ConsumePorts,
    deliveries: readonly Delivery[],
    deadline: Deadline,
  ): Promise<readonly Delivery[]> {
    const prepared = await prepareEvent(ports, deliveries);
    const done: Delivery[] = [];
    for (const delivery of deliveries) {
      const known = prepared.get(delivery.messageId);
      if (known === undefined) throw new TypeError('a delivery was not prepared');
      const decision = await workDelivery(ports, delivery, known, deadline);
      this.decisions.push(decision);
      if (decision.kind === 'acknowledge') done.push(delivery);
    }
    return done;
  }

  #process(kind: string, { name }: Invocation): Process {
    this.#invocations += 1;
    return this.crew.process(name ?? `${kind}-${this.#invocations}`);
  }

  #actPorts(process: Process, invocation: Invocation): ActPorts {
    return {
      ...this.#publishPorts(process, invocation),
      intake: process.wrap('intake', this.intake),
      log: this.log,
      policyId: this.settings.policyId,
    };
  }

  #publishPorts(process: Process, { skewMillis }: Invocation) {
    return {
      ledger: process.wrap('ledger', this.ledger),
      queue: process.wrap('queue', this.queue),
      signer: process.wrap('signer', this.signer),
      clock: process.wrap('clock', this.world.clock(skewMillis)),
      random: this.world.random,
      meter: new MemoryMeter(),
      log: this.log,
    };
  }

  #deadline({ looksAtDeadline = Number.POSITIVE_INFINITY, timeoutMillis = PLENTY_MILLIS }: Invocation): Deadline {
    const deadline = new MemoryDeadline(this.world, timeoutMillis);
    let looks = 0;
    return {
      remainingMillis: () => {
        looks += 1;
        return looks > looksAtDeadline ? 0 : deadline.remainingMillis();
      },
    };
  }
}
