import type { ExampleInstants } from '../../lib/local/up/example.ts';
import { draw, seededRandom } from '../random.ts';

const SEED = 20_260_105;
const SHOPS = 40;
/** The largest shop; the second has half of them, the third a third, and so on. */
const LARGEST_SHOP_ACCOUNTS = 1_000;
const DAY_MILLIS = 86_400_000;

/** How an account stands before the run, in percent; with more than 1 % unreadable a run would be refused. */
const KINDS = {
  inactive: 46,
  active: 41.2,
  just_before_the_cutoff: 1,
  at_the_cutoff: 2,
  just_after_the_cutoff: 1,
  on_hold: 4,
  on_hold_and_active: 1,
  closed: 3,
  unreadable: 0.8,
} as const;
export type Kind = keyof typeof KINDS;

/** What people do to an inactive account after the plan and before its batch. */
const FATES = { nothing: 94, comes_back: 3, put_on_hold: 2, removed: 1 } as const;
/** The same for an account on hold: too late for this plan. */
const HELD_FATES = { nothing: 85, hold_lifted: 15 } as const;
export type Fate = keyof typeof FATES | keyof typeof HELD_FATES;

export interface Account {
  readonly id: string;
  readonly shop: string;
  readonly kind: Kind;
  readonly fate: Fate;
  /** Undefined where it is missing. */
  readonly lastActivity: string | undefined;
}

/** Spellings that are no canonical UTC instant: each may mean something, and none is worth a guess. */
const UNREADABLE = [
  undefined,
  'yesterday',
  '2025-03-01',
  '2025-03-01T10:00:00+02:00',
  '1740787200',
  '2025-02-30T00:00:00Z',
];

/** Accounts of skewed shops, in an order of their own: those of a shop are not side by side. */
export function* accounts({ cutoff, scheduledTime }: ExampleInstants): Generator<Account> {
  const random = seededRandom(SEED);
  const whole = (below: number) => Math.floor(random() * below);
  const iso = (millis: number) => new Date(millis).toISOString();
  const days = (scheduledTime - cutoff) / DAY_MILLIS;

  const lastActivityOf: Readonly<Record<Kind, () => string | undefined>> = {
    inactive: () => iso(cutoff - 1_000 * (1 + whole(800 * 86_400))),
    active: () => iso(cutoff + 1_000 * (1 + whole(days * 86_400))),
    just_before_the_cutoff: () => iso(cutoff - 1),
    // Both spellings of one instant.
    at_the_cutoff: () => (random() < 0.5 ? iso(cutoff) : iso(cutoff).replace('.000Z', 'Z')),
    just_after_the_cutoff: () => iso(cutoff + 1),
    on_hold: () => iso(cutoff - DAY_MILLIS * (1 + whole(400))),
    on_hold_and_active: () => iso(cutoff + DAY_MILLIS * whole(days)),
    closed: () => iso(cutoff - DAY_MILLIS * (1 + whole(400))),
    unreadable: () => UNREADABLE[whole(UNREADABLE.length)],
  };

  const sizes = Array.from({ length: SHOPS }, (_, n) => Math.ceil(LARGEST_SHOP_ACCOUNTS / (n + 1)));
  const shops = Object.fromEntries(sizes.map((size, n) => [`shop-${String(n + 1).padStart(2, '0')}`, size]));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  for (let n = 0; n < total; n += 1) {
    const kind = draw(random, KINDS);
    yield {
      id: `acct-${String(n).padStart(6, '0')}`,
      shop: draw(random, shops),
      kind,
      fate: fateOf(kind, random),
      lastActivity: lastActivityOf[kind](),
    };
  }
}

function fateOf(kind: Kind, random: () => number): Fate {
  if (kind === 'inactive') return draw(random, FATES);
  if (kind === 'on_hold') return draw(random, HELD_FATES);
  return 'nothing';
}
