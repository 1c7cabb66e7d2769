import assert from 'node:assert/strict';
import { DAY_MILLIS, formatInstant } from '../../lib/core/identity/instant.ts';
import type { OutcomeCounts } from '../../lib/core/ledger/outcomes.ts';
import { type Row, testSettings } from '../model/index.ts';
import { accounts, DUE, deployAccounts, SCHEDULED } from './accounts.ts';
import type { Deployment, DeploymentOptions } from './deployment.ts';
import type { Ended, Interference } from './process.ts';
import { settle } from './settle.ts';
import { checkSound, endOf, watch } from './soundness.ts';
import { type Choose, inTurn, Turns } from './turns.ts';
import type { Scenario } from './walker.ts';

export interface Stage {
  readonly deployment: Deployment;
  readonly seen: readonly string[];
}

export interface Story {
  readonly options?: Partial<DeploymentOptions>;
  readonly play: (deployment: Deployment) => Promise<void>;
  readonly end: End | 'depends-on-the-trouble';
}

/** How a story must end, said without the code under test. */
export interface End {
  readonly status: 'complete' | 'reported';
  readonly outcomes: OutcomeCounts;
  /** Accounts that end as expired; every other row is as people left it. */
  readonly expired: readonly string[];
}

/** A story over the accounts as the walker tells it. */
export function scenarioOf(story: Story, more: Partial<DeploymentOptions> = {}): Scenario<Stage> {
  return {
    make: (interference: Interference) => {
      const deployment = deployAccounts({ ...story.options, ...more, interference });
      return { deployment, seen: watch(deployment) };
    },
    play: ({ deployment }) => story.play(deployment),
    check: ({ deployment, seen }) => {
      checkSound(deployment, seen);
      if (story.end !== 'depends-on-the-trouble') checkEnd(deployment, story.end);
    },
    ...(story.end === 'depends-on-the-trouble' ? {} : { end: ({ deployment }) => endOf(deployment) }),
  };
}

function checkEnd({ records, ledger, settings }: Deployment, end: End): void {
  const [run] = ledger.contents().runs;
  assert.equal(run?.status, end.status);
  assert.deepEqual(run?.closing?.outcomes ?? {}, end.outcomes);
  assert.deepEqual(run?.plan?.unreadable, { null: 1, tenant_unreadable: 1 });
  const { discovered, held, records: planned } = run?.plan ?? {};
  assert.deepEqual({ discovered, held, planned }, { discovered: DUE.length + 2, held: 2, planned: DUE.length });
  const expired = records.rows().filter((row) => row.status === settings.expiredState);
  assert.deepEqual(expired.map((row) => row.id).sort(), [...end.expired].sort());
  for (const row of accounts()) checkAsLoaded(row, records.row(String(row.id)), end);
}

/** What people did not do and the run had no right to do is not done. */
function checkAsLoaded(loaded: Row, row: Row | undefined, { expired }: End): void {
  const id = String(loaded.id);
  if (PEOPLE_CHANGE.includes(id) && !expired.includes(id)) return;
  const { expiredAt, sweepOperationKey, ...rest } = row ?? {};
  assert.deepEqual(rest, { ...loaded, ...(expired.includes(id) ? { status: 'EXPIRED' } : {}) });
  assert.equal(typeof expiredAt, expired.includes(id) ? 'string' : 'undefined');
  assert.equal(typeof sweepOperationKey, expired.includes(id) ? 'string' : 'undefined');
}

/** Runs invocations side by side, one call at a time. */
export async function together(
  deployment: Deployment,
  invocations: readonly (() => Promise<Ended<unknown>>)[],
  choose: Choose,
): Promise<void> {
  const turns = new Turns();
  const { crew } = deployment;
  const alone = crew.interference;
  crew.interference = { ...alone, admit: turns.admit };
  await turns.drive(
    invocations.map((invocation) => invocation()),
    choose,
  );
  crew.interference = alone;
}

const COMEBACK = formatInstant(SCHEDULED + DAY_MILLIS);

const PEOPLE_CHANGE = ['ada', 'bob', 'cyd', 'dan'];

/** One person comes back, one record is held, one is removed, one is closed elsewhere. */
export function peopleAct({ records }: Deployment): void {
  records.reactivate('ada', COMEBACK);
  records.hold('bob');
  records.remove('cyd');
  records.close('dan');
}

/** A person asks again until the function answers; looks at dead letters end meanwhile. */
async function redriveUntilDone(deployment: Deployment): Promise<void> {
  for (let tries = 0; tries < 5; tries += 1) {
    deployment.world.advance(5 * 60_000);
    if ((await deployment.redrive()).kind === 'done') return;
  }
  throw new Error('the redrive never ended well');
}

const ALL_EXPIRED: End = { status: 'complete', outcomes: { expired: DUE.length }, expired: DUE };

export const STORIES = {
  'P13: batches in any order': {
    play: async (deployment) => {
      await deployment.dispatch();
      await settle(deployment);
    },
    end: ALL_EXPIRED,
  },
  'P53: every message delivered twice': {
    options: { queue: { copies: 2 } },
    play: async (deployment) => {
      await deployment.dispatch();
      await settle(deployment);
    },
    end: ALL_EXPIRED,
  },
  'P19, P50, P57: people act between plan and consume': {
    play: async (deployment) => {
      await deployment.dispatch();
      await settle(deployment, { beforeFirstDelivery: peopleAct });
    },
    end: { status: 'complete', outcomes: { expired: 4, state_changed: 2, held: 1, absent: 1 }, expired: DUE.slice(4) },
  },
  'P5: two dispatchers at once': {
    play: async (deployment) => {
      await together(deployment, [() => deployment.dispatch(), () => deployment.dispatch()], inTurn);
      await settle(deployment);
    },
    end: ALL_EXPIRED,
  },
  'P9: a dispatcher that runs out of time again and again': {
    play: async (deployment) => {
      for (let looks = 1; looks <= 4; looks += 1) {
        await deployment.dispatch(deployment.scheduledTime, { looksAtDeadline: looks });
      }
      await settle(deployment);
    },
    end: ALL_EXPIRED,
  },
  'two consumers, a reconciler and a dispatcher at once': {
    options: { queue: { copies: 2 }, ledger: { indexLag: 2 } },
    play: async (deployment) => {
      await deployment.dispatch();
      const [first, second] = [await deployment.receive(), await deployment.receive()];
      const invocations = [
        () => deployment.consume(first),
        () => deployment.consume(second),
        () => deployment.reconcile(),
        () => deployment.dispatch(),
      ];
      await together(deployment, invocations, inTurn);
      await settle(deployment);
    },
    end: ALL_EXPIRED,
  },
  'P27: a queue that confirms only some of what it took': {
    options: { queue: { entryFails: 0.3, entryFailsSent: 0.2, entryMissing: 0.3 } },
    play: async (deployment) => {
      await deployment.dispatch();
      await settle(deployment);
    },
    end: ALL_EXPIRED,
  },
  'P55: a record table that fails entries, loses answers and breaks off': {
    options: {
      settings: testSettings({ maxAttempts: '10' }),
      target: { entryFails: 0.2, entryAnswerLost: 0.3, callBreaksOff: 0.3 },
    },
    play: async (deployment) => {
      await deployment.dispatch();
      await settle(deployment);
    },
    end: ALL_EXPIRED,
  },
  'messages lost by the queue': {
    play: async (deployment) => {
      await deployment.dispatch();
      await deployment.consume(await deployment.receive());
      deployment.queue.purge();
      await settle(deployment);
    },
    end: ALL_EXPIRED,
  },
  'report only': {
    options: { settings: testSettings({ mode: 'report-only' }) },
    play: async (deployment) => {
      await deployment.dispatch();
      await settle(deployment);
    },
    end: { status: 'reported', outcomes: {}, expired: [] },
  },
  'a poisoned record, mended and redriven': {
    play: async (deployment) => {
      deployment.target.poison('ada', { class: 'permanent', error: 'ItemTooLarge' });
      await deployment.dispatch();
      await settle(deployment);
      deployment.target.heal('ada');
      await redriveUntilDone(deployment);
      await settle(deployment);
      deployment.world.advance(5 * 60_000);
      await redriveUntilDone(deployment);
    },
    end: ALL_EXPIRED,
  },
  'support sets a record back after it expired': {
    play: async (deployment) => {
      let restored = false;
      await deployment.dispatch();
      await settle(deployment, {
        afterConsumer: ({ records }) => {
          if (restored || records.row('ada')?.status !== 'EXPIRED') return;
          restored = true;
          records.restore('ada');
        },
      });
    },
    end: 'depends-on-the-trouble',
  },
} as const satisfies Record<string, Story>;

export type StoryName = keyof typeof STORIES;
