import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import { isFinishedRun } from '../../lib/core/ledger/lifecycle.ts';
import type { Texts } from './config.ts';
import { act, changeRecord } from './people.ts';
import type { Scheduler } from './scheduler.ts';
import type { Stage } from './stage.ts';

export interface Playing {
  readonly stage: Stage;
  readonly scheduler: Scheduler;
}

interface StepKind {
  /** Of a thousand. */
  readonly weight: number;
  readonly happen: (playing: Playing) => void | Promise<void>;
}

/** What a step may be; the first is the plainest. */
const KINDS: readonly StepKind[] = [
  { weight: 540, happen: goOn },
  { weight: 90, happen: ({ stage }) => deliver(stage) },
  { weight: 50, happen: ({ stage }) => reconcile(stage) },
  { weight: 50, happen: timePasses },
  { weight: 12, happen: ({ scheduler }) => scheduler.fireAgain() },
  { weight: 80, happen: ({ stage }) => changeRecord(stage) },
  { weight: 85, happen: ({ stage }) => act(stage) },
  { weight: 20, happen: discoveryFallsBehind },
  { weight: 12, happen: deploy },
  { weight: 12, happen: rotate },
  { weight: 18, happen: ({ stage }) => moveInConsole(stage) },
  { weight: 8, happen: forget },
  { weight: 12, happen: purge },
  { weight: 11, happen: longTimePasses },
];

/** Lets the step happen that `what` (0 to 999) stands for. */
export async function take(playing: Playing, what: number): Promise<void> {
  let rest = what;
  for (const { weight, happen } of KINDS) {
    if (rest < weight) return happen(playing);
    rest -= weight;
  }
}

/** Calls of what runs are let through, of one process or of any. */
async function goOn({ stage }: Playing): Promise<void> {
  const { random, turns } = stage;
  const only = random.chance(0.5);
  let process: string | undefined;
  const calls = 1 + random.below(24);
  for (let call = 0; call < calls; call += 1) {
    const waiting = await stage.pause();
    if (waiting.length === 0) {
      await startSomething(stage);
      continue;
    }
    let place = random.below(waiting.length);
    if (only && process !== undefined) place = waiting.findIndex((one) => one.process === process);
    if (place < 0) return;
    process = waiting[place]?.process;
    turns.release(place);
  }
}

/** Nothing runs: what would run next by itself. */
async function startSomething(stage: Stage): Promise<void> {
  const { random, deployment } = stage;
  if (resume(stage)) return;
  if (deployment.queue.work.visible().length > 0 && random.chance(0.9)) await deliver(stage);
  else if (random.chance(0.3)) reconcile(stage);
  else stage.advance(random.pick([10_000, 61_000, 300_000]));
}

/** The dispatches that the reconciler asked for. */
function resume(stage: Stage): boolean {
  const { deployment } = stage;
  const [first] = deployment.resumer.taken();
  if (first === undefined) return false;
  const invocation = stage.invocation('dispatcher');
  stage.tell(() => `the dispatcher is resumed for ${first.runId} (${invocation.name})`);
  stage.start(deployment.resume(first, invocation));
  return true;
}

async function deliver(stage: Stage): Promise<void> {
  const { deployment, inHand } = stage;
  if (stage.isCrowded) return;
  const handles = () => new Set(deployment.queue.work.copies().map(({ handle }) => handle));
  const before = handles();
  const deliveries = await deployment.receive();
  if (deliveries.length === 0) return;
  const after = handles();
  const lost = [...inHand.values()].flat().filter((handle) => before.has(handle) && !after.has(handle));
  stage.met.add('visibility ended while work went on', lost.length);
  const invocation = stage.invocation('consumer');
  stage.tell(() => `${deliveries.length} messages reach a consumer (${invocation.name})`);
  inHand.set(
    invocation.name,
    deliveries.map(({ handle }) => handle),
  );
  stage.start(deployment.consume(deliveries, invocation), () => inHand.delete(invocation.name));
}

function reconcile(stage: Stage): void {
  if (stage.isCrowded || resume(stage)) return;
  const invocation = stage.invocation('reconciler');
  stage.tell(() => `the reconciler passes (${invocation.name})`);
  stage.start(stage.deployment.reconcile(invocation));
}

function timePasses({ stage }: Playing): void {
  // Hosts hear of a new key when they next read the ring.
  if (stage.random.chance(0.5)) stage.deployment.signer.hear();
  const seconds = stage.random.pick([1, 61, 61, 130, 600]);
  stage.tell(() => `${seconds} s pass`);
  stage.advance(seconds * 1_000);
}

/** Longer than a message lives in one of the queues. */
function longTimePasses({ stage }: Playing): void {
  const anyDead = stage.deployment.queue.deadLetters.copies().length > 0;
  const days = stage.random.pick(anyDead ? [15] : [1, 5]);
  stage.tell(() => `${days} days pass`);
  stage.advance(days * DAY_MILLIS);
}

function discoveryFallsBehind({ stage }: Playing): void {
  const { source } = stage.deployment;
  const behind = stage.random.chance(0.6);
  stage.tell(() => (behind ? 'discovery sees no change from now on' : 'discovery sees the present again'));
  if (behind) source.fallBehind();
  else source.catchUp();
}

function deploy({ stage }: Playing): void {
  const { random, texts } = stage;
  const what = random.below(10);
  const inFlight = stage.runs.some(({ status }) => !isFinishedRun(status));
  if (what < 4) {
    stage.versions += 1;
    stage.deploy({ ...texts, policyVersion: `v${stage.versions}`, ...otherMeaning(stage) });
    stage.met.add('deployed: new policy version');
  } else if (what < 8) {
    const tuning: readonly Texts[] = [
      { batchSize: String(1 + random.below(5)) },
      { maxAttempts: String(3 + random.below(4)) },
      { recordsPerSecond: random.pick(['none', '20', '100']) },
      { mode: random.pick(['enforce', 'enforce', 'enforce', 'report-only']) },
      { redriveGenerations: random.pick(['2', '10']), unitAgeHours: random.pick(['72', '336']) },
    ];
    stage.deploy({ ...texts, ...random.pick(tuning) });
    stage.met.add('deployed: other tuning');
  } else {
    stage.deploy({ ...texts, retentionDays: String(355 + random.below(10)) });
  }
  if (inFlight) stage.met.add('deployed while a run was in flight');
  stage.tell(() => `deployed: ${JSON.stringify(stage.texts)}`);
}

function otherMeaning({ random }: Stage): Texts {
  if (random.chance(0.4)) return { action: 'delete', allowDelete: 'yes', graceDays: '1', windowDays: 'none' };
  return { action: 'expire', retentionDays: String(358 + random.below(10)) };
}

function rotate({ stage }: Playing): void {
  const { signer } = stage.deployment;
  const news = stage.random.pick(['heard', 'heard', 'unheard'] as const);
  signer.rotate(news);
  stage.met.add('key rotated');
  stage.met.add('key not heard of yet', news === 'unheard' ? 1 : 0);
  stage.tell(() => `the signing key is rotated, ${news} by those who verify`);
}

function moveInConsole(stage: Stage): void {
  const moved = stage.deployment.queue.moveBack(1 + stage.random.below(3));
  stage.met.add('person: console move', moved > 0 ? 1 : 0);
  stage.tell(() => `a person moves ${moved} dead letters back in the SQS console`);
}

function forget({ stage }: Playing): void {
  const { idempotency } = stage.deployment;
  if (idempotency.keys().length > 0) stage.met.add('idempotency table emptied');
  idempotency.forgetAll();
  stage.deployment.signer.hear();
  stage.tell(() => 'the idempotency table is emptied, and every host hears of the newest key');
}

function purge({ stage }: Playing): void {
  const { queue } = stage.deployment;
  const anyDead = queue.deadLetters.copies().length > 0;
  const [what, kind] = anyDead
    ? (['deadLetters', 'dead-letter queue purged'] as const)
    : (['work', 'work queue purged'] as const);
  if (queue[what].copies().length === 0) return;
  stage.met.add(kind);
  queue[what].clear();
  stage.tell(() => `${kind}`);
}
