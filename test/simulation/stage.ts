import type { EpochMillis } from '../../lib/core/identity/instant.ts';
import { Deployment, type DeploymentOptions, type Invocation } from '../helpers/deployment.ts';
import {
  type Call,
  type Ended,
  type Fate,
  type Interference,
  NO_INTERFERENCE,
  type Process,
} from '../helpers/process.ts';
import { drawn, Turns } from '../helpers/turns.ts';
import { type SeededRandom, testSettings } from '../model/index.ts';
import { type Config, configOf, type Texts } from './config.ts';
import { Counter, type Kind } from './coverage.ts';
import type { History } from './history.ts';
import { Journal } from './journal.ts';

const RUNNING_AT_ONCE = 5;
/** Above the longest timeout of a function. */
const TIMEOUT_MILLIS = 900_000;

const READS =
  /\.(read|load|slices|tallies|tenants|units|openRuns|openUnits|runIds|auditTrail|badMessages|versionDigest|depth|page|verify|sign|missingGrants)/;
const TRANSACTIONS = new Set(['ledger.createRun', 'ledger.splitUnit', 'ledger.appendAudit']);

/** Where a history is played: the deployed pipeline, whatever of it is running, and what is told of it. */
export class Stage {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly journal: Journal;
  readonly met = new Counter();
  readonly turns = new Turns();
  /** The story in words, a line per step. */
  readonly story: string[] = [];
  /** Receipt handles that each running consumer has in hand. */
  readonly inHand = new Map<string, readonly string[]>();
  /** Digest of a selection that a dry run froze, for a later redrive. */
  selection: string | undefined;
  texts: Texts;
  versions = 1;
  readonly #running = new Set<Promise<unknown>>();
  readonly #began = new WeakMap<Process, EpochMillis>();
  readonly #mistakes: unknown[] = [];
  readonly #tells: 'story' | 'nothing';
  #invocations = 0;

  constructor(history: History, over: Partial<DeploymentOptions>, tells: 'story' | 'nothing') {
    this.config = configOf(history);
    this.texts = this.config.texts;
    this.deployment = new Deployment(weakened(this.config.deployment, over));
    this.journal = new Journal(this.deployment);
    this.deployment.crew.interference = this.#interference();
    this.#tells = tells;
  }

  /** Of the world and all its models; seeded anew with every step. */
  get random(): SeededRandom {
    return this.deployment.world.random;
  }

  get runs() {
    return this.deployment.ledger.contents().runs;
  }

  tell(words: () => string): void {
    if (this.#tells === 'story') this.story.push(words());
  }

  get isCrowded(): boolean {
    return this.#running.size >= RUNNING_AT_ONCE;
  }

  /** Deploys the policy with these settings; what runs goes on with those that it had. */
  deploy(texts: Texts): void {
    this.texts = texts;
    this.deployment.settings = testSettings(texts);
  }

  invocation(kind: string): Invocation & { readonly name: string } {
    const { random } = this;
    this.#invocations += 1;
    const skewMillis = random.chance(0.3) ? random.below(60_000) - 30_000 : 0;
    const looksAtDeadline = random.chance(0.2) ? random.below(6) : Number.POSITIVE_INFINITY;
    if (skewMillis !== 0) this.met.add('clock skew');
    if (looksAtDeadline < 6) this.met.add('invocation short of time');
    return { name: `${kind}-${this.#invocations}`, skewMillis, looksAtDeadline };
  }

  /** Lets an invocation run beside the others. */
  start<T>(invocation: Promise<Ended<T>>, then: (ended: Ended<T>) => void = () => {}): void {
    const running: Promise<unknown> = invocation
      .then(then)
      .catch((mistake: unknown) => this.#mistakes.push(mistake))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits until everything that runs stands at a call; throws what was a mistake and no failure. */
  async pause() {
    const waiting = await this.turns.pause();
    if (this.#mistakes.length > 0) throw this.#mistakes[0];
    return waiting;
  }

  /** Time passes; functions that are over their timeout are killed. */
  advance(millis: number): void {
    const { crew, world } = this.deployment;
    for (const process of crew.living) if (!this.#began.has(process)) this.#began.set(process, world.millis);
    world.advance(millis);
    for (const process of [...crew.living]) {
      if (world.millis - (this.#began.get(process) ?? world.millis) <= TIMEOUT_MILLIS) continue;
      this.met.add('function timed out');
      process.die('its timeout');
    }
  }

  /** No process dies or fails any more; whatever still runs goes on to its end, in any order. The ports stay as bad. */
  async steady(): Promise<void> {
    const { crew, source, signer } = this.deployment;
    crew.interference = NO_INTERFERENCE;
    source.catchUp();
    signer.hear();
    await this.turns.drive([...this.#running], drawn(this.random));
    await this.pause();
  }

  #interference(): Interference {
    const { crashes, fails } = this.config.weather;
    const { random } = this;
    const fate = (call: Call, moment: 'before' | 'after'): Fate => {
      if (random.chance(crashes)) {
        this.met.add(`crash ${moment} a call`);
        return 'crash';
      }
      // Few calls are transactions, and they meet more than the others.
      if (!random.chance(TRANSACTIONS.has(call.name) ? 4 * fails : fails)) return 'go';
      this.met.add(failureKind(call, moment));
      return 'fail';
    };
    return {
      admit: this.turns.admit,
      fate,
      failure: (call, moment) => {
        const kind = failureKind(call, moment);
        if (kind === 'call throttled') return { class: 'transient', error: 'ThrottlingException', effect: 'none' };
        if (kind === 'transaction conflict')
          return { class: 'transient', error: 'TransactionConflict', effect: 'none' };
        return { class: 'transient', error: 'TimeoutError' };
      },
    };
  }
}

/** What a port of the history is otherwise like stays as it was drawn. */
function weakened(drawn: DeploymentOptions, over: Partial<DeploymentOptions>): DeploymentOptions {
  return {
    ...drawn,
    ...over,
    target: { ...drawn.target, ...over.target },
    ledger: { ...drawn.ledger, ...over.ledger },
    queue: { ...drawn.queue, ...over.queue },
  };
}

function failureKind({ name }: Call, moment: 'before' | 'after'): Kind {
  if (moment === 'after') return READS.test(name) ? 'answer of a read lost' : 'answer lost after a commit';
  return TRANSACTIONS.has(name) ? 'transaction conflict' : 'call throttled';
}
