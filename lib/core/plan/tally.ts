import type { EpochMillis } from '../identity/instant.ts';
import type { Tally, TenantCounts } from '../ledger/items.ts';
import type { UnreadableReason } from '../policy/timestamp.ts';

const NO_COUNTS: TenantCounts = { discovered: 0, held: 0, planned: 0, overLimit: 0, oldest: null };

function older(a: EpochMillis | null, b: EpochMillis | null): EpochMillis | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

function addTenantCounts(a: TenantCounts, b: TenantCounts): TenantCounts {
  return {
    discovered: a.discovered + b.discovered,
    held: a.held + b.held,
    planned: a.planned + b.planned,
    overLimit: a.overLimit + b.overLimit,
    oldest: older(a.oldest, b.oldest),
  };
}

/** Counts by tenant and by reason; its size grows with tenants, never with records. */
export class RunningTally {
  readonly #tenants = new Map<string, TenantCounts>();
  readonly #unreadable = new Map<UnreadableReason, number>();
  #examined = 0;

  countExamined(count: number): void {
    this.#examined += count;
  }

  get examined(): number {
    return this.#examined;
  }

  countDue(tenant: string, at: EpochMillis, what: 'planned' | 'held' | 'overLimit'): void {
    const seen: TenantCounts = { ...NO_COUNTS, discovered: 1, [what]: 1, oldest: at };
    this.#tenants.set(tenant, addTenantCounts(this.#tenants.get(tenant) ?? NO_COUNTS, seen));
  }

  countUnreadable(reason: UnreadableReason, count = 1): void {
    this.#unreadable.set(reason, (this.#unreadable.get(reason) ?? 0) + count);
  }

  merge(tally: Pick<Tally, 'examined' | 'tenants' | 'unreadable'>): void {
    this.#examined += tally.examined;
    for (const [tenant, counts] of Object.entries(tally.tenants)) {
      this.#tenants.set(tenant, addTenantCounts(this.#tenants.get(tenant) ?? NO_COUNTS, counts));
    }
    for (const [reason, count] of Object.entries(tally.unreadable)) {
      this.countUnreadable(reason as UnreadableReason, count);
    }
  }

  get tenantCount(): number {
    return this.#tenants.size;
  }

  /** In order of tenants, so that a tally written twice is the same twice. */
  tenants(): readonly (readonly [string, TenantCounts])[] {
    return [...this.#tenants].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  unreadable(): Tally['unreadable'] {
    return Object.fromEntries([...this.#unreadable].sort());
  }

  total(): TenantCounts {
    return [...this.#tenants.values()].reduce(addTenantCounts, NO_COUNTS);
  }
}
