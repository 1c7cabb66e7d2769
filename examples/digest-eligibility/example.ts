import type { ExampleInstants, RunExample } from '../../lib/local/up/example.ts';
import type { Case, Verdict } from '../../lib/local/up/verdict.ts';
import { type Account, accounts, type Fate, type Kind } from './accounts.ts';

/** Weekly digest: accounts that were long inactive lose their eligibility before the digest is sent. */
export const example: RunExample = {
  kind: 'run',
  name: 'digest-eligibility',
  recordTableName: 'digest-accounts',
  scheduledTime: '2026-01-05T02:00:00Z',
  retentionDays: '365',
  cases: (at) => [...accounts(at)].map((account) => caseOf(account, at)),
};

type Item = Case['loaded'];

const ON_HOLD = { hold: { S: 'payment dispute' } };

function caseOf(account: Account, at: ExampleInstants): Case {
  const loaded = itemOf(account);
  return { loaded, left: afterPeople(loaded, account.fate, at), verdict: verdictOf(account) };
}

function itemOf({ id, shop, kind, lastActivity }: Account): Item {
  return {
    id: { S: id },
    tenant: { S: shop },
    status: { S: kind === 'closed' ? 'CLOSED' : 'ACTIVE' },
    digest: { S: 'weekly' },
    ...(lastActivity === undefined ? {} : { lastActivity: { S: lastActivity } }),
    ...(kind === 'on_hold' || kind === 'on_hold_and_active' ? ON_HOLD : {}),
  };
}

function afterPeople(item: Item, fate: Fate, { scheduledTime }: ExampleInstants): Item | undefined {
  switch (fate) {
    case 'nothing':
      return item;
    case 'comes_back':
      return { ...item, lastActivity: { S: new Date(scheduledTime).toISOString() } };
    case 'put_on_hold':
      return { ...item, ...ON_HOLD };
    case 'hold_lifted': {
      const { hold: _, ...others } = item;
      return others;
    }
    case 'removed':
      return undefined;
  }
}

const OF_PLANNED: Readonly<Record<Fate, Verdict>> = {
  nothing: 'expired',
  comes_back: 'state_changed',
  put_on_hold: 'held',
  removed: 'absent',
  hold_lifted: 'expired',
};

const OF_OTHERS: Readonly<Record<Exclude<Kind, 'inactive' | 'just_before_the_cutoff'>, Verdict>> = {
  active: 'not_due',
  at_the_cutoff: 'not_due',
  just_after_the_cutoff: 'not_due',
  on_hold: 'held_at_plan',
  on_hold_and_active: 'not_due',
  closed: 'not_due',
  unreadable: 'unreadable',
};

function verdictOf({ kind, fate }: Account): Verdict {
  return kind === 'inactive' || kind === 'just_before_the_cutoff' ? OF_PLANNED[fate] : OF_OTHERS[kind];
}
