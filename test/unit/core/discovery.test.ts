import { describe, expect, it } from 'vitest';
import { dispatch } from '../../../lib/core/plan/dispatch.ts';
import type { DiscoveredRecord, RecordSource, TargetCall } from '../../../lib/core/ports/index.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import type { Row } from '../../model/index.ts';
import {
  account,
  accounts,
  altered,
  CUTOFF,
  decide,
  deploy,
  dispatchPorts,
  expiredIds,
  FEW_OF_MANY,
  instant,
  plannedIds,
  SCHEDULED,
  theRun,
  timeLeft,
} from './stage.ts';

async function ran(stage: Deployment, scheduledTime = SCHEDULED): Promise<Deployment> {
  await stage.dispatch(scheduledTime);
  await settle(stage);
  return stage;
}

const SECOND = 1000;
const C = CUTOFF / SECOND;

describe('discovery', () => {
  it('P11: goes on after pages that are empty, to the end of every segment', async () => {
    const closed = Array.from({ length: 9 }, (_, number) => account(`a${number}`, { status: 'CLOSED' }));
    const paging = { size: 2, emptyPages: 'between' } as const;
    const stage = deploy([...closed, account('z-last')], { discoverySegments: '3' }, { source: { paging } });
    await stage.dispatch();
    expect(plannedIds(stage)).toEqual([['z-last']]);
    expect((await theRun(stage)).plan).toMatchObject({ discovered: 1, records: 1 });
  });

  it.each<[string, Row, string]>([
    ['iso-8601', { before: instant(CUTOFF - 1), at: instant(CUTOFF), after: instant(CUTOFF + 1) }, 'before'],
    ['epoch-millis', { before: CUTOFF - 1, at: CUTOFF, after: CUTOFF + 1 }, 'before'],
    ['epoch-seconds', { before: C - 1, at: C, after: C + 1 }, 'before'],
  ])('P26: in %s, a record at the cutoff is kept, and what is selected is what expires', async (format, times) => {
    const rows = Object.entries(times).map(([id, lastActivity]) => account(id, { lastActivity }));
    const stage = await ran(deploy(rows, { timestampFormat: format }));
    expect(plannedIds(stage)).toEqual([['before']]);
    expect(expiredIds(stage)).toEqual(['before']);
  });

  it('P26: against a cutoff of half a second, whole seconds are compared as the instants they are', async () => {
    const rows = [C - 1, C, C + 1].map((lastActivity, number) => account(`a${number}`, { lastActivity }));
    const stage = deploy(rows, { timestampFormat: 'epoch-seconds' });
    await stage.dispatch(SCHEDULED + 500);
    expect(plannedIds(stage)).toEqual([['a0', 'a1']]);
  });

  it('P15: compares instants, not text', async () => {
    const times = ['2026-02-28T23:30:00-02:00', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00Z'];
    const odd = ['2026-03-01T00:00:00+00:00', '2026-03-01T01:00:00+02:00', '2026-02-28T23:59:59.999Z'];
    const rows = [...times, ...odd].map((lastActivity, number) => account(`a${number}`, { lastActivity }));
    const stage = deploy(rows, { retentionDays: '1' }, FEW_OF_MANY);
    await ran(stage, Date.UTC(2026, 2, 2));
    expect(expiredIds(stage)).toEqual(['a5']);
    expect((await theRun(stage, 'accounts.v1.20260302T000000Z')).plan?.unreadable).toEqual({ not_canonical: 3 });
  });

  it('P17: five kinds of unreadable timestamps are counted by reason, and only the readable old record expires', async () => {
    const odd = { missing: undefined, null: null, empty: '', text: '1577836800', list: [1] };
    const rows = Object.entries(odd).map(([id, lastActivity]) => account(id, { lastActivity }));
    const stage = await ran(
      deploy(
        [...rows, account('good', { lastActivity: 1577836800 })],
        { timestampFormat: 'epoch-seconds' },
        FEW_OF_MANY,
      ),
    );
    expect(expiredIds(stage)).toEqual(['good']);
    const { plan } = await theRun(stage);
    expect(plan?.unreadable).toEqual({ empty: 1, missing: 1, null: 1, wrong_type: 2 });
    expect(plan).toMatchObject({ discovered: 1, records: 1, held: 0 });
  });

  it('P17: through an index that leaves them out, unreadable records are unknown, not none', async () => {
    const rows = [account('good'), account('odd', { lastActivity: null })];
    const stage = await ran(deploy(rows, {}, { source: { through: 'index' } }));
    expect((await theRun(stage)).plan?.unreadable).toBeNull();
  });

  it.each<[string, readonly number[]]>([
    ['epoch-seconds', [1577836800000, 1577836800000000]],
    ['epoch-millis', [1577836800, 15778368]],
  ])('P14: declared as %s, values of another unit are never planned', async (timestampFormat, wrong) => {
    const rows = wrong.map((lastActivity, number) => account(`a${number}`, { lastActivity }));
    const stage = await ran(deploy(rows, { timestampFormat }));
    expect((await theRun(stage)).plan).toMatchObject({ records: 0, unreadable: { out_of_range: wrong.length } });
    expect(stage.records.writes).toHaveLength(0);
  });

  it('P19: a stale index may select a record that came back; its own condition keeps it', async () => {
    const stage = deploy(accounts(3));
    stage.source.fallBehind();
    stage.records.reactivate('a0001');
    await stage.dispatch();
    expect(plannedIds(stage).flat()).toContain('a0001');
    await settle(stage);
    expect(expiredIds(stage)).toEqual(['a0000', 'a0002']);
    expect((await theRun(stage)).closing?.outcomes).toEqual({ expired: 2, state_changed: 1 });
  });

  it('P19: an index of keys alone shows no hold; the record is planned and kept as held', async () => {
    const rows = [account('free'), account('held', { hold: 'legal' })];
    const stage = await ran(deploy(rows, {}, { source: { projection: 'keys-only' } }));
    expect((await theRun(stage)).plan).toMatchObject({ records: 2, held: 0 });
    expect(expiredIds(stage)).toEqual(['free']);
    expect((await theRun(stage)).closing?.outcomes).toEqual({ expired: 1, held: 1 });
  });

  it('P20: keys travel as the text they are, however large the number', async () => {
    const stage = deploy([]);
    const keys = ['["N9007199254740993"]', '["N12345678901234567890123456789012345678"]'];
    const records = keys.map(
      (key): DiscoveredRecord => ({
        ...{ key, witness: 'N:1577836800', tenant: 't1', held: false, operationKey: undefined, writeUnits: 1 },
        timestamp: { kind: 'readable', millis: 1577836800000 },
      }),
    );
    const source: RecordSource = {
      seesUnreadable: true,
      seesAll: true,
      segments: ['all'],
      page: async () => ({ records, next: undefined }),
    };
    const request = { scheduledTime: SCHEDULED, startedBy: 'schedule' };
    await dispatch(dispatchPorts(stage, { sourceFor: async () => source }), stage.settings, request, timeLeft());
    const asked: string[] = [];
    const apply = async ({ items }: TargetCall) => {
      asked.push(...items.map((item) => item.key));
      return items.map(({ key }) => ({ kind: 'outcome', key, outcome: 'absent', applied: 'not' }) as const);
    };
    await decide(stage, await stage.queue.receive(10), { target: altered(stage.target, { apply }) });
    expect(asked).toEqual(keys);
    for (const { body } of stage.queue.sent) expect(body).not.toContain('9007199254740993');
  });

  it('a record seen twice while its slice is open is planned once', async () => {
    const stage = deploy([]);
    const record: DiscoveredRecord = {
      ...{ key: '["Sa"]', witness: 'w', tenant: 't1', held: false, operationKey: undefined, writeUnits: 2 },
      timestamp: { kind: 'readable', millis: 0 },
    };
    const page = async (_segment: string, cursor: string | undefined) => ({
      records: [record],
      next: cursor === undefined ? 'more' : undefined,
    });
    const source: RecordSource = { seesUnreadable: false, seesAll: false, segments: ['one', 'two'], page };
    const request = { scheduledTime: SCHEDULED, startedBy: 'schedule' };
    await dispatch(dispatchPorts(stage, { sourceFor: async () => source }), stage.settings, request, timeLeft());
    expect((await theRun(stage)).plan).toMatchObject({
      discovered: 1,
      records: 1,
      quotedWriteUnits: 2,
      unreadable: null,
    });
  });
});
