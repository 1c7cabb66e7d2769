import { describe, expect, it } from 'vitest';
import type { RecordResult, WorkItem } from '../../../lib/core/ports/index.ts';
import {
  CLAUSES,
  type Clause,
  keyOfId,
  MemoryRecordSource,
  MemoryRecords,
  MemoryTarget,
  type Row,
  type SourceOptions,
  type TargetOptions,
  testSettings,
  World,
  witnessOf,
} from '../../model/index.ts';

const settings = testSettings({ discoverySegments: '1' });
const OLD = '2020-01-01T00:00:00.000Z';

function account(id: string, more: Row = {}): Row {
  return { id, tenant: 't1', status: 'ACTIVE', lastActivity: OLD, ...more };
}

async function discovered(source: MemoryRecordSource) {
  const pages = [];
  for (const segment of source.segments) {
    let cursor: string | undefined;
    do {
      const page = await source.page(segment, cursor);
      pages.push(page);
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return { pages, records: pages.flatMap((page) => page.records) };
}

function sourceOf(rows: readonly Row[], options: Partial<SourceOptions> = {}) {
  const records = new MemoryRecords(new World(), settings, rows);
  return { records, source: new MemoryRecordSource(records, options) };
}

describe('record source model', () => {
  it('P11: has pages that are empty and have a cursor', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((id) => account(id, { status: 'CLOSED' }));
    const { source } = sourceOf([...rows, account('e')], { paging: { size: 2, emptyPages: 'none' } });
    const { pages, records } = await discovered(source);
    expect(pages.slice(0, 2)).toEqual([
      { records: [], next: 'b' },
      { records: [], next: 'd' },
    ]);
    expect(records.map((record) => record.key)).toEqual([keyOfId('e')]);
  });

  it('covers every record once, whatever the number of segments and empty pages', async () => {
    const rows = Array.from({ length: 40 }, (_, number) => account(`r${number}`));
    const world = new World();
    const records = new MemoryRecords(world, testSettings({ discoverySegments: '7' }), rows);
    const source = new MemoryRecordSource(records, { paging: { size: 3, emptyPages: 'between' } });
    const found = (await discovered(source)).records.map((record) => record.key);
    expect(found.sort()).toEqual(rows.map((row) => keyOfId(String(row.id))).sort());
  });

  it('P19: shows a record as it was after the index fell behind, and catches up', async () => {
    const { records, source } = sourceOf([account('a')]);
    source.fallBehind();
    records.reactivate('a');
    expect((await discovered(source)).records[0]?.witness).toBe(`S:${OLD}`);
    source.catchUp();
    expect((await discovered(source)).records[0]?.witness).toBe('S:2026-01-01T00:00:00.000Z');
  });

  it('P19: an index of keys only shows no hold', async () => {
    const { source } = sourceOf([account('a', { hold: 'legal' })], { projection: 'keys-only' });
    expect((await discovered(source)).records[0]?.held).toBe(false);
  });

  it('P17: a table shows unreadable timestamps with their reason, an index leaves them out', async () => {
    const rows = [account('a', { lastActivity: undefined }), account('b', { lastActivity: null }), account('c')];
    const table = await discovered(sourceOf(rows).source);
    expect(table.records.map((record) => record.timestamp)).toMatchObject([
      { reason: 'missing' },
      { reason: 'null' },
      { kind: 'readable' },
    ]);
    const index = await discovered(sourceOf(rows, { through: 'index' }).source);
    expect(index.records.map((record) => record.key)).toEqual([keyOfId('c')]);
  });

  it('sorted by timestamp, a record touched between two pages is seen twice', async () => {
    const { records, source } = sourceOf([account('a'), account('b')], {
      order: 'timestamp',
      paging: { size: 1, emptyPages: 'none' },
    });
    const first = await source.page('segment-0', undefined);
    records.touch('a', '2021-01-01T00:00:00.000Z');
    const rest = [await source.page('segment-0', first.next)];
    rest.push(await source.page('segment-0', rest[0]?.next));
    const seen = [first, ...rest].flatMap((page) => page.records).map((record) => record.key);
    expect(seen).toEqual([keyOfId('a'), keyOfId('b'), keyOfId('a')]);
  });
});

describe('target model', () => {
  function setUp(row: Row | undefined, options: Partial<TargetOptions> = {}) {
    const world = new World();
    const records = new MemoryRecords(world, settings, row === undefined ? [] : [row]);
    const target = new MemoryTarget(world, records, options);
    const item: WorkItem = { key: keyOfId('a'), witness: `S:${OLD}`, operationKey: 'op', writeUnits: 1 };
    const apply = async (): Promise<RecordResult | undefined> =>
      (await target.apply({ kind: 'expire', settings, now: world.millis, items: [item] }))[0];
    return { records, target, apply };
  }

  it('expires a record, and finds its own key on the next try', async () => {
    const { records, apply } = setUp(account('a', { plan: 'free' }));
    expect(await apply()).toMatchObject({ outcome: 'expired', applied: 'now' });
    expect(records.row('a')).toEqual({
      ...account('a'),
      plan: 'free',
      status: 'EXPIRED',
      expiredAt: '2026-01-01T00:00:00.000Z',
      sweepOperationKey: 'op',
    });
    expect(await apply()).toMatchObject({ outcome: 'expired', applied: 'earlier' });
    expect(records.writes).toHaveLength(1);
  });

  // One situation per clause that only this clause keeps from a write.
  const guarded: Record<Clause, { readonly row: Row | undefined; readonly outcome: string }> = {
    exists: { row: undefined, outcome: 'absent' },
    state: { row: account('a', { status: 'CLOSED' }), outcome: 'state_changed' },
    timestamp: { row: account('a', { lastActivity: '2020-01-01T00:00:00Z' }), outcome: 'state_changed' },
    hold: { row: account('a', { hold: 'legal' }), outcome: 'held' },
    'operation-key': { row: account('a', { sweepOperationKey: 'op' }), outcome: 'expired' },
  };

  it.each(CLAUSES)(
    'writes nothing where the clause "%s" fails, and writes where only it was left out',
    async (clause) => {
      const { row, outcome } = guarded[clause];
      const whole = setUp(row);
      expect(await whole.apply()).toMatchObject({ outcome, applied: clause === 'operation-key' ? 'earlier' : 'not' });
      expect(whole.records.row('a')).toEqual(row);
      const weakened = setUp(row, { without: clause });
      expect(await weakened.apply()).toMatchObject({ outcome: 'expired', applied: 'now' });
      expect(weakened.records.row('a')?.status).toBe('EXPIRED');
    },
  );

  it.each([null, false, '', undefined])('P57: a hold of %j is none', async (hold) => {
    expect(await setUp(account('a', { hold })).apply()).toMatchObject({ outcome: 'expired' });
  });

  it('fails an entry inside a successful answer, with or without its effect', async () => {
    const failing = setUp(account('a'), { entryFails: 1 });
    expect(await failing.apply()).toMatchObject({ kind: 'failed', failure: { class: 'transient' } });
    expect(failing.records.writes).toEqual([]);
    const lost = setUp(account('a'), { entryAnswerLost: 1 });
    expect(await lost.apply()).toMatchObject({ kind: 'failed', failure: { class: 'transient' } });
    expect(lost.records.writes).toHaveLength(1);
  });

  it('refuses a call that names a record twice', async () => {
    const { target } = setUp(account('a'));
    const row = account('a');
    const item = { key: keyOfId('a'), witness: witnessOf(row, settings), operationKey: 'op', writeUnits: 1 };
    const call = target.apply({ kind: 'expire', settings, now: 0, items: [item, item] });
    await expect(call).rejects.toMatchObject({ failure: { class: 'permanent' } });
  });
});
