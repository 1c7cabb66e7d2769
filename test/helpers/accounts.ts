import { DAY_MILLIS, formatInstant } from '../../lib/core/identity/instant.ts';
import { type Row, testSettings } from '../model/index.ts';
import { Deployment, type DeploymentOptions } from './deployment.ts';

/** The scheduled time of the run: where a world begins. */
export const SCHEDULED = Date.UTC(2026, 0, 1);
const CUTOFF = SCHEDULED - 365 * DAY_MILLIS;

export const DUE = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal'] as const;

function account(id: string, tenant: string, lastActivity: number | null, more: Row = {}): Row {
  const at = lastActivity === null ? null : formatInstant(lastActivity);
  return { id, tenant, status: 'ACTIVE', lastActivity: at, plan: `plan of ${id}`, ...more };
}

/** Eight due accounts of three tenants, and one of each kind that must be left alone. */
export function accounts(): readonly Row[] {
  const due = DUE.map((id, index) => account(id, index < 5 ? 'big' : `small-${index % 2}`, CUTOFF - 1 - index));
  return [
    ...due,
    account('held', 'big', CUTOFF - 1, { hold: 'legal' }),
    account('only-held', 'quiet', CUTOFF - 1, { hold: true }),
    account('at-cutoff', 'big', CUTOFF),
    account('newer', 'small-0', SCHEDULED - DAY_MILLIS),
    account('closed', 'small-0', CUTOFF - 1, { status: 'CLOSED' }),
    account('unreadable', 'big', null),
    account('no-tenant', '', CUTOFF - 1),
  ];
}

/** The accounts deployed: batches of three records, two per call of the target, small pages everywhere. */
export function deployAccounts(options: Partial<DeploymentOptions> = {}): Deployment {
  // The unreadable ones among them are few of many.
  const source = { others: 200, ...options.source };
  return new Deployment({ settings: testSettings(), rows: accounts(), ...options, source });
}
