import type { Item } from '../../lib/local/records.ts';
import { draw, seededRandom } from '../random.ts';
import type { Calendar } from './calendar.ts';

const SEED = 17;
const DAY_SECONDS = 86_400;

/** Records of each tenant: from half the table down to a single one. */
export const TENANTS = {
  'tenant-17': 1_200,
  'tenant-01': 400,
  'tenant-02': 250,
  'tenant-03': 160,
  'tenant-04': 120,
  'tenant-05': 90,
  'tenant-06': 60,
  'tenant-07': 40,
  'tenant-08': 30,
  'tenant-09': 20,
  'tenant-10': 12,
  'tenant-11': 8,
  'tenant-12': 5,
  'tenant-13': 3,
  'tenant-14': 1,
  'tenant-15': 1,
} as const;

/** How a shipment stands before the first run, in percent. */
const KINDS = {
  under_way: 45.5,
  long_done: 24,
  done_within_the_window: 13,
  at_the_last_cutoff: 1,
  at_the_window_cutoff: 2,
  at_the_window_start: 2,
  just_before_the_window: 2,
  legal_hold: 3,
  open_dispute: 3,
  both_holds: 0.5,
  hold_lifted: 2,
  unreadable: 0.5,
  closed: 1,
  expired_by_others: 0.5,
} as const;
type Kind = keyof typeof KINDS;

/** A tenant of one record has one that is due. */
const ONLY_RECORD: Readonly<Record<string, Kind>> = {
  'tenant-14': 'long_done',
  'tenant-15': 'done_within_the_window',
};

type Value = Item[string];

/** Values that are no time in whole seconds: text, milliseconds, a fraction, nothing. */
const UNREADABLE: readonly (Value | undefined)[] = [
  { S: '2025-01-01T00:00:00Z' },
  { N: '1735689600000' },
  { N: '1735689600.5' },
  { NULL: true },
  undefined,
];

/** Spellings of "no hold": all of them mean the same, and all of them occur. */
const LIFTED: readonly Item[] = [
  { legalHold: { BOOL: false } },
  { openDispute: { S: '' } },
  { legalHold: { NULL: true }, openDispute: { NULL: true } },
];

/** Some other job expired these, with a key of its own or none: no run of ours may ever delete them. */
const NOT_OUR_KEY: readonly Item[] = [{}, { sweepOperationKey: { S: 'AAAAAAAAAAAAAAAAAAAAAA' } }];

/** The shipments of all tenants, the same ones for the same calendar but for their age, in an order of their own. */
export function shipments(calendar: Calendar): readonly Item[] {
  const random = seededRandom(SEED);
  const whole = (below: number) => Math.floor(random() * below);
  const one = <T>(of: readonly T[]) => of[whole(of.length)] as T;
  const cutoff = calendar.enforceCutoff / 1_000;
  const windowCutoff = calendar.windowCutoff / 1_000;
  const windowStart = windowCutoff - calendar.windowDays * DAY_SECONDS;
  const old = () => at(windowStart - DAY_SECONDS * (1 + whole(500)));

  const attributesOf: Readonly<Record<Kind, () => Item>> = {
    under_way: () => at(cutoff + DAY_SECONDS * (1 + whole(80)) + whole(DAY_SECONDS)),
    long_done: old,
    done_within_the_window: () => at(windowStart + 1 + whole(calendar.windowDays * DAY_SECONDS - 1)),
    at_the_last_cutoff: () => at(cutoff),
    at_the_window_cutoff: () => at(windowCutoff),
    at_the_window_start: () => at(windowStart),
    just_before_the_window: () => at(windowStart - 1),
    legal_hold: () => ({ ...old(), legalHold: { BOOL: true } }),
    open_dispute: () => ({ ...old(), openDispute: { S: `case-${whole(1_000)}` } }),
    both_holds: () => ({ ...old(), legalHold: { S: 'litigation' }, openDispute: { S: `case-${whole(1_000)}` } }),
    hold_lifted: () => ({ ...old(), ...one(LIFTED) }),
    unreadable: () => {
      const lastUpdate = one(UNREADABLE);
      return lastUpdate === undefined ? {} : { lastUpdate };
    },
    closed: () => ({ ...old(), status: { S: 'CLOSED' } }),
    expired_by_others: () => ({
      ...old(),
      status: { S: 'EXPIRED' },
      expiredAt: { N: String(windowStart) },
      ...one(NOT_OUR_KEY),
    }),
  };

  return shuffledTenants(random).map((tenant, n) => ({
    id: { S: `shp-${String(n).padStart(6, '0')}` },
    tenant: { S: tenant },
    status: { S: 'ACTIVE' },
    checkpoint: { S: 'delivered' },
    ...attributesOf[ONLY_RECORD[tenant] ?? draw(random, KINDS)](),
  }));
}

function at(seconds: number): Item {
  return { lastUpdate: { N: String(seconds) } };
}

function shuffledTenants(random: () => number): readonly string[] {
  const tenants = Object.entries(TENANTS).flatMap(([tenant, records]) => Array<string>(records).fill(tenant));
  return tenants
    .map((tenant) => ({ tenant, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ tenant }) => tenant);
}
