import type { Settings } from '../../../lib/core/policy/settings.ts';
import { deployAccounts } from '../../helpers/accounts.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';

/** The deletion's scheduled time and run: the grace days after the expiry, and a day. */
export const DELETION = Date.UTC(2026, 1, 1);
export const DELETION_RUN = 'accounts.v2.20260201T000000Z';

/** The accounts expired, with the policy of their deletion in place; its run is not dispatched. */
export async function expired(settings: Partial<Settings> = {}): Promise<Deployment> {
  const deployment = deployAccounts();
  await settle(deployment);
  deployment.world.advance(DELETION - deployment.world.millis);
  const deletes = { action: 'delete', allowDelete: 'yes', policyVersion: 'v2' } as const;
  deployment.settings = { ...deployment.settings, ...deletes, ...settings };
  return deployment;
}

/** The accounts deleted. The answer of the given call of the target is lost, so that the next try finds nothing. */
export async function deleted(
  meanwhile: (deployment: Deployment) => void = () => {},
  lostCall = 0,
): Promise<Deployment> {
  const deployment = await expired();
  await deployment.dispatch(DELETION);
  meanwhile(deployment);
  let calls = 0;
  deployment.crew.interference = {
    fate: ({ name }, moment) => {
      if (name !== 'target.apply' || moment !== 'after') return 'go';
      calls += 1;
      return calls === lostCall + 1 ? 'fail' : 'go';
    },
  };
  await settle(deployment);
  return deployment;
}
