import { describe, expect, it } from 'vitest';
import type { RunDetailView } from '../../../lib/core/views.ts';
import type { Item } from '../../../lib/local/records.ts';
import { compareEnd, compareRows, compareTotals } from '../../../lib/local/up/check.ts';
import { expectedRows } from '../../../lib/local/up/expected.ts';
import { type Case, caseOf, judge } from '../../../lib/local/up/verdict.ts';

const CUTOFF = Date.UTC(2025, 0, 1);
const OPERATION = { policyId: 'p', policyVersion: 'v1', cutoff: CUTOFF, kind: 'expire' } as const;
const SPAN = { from: Date.UTC(2026, 0, 1), until: Date.UTC(2026, 0, 2) };

function account(more: Readonly<Record<string, string>> = {}): Item {
  const texts = { id: 'a', tenant: 't', status: 'ACTIVE', lastActivity: '2024-06-01T00:00:00Z', ...more };
  return Object.fromEntries(Object.entries(texts).flatMap(([name, S]) => (S === '' ? [] : [[name, { S }]])));
}

describe('the judgement of a record by itself', () => {
  it.each([
    ['expired', {}],
    ['expired', { lastActivity: '2024-12-31T23:59:59.999Z' }],
    ['not_due', { lastActivity: '2025-01-01T00:00:00Z' }],
    ['not_due', { lastActivity: '2025-01-01T00:00:00.000Z' }],
    ['not_due', { status: 'CLOSED' }],
    ['not_due', { status: 'CLOSED', lastActivity: '' }],
    ['held_at_plan', { hold: 'dispute' }],
    ['held_at_plan', { hold: 'false' }],
    ['not_due', { hold: 'dispute', lastActivity: '2025-06-01T00:00:00Z' }],
    ['unreadable', { lastActivity: '' }],
    ['unreadable', { lastActivity: '2024-06-01' }],
    ['unreadable', { lastActivity: '2024-06-01T00:00:00+00:00' }],
    ['unreadable', { lastActivity: '2024-02-30T00:00:00Z' }],
    ['unreadable', { lastActivity: '1717200000' }],
    ['unreadable', { lastActivity: '1970-01-01T00:00:00Z' }],
    ['unreadable', { hold: 'dispute', lastActivity: 'yesterday' }],
    ['unreadable', { tenant: '' }],
    ['unreadable', { tenant: 't'.repeat(129) }],
    ['expired', { tenant: 't'.repeat(128) }],
    ['not_due', { tenant: '', lastActivity: '2025-06-01T00:00:00Z' }],
  ])('P15 P17 P26: %s for %j', (verdict, more) => {
    expect(judge(account(more), CUTOFF)).toBe(verdict);
  });
});

describe('the comparison of rows', () => {
  const loaded = account();
  const cases: readonly Case[] = [
    caseOf(loaded, CUTOFF),
    { ...caseOf(account({ id: 'gone' }), CUTOFF), left: undefined },
  ];
  const expected = expectedRows(cases, OPERATION, 'carried-out');
  const expired: Item = {
    ...loaded,
    status: { S: 'EXPIRED' },
    expiredAt: { S: '2026-01-01T12:00:00.000Z' },
    sweepOperationKey: expected.get('a')?.item.sweepOperationKey ?? { S: '' },
  };
  const compare = (...rows: Item[]) => compareRows(rows, expected, SPAN);

  it('finds nothing where every row is as it must be', async () => {
    expect(await compare(expired)).toEqual([]);
    expect(await compareRows([loaded], expectedRows(cases, OPERATION, 'none'), SPAN)).toEqual([]);
  });

  it.each<[string, Item[], string]>([
    ['a row that is gone', [], 'a: is not in the table any more'],
    ['a row that came back', [expired, account({ id: 'gone' })], 'gone: is in the table and should not be'],
    ['a row that was not expired', [loaded], 'a: status is {"S":"ACTIVE"} and should be {"S":"EXPIRED"}'],
    [
      'an attribute that changed',
      [{ ...expired, tenant: { S: 'u' } }],
      'a: tenant is {"S":"u"} and should be {"S":"t"}',
    ],
    ['an attribute that was added', [{ ...expired, x: { N: '1' } }], 'a: x is {"N":"1"} and should be missing'],
    [
      'an attribute of another type',
      [{ ...expired, tenant: { N: '1' } }],
      'a: tenant is {"N":"1"} and should be {"S":"t"}',
    ],
    ["another operation's key", [{ ...expired, sweepOperationKey: { S: 'k' } }], 'a: sweepOperationKey is {"S":"k"}'],
    ['a time before the run', [{ ...expired, expiredAt: { S: '2025-12-31T23:59:59Z' } }], 'a: expiredAt is'],
    ['a time that is missing', [{ ...expired, expiredAt: { N: '1' } }], 'a: expiredAt is {"N":"1"}'],
  ])('finds %s', async (_, rows, said) => {
    expect((await compare(...rows)).join('\n')).toContain(said);
  });
});

describe('the comparison of a run', () => {
  const cases = [caseOf(account(), CUTOFF), caseOf(account({ id: 'b', hold: 'x', tenant: 'u' }), CUTOFF)];
  const good = {
    mode: 'enforce',
    status: 'complete',
    refusals: [],
    proof: { holds: true },
    ...{ discovered: 2, planned: 1, held: 1, unreadable: 0, outcomes: { expired: 1 } },
    tenantReports: [
      { tenant: 't', discovered: 1, planned: 1, held: 0, outcomes: { expired: 1 } },
      { tenant: 'u', discovered: 1, planned: 0, held: 1, outcomes: {} },
    ],
  } as unknown as RunDetailView;

  it('finds nothing where the counts are those that must come out', () => {
    expect(compareTotals(good, cases, 'carried-out')).toEqual([]);
  });

  it('finds counts that are others, in all and by tenant', () => {
    const bad = { ...good, planned: 2, outcomes: { expired: 1, held: 1 }, tenantReports: good.tenantReports.slice(1) };
    expect(compareTotals(bad, cases, 'carried-out')).toEqual([
      'the run: planned is 2 and should be 1',
      'the run: outcomes is {"expired":1,"held":1} and should be {"expired":1}',
      'tenant t: discovered is 0 and should be 1',
      'tenant t: planned is 0 and should be 1',
      'tenant t: outcomes is {} and should be {"expired":1}',
    ]);
  });

  it('finds an end that is no good end', () => {
    expect(compareEnd(good, { work: 0, deadLetter: 0 })).toEqual([]);
    const bad = { ...good, status: 'draining', proof: { ...good.proof, holds: false } };
    expect(compareEnd(bad, { work: 1, deadLetter: 2 })).toHaveLength(4);
    expect(compareEnd({ ...good, mode: 'report-only', status: 'reported' }, { work: 0, deadLetter: 0 })).toEqual([]);
    const refusals = [
      { parameter: 'TimestampFormat', received: 'iso-8601', message: 'TimestampFormat iso-8601: 3 of 4.' },
    ];
    const refused = { ...good, status: 'refused', refusals, proof: { ...good.proof, holds: false } };
    expect(compareEnd(refused, { work: 0, deadLetter: 0 })).toEqual([
      'the run is refused and should be complete',
      'refused: TimestampFormat iso-8601: 3 of 4.',
    ]);
  });
});
