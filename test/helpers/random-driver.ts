import { DAY_MILLIS, formatInstant } from '../../lib/core/identity/instant.ts';
import { LEASE_MILLIS } from '../../lib/core/plan/lease.ts';
import { type Row, SeededRandom, testSettings } from '../model/index.ts';
import { Deployment, type DeploymentOptions, type Invocation } from './deployment.ts';
import type { Ended, Fate } from './process.ts';
import { bringBackEverything, settle } from './settle.ts';
import { checkSound, watch } from './soundness.ts';
import { drawn, Turns } from './turns.ts';

export interface RandomOptions {
  readonly seed: number;
  /** Steps of trouble before the world calms down. */
  readonly steps?: number;
  /** Over what the seed draws: the mutant of a test. */
  readonly deployment?: Partial<DeploymentOptions>;
}

const UNREADABLE = 'yesterday';
const STEPS = 400;
const RUNNING_AT_ONCE = 5;
const SCHEDULED = Date.UTC(2026, 0, 1);

/** A history that ended wrongly; the seed plays it again. */
export class WrongHistory extends Error {
  constructor(seed: number, cause: unknown) {
    super(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'WrongHistory';
  }
}

/**
 * Draws a table, a policy, the badness of every port and a history from one seed: functions started twice and side by
 * side, people acting on records, crashes, lost answers, clocks that move. Then lets the world calm down, brings
 * back what was quarantined, and checks the end. Throws `WrongHistory`.
 */
export async function playRandomly({ seed, steps = STEPS, deployment: over = {} }: RandomOptions): Promise<Deployment> {
  const random = new SeededRandom(seed * 2 + 1);
  const deployment = new Deployment({ ...drawDeployment(random), seed, ...over });
  const seen = watch(deployment);
  try {
    const history = new History(deployment, random);
    for (let step = 0; step < steps; step += 1) await history.step();
    await history.calmDown();
    await deployment.act({ act: 'resume', actor: 'someone', reason: 'to an end' });
    await settle(deployment);
    checkSound(deployment, seen);
    await mendRefused(deployment);
    checkSound(deployment, seen);
    await bringBackEverything(deployment);
    checkSound(deployment, seen);
    return deployment;
  } catch (error) {
    throw new WrongHistory(seed, error);
  }
}

/** A person mends what refused a run; the same scheduled times are tried again. */
async function mendRefused(deployment: Deployment): Promise<void> {
  const { ledger, records, settings } = deployment;
  const refused = ledger.contents().runs.filter((run) => run.status === 'refused');
  if (refused.length === 0) return;
  for (const row of records.rows()) {
    if (row[settings.timestampAttribute] === UNREADABLE) records.reactivate(String(row.id));
  }
  // A dispatcher that crashed over a refused run may still hold its lease, by a clock that was fast.
  deployment.world.advance(2 * LEASE_MILLIS);
  for (const { scheduledTime } of refused) await deployment.dispatch(scheduledTime);
  await settle(deployment);
}

class History {
  readonly #deployment: Deployment;
  readonly #random: SeededRandom;
  readonly #turns = new Turns();
  readonly #running = new Set<Promise<unknown>>();
  readonly #mistakes: unknown[] = [];

  constructor(deployment: Deployment, random: SeededRandom) {
    this.#deployment = deployment;
    this.#random = random;
    const crashes = random.pick([0, 0.005, 0.02]);
    const fails = random.pick([0, 0.01, 0.03]);
    const fate = (): Fate => (random.chance(crashes) ? 'crash' : random.chance(fails) ? 'fail' : 'go');
    deployment.crew.interference = { admit: this.#turns.admit, fate };
  }

  async step(): Promise<void> {
    const waiting = await this.#turns.pause();
    if (this.#mistakes.length > 0) throw this.#mistakes[0];
    if (waiting.length > 0 && this.#random.chance(0.7)) this.#turns.release(this.#random.below(waiting.length));
    else if (this.#random.chance(0.5)) await this.#start();
    else this.#happen();
  }

  /** Ends the trouble; whatever still runs goes on to its end, in any order. */
  async calmDown(): Promise<void> {
    this.#deployment.calm();
    await this.#turns.drive([...this.#running], drawn(this.#random));
    if (this.#mistakes.length > 0) throw this.#mistakes[0];
  }

  async #start(): Promise<void> {
    if (this.#running.size >= RUNNING_AT_ONCE) return;
    const deployment = this.#deployment;
    const invocation = this.#invocation();
    const resumes = deployment.resumer.taken();
    if (resumes[0] !== undefined) return this.#run(deployment.resume(resumes[0], invocation));
    const what = this.#random.below(10);
    // Planning is short: without a crowd of dispatchers hardly a history would have two at work on it.
    const planning = deployment.ledger.contents().runs.some((run) => run.status === 'planning');
    if (what < (planning ? 6 : 2)) {
      const day = this.#random.chance(0.1) ? DAY_MILLIS : 0;
      this.#run(deployment.dispatch(deployment.scheduledTime + day, invocation));
    } else if (what < 4) this.#run(deployment.reconcile(invocation));
    else if (what < 5) this.#run(deployment.redrive(invocation));
    else if (what < 6) this.#act(invocation);
    else {
      const deliveries = await deployment.receive();
      if (deliveries.length > 0) this.#run(deployment.consume(deliveries, invocation));
    }
  }

  /** One of the acts that a person has; resuming is likelier than pausing, else nothing would ever be done. */
  #act(invocation: Invocation): void {
    const deployment = this.#deployment;
    const random = this.#random;
    const named = { actor: 'someone', reason: 'to see what happens' };
    const { runs, units } = deployment.ledger.contents();
    const waiting = units.filter(({ state }) => state === 'quarantined');
    const unit = waiting.length === 0 ? undefined : random.pick(waiting);
    const one = unit === undefined ? { all: true } : { filter: { run: unit.runId, unit: unit.unit } };
    const run = runs.length === 0 ? undefined : random.pick(runs);
    const acts: object[] = [
      ...[{ act: 'pause' }, { act: 'resume' }, { act: 'resume' }, { act: 'resume' }],
      ...[
        { act: 'redrive', ...one },
        { act: 'redrive', all: true, perSecond: 0.1 },
        { act: 'redrive', ...one, limit: 1 },
      ],
      ...(random.chance(0.3) ? [{ act: 'abandon', ...one }] : []),
      ...(run !== undefined && random.chance(0.1) ? [{ act: 'cancel', run: run.runId }] : []),
    ];
    this.#run(deployment.act({ ...named, ...random.pick(acts) }, invocation));
  }

  #run(invocation: Promise<Ended<unknown>>): void {
    const running: Promise<unknown> = invocation
      .catch((mistake: unknown) => this.#mistakes.push(mistake))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  #invocation(): Invocation {
    const random = this.#random;
    return {
      skewMillis: random.chance(0.3) ? random.below(60_000) - 30_000 : 0,
      looksAtDeadline: random.chance(0.2) ? random.below(6) : Number.POSITIVE_INFINITY,
    };
  }

  /** Something that no function of ours does. */
  #happen(): void {
    const { world, queue, idempotency, signer, source } = this.#deployment;
    const random = this.#random;
    const what = random.below(20);
    if (what < 8) this.#someoneActs();
    else if (what < 14) world.advance(random.pick([1_000, 10_000, 61_000, 130_000, 600_000]));
    else if (what < 16) random.pick([() => source.fallBehind(), () => source.catchUp()])();
    else if (what < 17) idempotency.forgetAll();
    else if (what < 18) signer.rotate();
    else if (what < 19) queue.moveBack(1 + random.below(3));
    else if (random.chance(0.3)) queue.purge();
  }

  #someoneActs(): void {
    const { records, target } = this.#deployment;
    const id = String(this.#random.pick(records.rows()).id);
    const acts = [
      () => records.reactivate(id),
      () => records.restore(id),
      () => records.close(id),
      () => records.hold(id),
      () => records.release(id),
      () => records.touch(id, formatInstant(SCHEDULED - (366 + this.#random.below(100)) * DAY_MILLIS)),
      () => records.recreate(id),
      () => records.rows().length > 3 && records.remove(id),
      () => target.poison(id, { class: this.#random.pick(['permanent', 'transient'] as const), error: 'Poison' }),
      () => target.heal(id),
    ];
    this.#random.pick(acts)();
  }
}

function drawDeployment(random: SeededRandom): DeploymentOptions {
  const chance = (most: number) => (random.chance(0.5) ? 0 : random.next() * most);
  const settings = testSettings({
    batchSize: String(1 + random.below(5)),
    discoverySegments: String(1 + random.below(4)),
    maxAttempts: String(3 + random.below(4)),
  });
  const paging = () => ({ size: 1 + random.below(4), emptyPages: random.pick(['none', 'between'] as const) });
  return {
    settings,
    rows: Array.from({ length: 8 + random.below(25) }, (_, number) => drawRow(random, number)),
    source: {
      projection: random.pick(['all', 'keys-only'] as const),
      paging: paging(),
      // With few others, one unreadable record is too many and the run is refused.
      others: random.pick([0, 400]),
    },
    target: {
      recordsPerCall: 1 + random.below(4),
      entryFails: chance(0.2),
      entryAnswerLost: chance(0.2),
      callBreaksOff: chance(0.2),
    },
    ledger: { paging: paging(), indexLag: random.below(5) },
    queue: {
      copies: 1 + random.below(2),
      maxReceiveCount: random.pick([4, 25]),
      order: random.pick(['random', 'fair'] as const),
      entryFails: chance(0.2),
      entryFailsSent: chance(0.2),
      entryMissing: chance(0.2),
      depthReadsZero: chance(0.5),
    },
    idempotency: { forgets: chance(0.2), letsTwoIn: chance(0.5), deleteFails: chance(0.5) },
  };
}

function drawRow(random: SeededRandom, number: number): Row {
  const age = random.pick([364, 365, 366, 400, 1_000]);
  return {
    id: `account-${number}`,
    tenant: random.pick(['big', 'big', 'big', 'small', 'sm\u00e5ll']),
    status: random.chance(0.1) ? 'CLOSED' : 'ACTIVE',
    lastActivity: random.chance(0.1) ? UNREADABLE : formatInstant(SCHEDULED - age * DAY_MILLIS),
    hold: random.chance(0.1) ? 'legal' : null,
  };
}
