import { DAY_MILLIS, formatInstant } from '../../lib/core/identity/instant.ts';
import { LEASE_MILLIS } from '../../lib/core/plan/lease.ts';
import { deployAccounts, SCHEDULED } from './accounts.ts';
import type { DeploymentOptions } from './deployment.ts';
import { overtake, type Stands } from './overtaking.ts';
import { bringBackEverything, deliverAll, settle } from './settle.ts';
import { checkSound, watch } from './soundness.ts';

const VISIBILITY_MILLIS = 60_000;

type Stood = Awaited<ReturnType<typeof overtake>>;

/**
 * A dispatcher stands still until its lease has lapsed; meanwhile a record came and one went, so the one that takes
 * over finds another plan.
 */
export async function playLateDispatcher(stands: Stands, options: Partial<DeploymentOptions> = {}): Promise<Stood> {
  const deployment = deployAccounts(options);
  const { records, world, scheduledTime } = deployment;
  const seen = watch(deployment);
  const stood = await overtake(
    deployment,
    {
      first: (name) => deployment.dispatch(scheduledTime, { name }),
      meanwhile: () => {
        world.advance(LEASE_MILLIS + 1);
        records.reactivate('ada', formatInstant(SCHEDULED));
        records.put({ ...records.row('bob'), id: 'aaa', lastActivity: formatInstant(SCHEDULED - 700 * DAY_MILLIS) });
      },
      second: (name) => deployment.dispatch(scheduledTime, { name }),
    },
    stands,
  );
  await settle(deployment);
  checkSound(deployment, seen);
  return stood;
}

/** A consumer stands still until its messages are visible again and its idempotency lease has ended. */
export async function playLateConsumer(stands: Stands, options: Partial<DeploymentOptions> = {}): Promise<Stood> {
  const deployment = deployAccounts(options);
  const seen = watch(deployment);
  await deployment.dispatch();
  const received = await deployment.receive();
  let again = received;
  const stood = await overtake(
    deployment,
    {
      first: (name) => deployment.consume(received, { name }),
      meanwhile: async () => {
        deployment.world.advance(VISIBILITY_MILLIS);
        again = await deployment.receive();
      },
      second: (name) => deployment.consume(again, { name }),
    },
    stands,
  );
  await settle(deployment);
  checkSound(deployment, seen);
  return stood;
}

type Function = 'dispatch' | 'reconcile' | 'redrive';

/** One function stands still over a run that has a quarantined unit, and another, or its own twin, overtakes it. */
export async function playLatePerson(
  stands: Stands,
  [first, second]: readonly [Function, Function],
  options: Partial<DeploymentOptions> = {},
): Promise<Stood> {
  const deployment = deployAccounts(options);
  const seen = watch(deployment);
  deployment.target.poison('ada', { class: 'permanent', error: 'ItemTooLarge' });
  await deployment.dispatch();
  await deliverAll(deployment);
  deployment.target.healAll();
  const invoke = (what: Function) => (name: string) =>
    what === 'dispatch' ? deployment.dispatch(deployment.scheduledTime, { name }) : deployment[what]({ name });
  const stood = await overtake(
    deployment,
    { first: invoke(first), meanwhile: () => deployment.world.advance(VISIBILITY_MILLIS), second: invoke(second) },
    stands,
  );
  await settle(deployment);
  checkSound(deployment, seen);
  await bringBackEverything(deployment);
  checkSound(deployment, seen);
  return stood;
}
