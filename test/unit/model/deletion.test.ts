import { describe, expect, it } from 'vitest';
import {
  CLAUSES,
  type Clause,
  MemoryRecordSource,
  MemoryRecords,
  MemoryTarget,
  type Row,
  testSettings,
  World,
} from '../../model/index.ts';

const SETTINGS = testSettings({ action: 'delete', allowDelete: 'yes', discoverySegments: '1' });
const AT = '2026-01-01T00:00:00.000Z';
const EXPIRED: Row = { id: 'a', tenant: 't', status: 'EXPIRED', expiredAt: AT, sweepOperationKey: 'ours' };

async function planned(change: (records: MemoryRecords) => void, without?: Clause) {
  const world = new World();
  const records = new MemoryRecords(world, SETTINGS, [EXPIRED]);
  const { records: found } = await new MemoryRecordSource(records).page('segment-0', undefined);
  const items = found.map(({ key, witness, writeUnits }) => ({ key, witness, writeUnits, operationKey: 'deletion' }));
  change(records);
  const target = new MemoryTarget(world, records, { without, withoutOf: 'delete' });
  const results = await target.apply({ kind: 'delete', settings: SETTINGS, now: world.millis, items });
  return { records, found, outcomes: results.map((result) => result.kind === 'outcome' && result.outcome) };
}

const SPOILED: Readonly<Record<Exclude<Clause, 'exists'>, (records: MemoryRecords) => void>> = {
  state: (records) => records.restore('a'),
  timestamp: (records) => records.expireByHand('a', '2026-01-02T00:00:00.000Z'),
  hold: (records) => records.hold('a'),
  'operation-key': (records) => records.expireByHand('a', AT, { sweepOperationKey: 'another' }),
};

describe('deletion in memory', () => {
  it('finds expired records by their time of expiry, with the key they carry', async () => {
    const { found, outcomes, records } = await planned(() => {});
    expect(found).toMatchObject([{ timestamp: { millis: Date.parse(AT) }, operationKey: 'ours', held: false }]);
    expect(outcomes).toEqual(['deleted']);
    expect(records.rows()).toEqual([]);
    expect(records.writes).toMatchObject([{ before: EXPIRED, operationKey: 'deletion' }]);
  });

  it.each(CLAUSES.flatMap((clause) => (clause === 'exists' ? [] : [clause])))(
    'removes nothing where the clause "%s" fails, and removes where only it was left out',
    async (clause) => {
      const kept = await planned(SPOILED[clause]);
      expect(kept.outcomes).toEqual([clause === 'hold' ? 'held' : 'state_changed']);
      expect(kept.records.rows()).toHaveLength(1);
      const removed = await planned(SPOILED[clause], clause);
      expect(removed.outcomes).toEqual(['deleted']);
      expect(removed.records.rows()).toEqual([]);
    },
  );

  it('says absent of what is not there, and notes no write', async () => {
    const { outcomes, records } = await planned((all) => all.remove('a'));
    expect(outcomes).toEqual(['absent']);
    expect(records.writes).toEqual([]);
  });
});
