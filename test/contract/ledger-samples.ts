import { randomUUID } from 'node:crypto';
import { EMPTY_CHAIN } from '../../lib/core/identity/digests.ts';
import { digestOf } from '../../lib/core/identity/encode.ts';
import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import { runIdOf } from '../../lib/core/identity/keys.ts';
import type { AuditEntry, RunItem, Slice, Tally, TenantReport } from '../../lib/core/ledger/items.ts';
import { newRun } from '../../lib/core/plan/new-run.ts';
import type { AuditScope, Ledger, Page, UnitGuard, UnitRef } from '../../lib/core/ports/index.ts';
import { testSettings } from '../model/settings.ts';

export const T0 = Date.UTC(2026, 0, 1, 2);

/** A run of a policy that no other test has. */
export function aRun(policyId = `p-${randomUUID()}`, scheduledTime = T0): RunItem {
  const settings = testSettings({ policyId });
  return newRun(settings, { scheduledTime, startedBy: 'schedule' }, T0 + 1_000);
}

export async function storedRun(ledger: Ledger, policyId?: string, scheduledTime?: number): Promise<RunItem> {
  const run = aRun(policyId, scheduledTime);
  await ledger.createRun(run);
  return run;
}

/** A run id without a run. */
export function aRunId(): string {
  return runIdOf(`p-${randomUUID()}`, 'v1', T0);
}

export const PLAN = {
  ...EMPTY_CHAIN,
  discovered: 3,
  held: 1,
  overLimit: 0,
  examined: 9,
  unreadable: { missing: 2 },
  tenants: 1,
  oldest: T0 - 400 * DAY_MILLIS,
  quotedWriteUnits: 2,
} as const;

export function aSlice(runId: string, ordinal: number, epoch: number, tenant = 'acme'): Slice {
  const entries = [0, 1, 2].map((n) => ({
    key: `["Sacct-${ordinal}${n}"]`,
    witness: `S2024-0${n + 1}-03T04:05:06.000Z`,
    writeUnits: n === 2 ? 3 : 1,
  }));
  const digest = digestOf([String(ordinal), tenant]);
  return { runId, ordinal, epoch, tenant, entries, keysDigest: digestOf([String(ordinal)]), digest };
}

export function aTally(runId: string, number: number, epoch: number, planned = 3): Tally {
  const counts = { discovered: 4, held: 1, planned, overLimit: 2, oldest: T0 - DAY_MILLIS };
  return { runId, number, epoch, examined: 7, tenants: { acme: counts, 'a#b': counts }, unreadable: { empty: 1 } };
}

export function aTenant(runId: string, tenant: string, epoch: number, planned = 3): TenantReport {
  return {
    runId,
    tenant,
    epoch,
    discovered: planned + 1,
    held: 1,
    planned,
    overLimit: 2,
    oldest: planned === 0 ? null : T0,
  };
}

export function anEntry(number: number, reason = 'the fix is out'): AuditEntry {
  return {
    number,
    act: 'redrive',
    actor: 'arn:aws:sts::000000000000:assumed-role/ops/ada',
    reason,
    requestId: `request-${number}`,
    units: ['0', '12.3'],
    at: T0,
    previousHash: digestOf(['before', String(number)]),
    hash: digestOf(['entry', String(number), reason]),
  };
}

export function runScope(runId: string): AuditScope {
  return { kind: 'run', runId };
}

export const FIRST: UnitGuard = { generation: 0, make: { tenant: 'acme', records: 3 } };

export function start(ledger: Ledger, ref: UnitRef, attempts: number, claim = `claim-${attempts}`) {
  const change = { since: T0, startedAt: T0, attempts: attempts + 1, claim };
  return ledger.moveUnit(ref, 'start', { ...FIRST, attempts }, change);
}

/** Every item of every page, with a bound on the pages. */
export async function allOf<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 500; pages += 1) {
    const { items: more, next } = await page(cursor);
    items.push(...more);
    if (next === undefined) return items;
    cursor = next;
  }
  throw new Error('The pages did not end.');
}

/** As core does: transactions and writes that met each other are tried again. */
export async function retried<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const { failure } = error as { failure?: { class: string } };
      if (failure?.class !== 'transient' || tries === 10) throw error;
    }
  }
}
