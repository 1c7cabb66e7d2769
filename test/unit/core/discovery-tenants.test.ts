import { describe, expect, it } from 'vitest';
import { discover } from '../../../lib/core/plan/discover.ts';
import { freeze } from '../../../lib/core/plan/freeze.ts';
import { newRun } from '../../../lib/core/plan/new-run.ts';
import type { DiscoveredRecord, RecordSource } from '../../../lib/core/ports/index.ts';
import { MemoryMeter } from '../../model/index.ts';
import { accounts, CUTOFF, deploy, SCHEDULED, theRun, timeLeft } from './stage.ts';

const TENANTS = 11_000;
const ROUNDS = 6;
const PER_PAGE = 1_000;
const PAGES = { ledger: { paging: { size: 2_000, emptyPages: 'none' } } } as const;

function record(number: number): DiscoveredRecord {
  return {
    ...{ key: `["S${number}"]`, witness: 'w', tenant: `tenant-${number % TENANTS}`, held: false, writeUnits: 1 },
    timestamp: { kind: 'readable', millis: CUTOFF - 1 },
    operationKey: undefined,
  };
}

/** Every tenant once, and again, and again: the order that makes slices grow slowest. */
const SOURCE: RecordSource = {
  ...{ seesUnreadable: true, seesAll: true, segments: ['all'] },
  page: async (_segment, cursor) => {
    const from = Number(cursor ?? 0);
    const records = Array.from({ length: PER_PAGE }, (_, place) => record(from + place));
    const next = from + PER_PAGE;
    return { records, next: next < TENANTS * ROUNDS ? String(next) : undefined };
  },
};

describe('discovery of very many tenants', { timeout: 60_000 }, () => {
  it('gives each one batch for what it has, and counts them in as many tallies as they need', async () => {
    const stage = deploy(accounts(1), { batchSize: '100', capRecords: 'none', capSharePercent: 'none' }, PAGES);
    const planning = newRun(stage.settings, { scheduledTime: SCHEDULED, startedBy: 'schedule' }, SCHEDULED);
    await stage.ledger.createRun({ ...planning, lease: { owner: 'o', until: SCHEDULED + 1e9, epoch: 1 } });
    const clock = stage.world.clock();
    const ports = { source: SOURCE, eligible: () => true, ledger: stage.ledger, clock, meter: new MemoryMeter() };
    const run = await theRun(stage);
    const end = await discover(ports, run, timeLeft());
    if (end.kind !== 'discovered') throw new Error(end.kind);
    expect(end.run.checkpoint).toMatchObject({ nextOrdinal: TENANTS, nextTally: 7 });
    const frozen = await freeze(ports, end.run);
    expect(frozen).toMatchObject({
      kind: 'frozen',
      run: { plan: { batches: TENANTS, records: TENANTS * ROUNDS, tenants: TENANTS } },
    });
  });
});
