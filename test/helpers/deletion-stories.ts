import assert from 'node:assert/strict';
import { DAY_MILLIS, formatInstant } from '../../lib/core/identity/instant.ts';
import type { OutcomeCounts } from '../../lib/core/ledger/outcomes.ts';
import { type Row, testSettings } from '../model/index.ts';
import { SCHEDULED } from './accounts.ts';
import { Deployment, type DeploymentOptions } from './deployment.ts';
import type { Stage } from './scenarios.ts';
import { settle } from './settle.ts';
import { checkSound, watch } from './soundness.ts';
import type { Scenario } from './walker.ts';

/** A run that expires and, after the grace, one that deletes: together one story for the walker. */
export interface DeletionStory {
  /** What people do once the plan of the deletion is published and before its first delivery. */
  readonly peopleAct: (deployment: Deployment) => void;
  /** Of the deletion; `gone` stands for `deleted`, or for `absent`, where trouble took the first answer away. */
  readonly outcomes: OutcomeCounts;
  /** Accounts that are still there in the end, besides those that were never due. */
  readonly left: readonly string[];
}

const GRACE_DAYS = 30;
const DELETION = SCHEDULED + (GRACE_DAYS + 1) * DAY_MILLIS;
const DUE = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay'] as const;
const NEVER_DUE: readonly Row[] = [
  { id: 'closed', tenant: 't1', status: 'CLOSED', lastActivity: '2020-01-01T00:00:00.000Z' },
  { id: 'by-hand', tenant: 't1', status: 'EXPIRED', expiredAt: formatInstant(SCHEDULED + 1), lastActivity: null },
  { id: 'held', tenant: 't1', status: 'ACTIVE', lastActivity: '2020-01-01T00:00:00.000Z', hold: 'legal' },
];

/** The policy as it is deployed for the deletion: another action is another version. */
const DELETING = testSettings({
  action: 'delete',
  allowDelete: 'yes',
  graceDays: String(GRACE_DAYS),
  policyVersion: 'v2',
  discoverySegments: '1',
});

export const PEOPLE_AND_DELETION = 'P50, P57: people act between the plan of a deletion and its write';

export const DELETION_STORIES = {
  'P47: expired, then deleted': { peopleAct: () => {}, outcomes: { deleted: DUE.length }, left: [] },
  [PEOPLE_AND_DELETION]: {
    peopleAct: ({ records }) => {
      const { operationKeyAttribute } = records.settings;
      records.hold('bob');
      records.restore('cyd');
      records.expireByHand('dan', formatInstant(SCHEDULED + DAY_MILLIS));
      records.expireByHand('eve', String(records.row('eve')?.expiredAt), { [operationKeyAttribute]: 'another' });
      records.remove('fay');
    },
    outcomes: { deleted: 1, held: 1, state_changed: 3, absent: 1 },
    left: ['bob', 'cyd', 'dan', 'eve'],
  },
} as const satisfies Record<string, DeletionStory>;

function deploy(options: Partial<DeploymentOptions>): Deployment {
  const due = DUE.map((id) => ({ id, tenant: 't1', status: 'ACTIVE', lastActivity: '2020-01-01T00:00:00.000Z' }));
  const deployment = new Deployment({
    settings: testSettings({ discoverySegments: '1' }),
    rows: [...due, ...NEVER_DUE],
    ...options,
  });
  deployment.records.expiredByHand.add('["Sby-hand"]');
  return deployment;
}

async function play(deployment: Deployment, { peopleAct }: DeletionStory): Promise<void> {
  await deployment.dispatch();
  await settle(deployment);
  deployment.world.advance(DELETION - deployment.world.millis);
  deployment.settings = DELETING;
  // As the scheduler does, which tries again where no run was made.
  for (let tries = 0; tries < 3 && deployment.ledger.contents().runs.length < 2; tries += 1) {
    await deployment.dispatch(DELETION);
  }
  let acted = false;
  await settle(deployment, {
    beforeConsumer: () => {
      if (!acted) peopleAct(deployment);
      acted = true;
    },
  });
}

function checkEnd({ ledger, records }: Deployment, { outcomes, left }: DeletionStory): void {
  const [expiry, deletion] = ledger.contents().runs;
  assert.deepEqual(expiry?.closing?.outcomes, { expired: DUE.length });
  assert.deepEqual([deletion?.kind, deletion?.status], ['delete', 'complete']);
  const { gone = 0, deleted = 0, absent = 0, ...skipped } = deletion?.closing?.outcomes ?? {};
  const { deleted: removable = 0, absent: removed = 0, ...others } = outcomes;
  assert.deepEqual(skipped, others);
  assert.equal(gone + deleted + absent, removable + removed);
  assert.ok(deleted <= removable && absent <= removed, 'what we removed, or somebody else did, counts as the other');
  assert.ok(gone + deleted >= removable, 'what we removed counts as removed by somebody else');
  const ids = [...NEVER_DUE.map((row) => String(row.id)), ...left];
  assert.deepEqual(
    records.rows().map((row) => row.id),
    ids.sort(),
  );
  for (const row of NEVER_DUE) assert.deepEqual(records.row(String(row.id)), row);
}

export function deletionScenario(story: DeletionStory, options: Partial<DeploymentOptions> = {}): Scenario<Stage> {
  return {
    make: (interference) => {
      const deployment = deploy({ ...options, interference });
      return { deployment, seen: watch(deployment) };
    },
    play: ({ deployment }) => play(deployment, story),
    check: ({ deployment, seen }) => {
      checkSound(deployment, seen);
      checkEnd(deployment, story);
    },
  };
}
