import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import type { SettingKey } from '../../../lib/core/policy/settings.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { testSettings } from '../../model/index.ts';
import { account, accounts, deploy, SCHEDULED, theRun } from './stage.ts';

type Overrides = Partial<Record<SettingKey, string>>;

async function dispatched(stage: Deployment, scheduledTime = SCHEDULED) {
  const end = await stage.dispatch(scheduledTime);
  if (end.kind !== 'done') throw new Error(`the dispatch ended as ${end.kind}`);
  return end.value;
}

async function notesOf(stage: Deployment, scheduledTime = SCHEDULED): Promise<readonly string[]> {
  return (await theRun(stage, stage.runIdAt(scheduledTime))).notes.map(({ note }) => note);
}

/** Refused for this alone: nothing published, no record changed, the totals there to look at. */
async function expectRefused(stage: Deployment, parameter: string, message: RegExp, scheduledTime = SCHEDULED) {
  const [sent, rows] = [stage.queue.sent.length, stage.records.rows()];
  const { kind, problems } = await dispatched(stage, scheduledTime);
  expect(kind).toBe('refused');
  expect(problems).toMatchObject([{ parameter, message: expect.stringMatching(message) }]);
  expect(stage.queue.sent).toHaveLength(sent);
  expect(stage.records.rows()).toEqual(rows);
  expect((await theRun(stage, stage.runIdAt(scheduledTime))).plan).toBeDefined();
}

function others(count: number) {
  return { source: { others: count } };
}

describe('P73: the cap on the number of records', () => {
  it('takes a plan of just so many and refuses one more, with the numbers and the parameter', async () => {
    expect(await dispatched(deploy(accounts(7), { capRecords: '7' }))).toMatchObject({ kind: 'dispatched' });
    await expectRefused(
      deploy(accounts(8), { capRecords: '7' }),
      'CapRecords',
      /^CapRecords 7: the plan has 8 records/,
    );
  });

  it('lets the same scheduled time go on once it is raised, under the same version', async () => {
    const stage = deploy(accounts(8), { capRecords: '7' });
    await dispatched(stage);
    await dispatched(stage);
    stage.settings = testSettings({ capRecords: '8' });
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched', problems: [] });
    await settle(stage);
    expect(await theRun(stage)).toMatchObject({ status: 'complete', closing: { processed: 8 } });
  });

  it('does not count what is held, nor what the records per run leave for the next', async () => {
    const held = accounts(3).map((row) => ({ ...row, id: `held ${String(row.id)}`, hold: 'legal' }));
    const limited = { capRecords: '7', recordsPerRun: '7' };
    expect(await dispatched(deploy([...accounts(20), ...held], limited))).toMatchObject({ kind: 'dispatched' });
  });

  it('looks at the plan that was made, not at the records as a person left them before it was raised', async () => {
    const stage = deploy(accounts(8), { capRecords: '7' });
    await dispatched(stage);
    stage.records.remove('a0000');
    stage.records.put(account('z', { tenant: 't9' }));
    stage.records.remove('a0001');
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched' });
    expect((await theRun(stage)).plan).toMatchObject({ records: 7, tenants: 2 });
  });
});

describe('P73: the cap on the share of records', () => {
  it('takes a plan of just that share and refuses one record more', async () => {
    const capped = { capSharePercent: '20' };
    expect(await dispatched(deploy(accounts(20), capped, others(80)))).toMatchObject({ kind: 'dispatched' });
    const over = deploy(accounts(20), capped, others(79));
    await expectRefused(over, 'CapSharePercent', /^CapSharePercent 20: 20 of 99 records \(20\.2 %\) are due/);
  });

  it('counts what the records per run leave for the next, since it is due all the same', async () => {
    const stage = deploy(accounts(50), { capSharePercent: '20', recordsPerRun: '5' }, others(50));
    await expectRefused(stage, 'CapSharePercent', /50 of 100/);
  });

  it('is not judged where discovery sees due records only', async () => {
    const stage = deploy(accounts(5), { capSharePercent: '1' }, { source: { through: 'due-query' } });
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched' });
    expect((await theRun(stage)).plan).toMatchObject({ examined: null, records: 5 });
  });
});

describe('P73: the cap on the deviation from earlier runs', () => {
  /** Runs that were complete with so many records each, on the days before the next. */
  async function withHistory(sizes: readonly number[], settings: Overrides = {}) {
    const stage = deploy([], { capDeviationFactor: '2', batchSize: '1000', ...settings });
    let day = SCHEDULED;
    for (const size of sizes) {
      for (const row of accounts(size)) stage.records.put({ ...row, id: `${day} ${String(row.id)}` });
      await stage.dispatch(day);
      await settle(stage);
      day += DAY_MILLIS;
      stage.world.advance(Math.max(0, day - stage.world.millis));
    }
    return {
      stage,
      next: async (size: number) => {
        for (const row of accounts(size)) stage.records.put({ ...row, id: `next ${String(row.id)}` });
        return day;
      },
    };
  }

  it('takes just so many times the median and refuses one record more', async () => {
    const history = [40, 60, 90];
    const fits = await withHistory(history);
    expect(await dispatched(fits.stage, await fits.next(120))).toMatchObject({ kind: 'dispatched' });
    const over = await withHistory(history);
    const message = /^CapDeviationFactor 2: 121 records are due where the median of 3 earlier complete runs is 60/;
    await expectRefused(over.stage, 'CapDeviationFactor', message, await over.next(121));
  });

  it('takes the middle of an even number of runs, in any order of size', async () => {
    const { stage, next } = await withHistory([90, 40, 80, 60]);
    await expectRefused(
      stage,
      'CapDeviationFactor',
      /141 records .* of 4 earlier complete runs is 70/,
      await next(141),
    );
  });

  it('says nothing with fewer than three complete runs', async () => {
    const { stage, next } = await withHistory([1, 1]);
    expect(await dispatched(stage, await next(500))).toMatchObject({ kind: 'dispatched' });
  });

  it('says nothing up to 100 records, however small the runs before', async () => {
    const small = await withHistory([1, 1, 1]);
    expect(await dispatched(small.stage, await small.next(100))).toMatchObject({ kind: 'dispatched' });
    const larger = await withHistory([1, 1, 1]);
    await expectRefused(larger.stage, 'CapDeviationFactor', /101 records/, await larger.next(101));
  });

  it('says nothing after reports: a plan that nobody carried out is no measure', async () => {
    const { stage, next } = await withHistory([5, 5, 5, 5], { mode: 'report-only' });
    stage.settings = testSettings({ capDeviationFactor: '2', batchSize: '1000' });
    expect(await dispatched(stage, await next(500))).toMatchObject({ kind: 'dispatched' });
  });

  it('compares expiries with expiries: what deletions found is no measure for them', async () => {
    const { stage, next } = await withHistory([1, 1], { action: 'delete', allowDelete: 'yes' });
    const capped = { capDeviationFactor: '2', batchSize: '1000', policyVersion: 'v2' };
    stage.settings = testSettings(capped);
    const day = await next(500);
    await dispatched(stage, day);
    await settle(stage);
    for (const row of accounts(500)) stage.records.put({ ...row, id: `again ${String(row.id)}` });
    expect(await dispatched(stage, day + DAY_MILLIS)).toMatchObject({ kind: 'dispatched' });
  });

  it('compares with complete runs alone: those that were refused are no measure', async () => {
    const { stage, next } = await withHistory([50, 50, 50]);
    const day = await next(300);
    for (const later of [0, 1, 2, 3]) {
      await expectRefused(stage, 'CapDeviationFactor', /median of 3 .* is 50/, day + later * DAY_MILLIS);
    }
  });
});

describe('what a report says of caps', () => {
  it('a cap that an enforcing run would trip is a note, and the report is made', async () => {
    const caps = { capRecords: '5', capSharePercent: '10' };
    const stage = deploy(accounts(6), { mode: 'report-only', ...caps }, others(6));
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched', status: 'reported', problems: [] });
    const { notes, plan } = await theRun(stage);
    expect(notes.map(({ note }) => note)).toEqual(['first_run', 'cap_would_refuse', 'cap_would_refuse']);
    expect(notes[1]?.message).toContain('CapRecords 5: the plan has 6 records');
    expect(plan).toMatchObject({ records: 6, examined: 12 });
  });

  it('P14: too many unreadable records refuse a report too, for its numbers mean nothing', async () => {
    const rows = [...accounts(3), account('odd', { lastActivity: 'x' })];
    const stage = deploy(rows, { mode: 'report-only' });
    await expectRefused(stage, 'TimestampFormat', /1 of 4 records/);
  });
});

describe('P14: unreadable records', () => {
  const odd = account('odd', { lastActivity: 17 });

  it('of just one in a hundred are counted and left alone; one in ninety-nine refuses the run', async () => {
    const few = deploy([...accounts(9), odd], {}, others(90));
    expect(await dispatched(few)).toMatchObject({ kind: 'dispatched' });
    await settle(few);
    expect(await theRun(few)).toMatchObject({
      status: 'complete',
      plan: { examined: 100, unreadable: { wrong_type: 1 } },
    });
    expect(few.records.row('odd')).toEqual(odd);
    const many = deploy([...accounts(9), odd], {}, others(89));
    await expectRefused(
      many,
      'TimestampFormat',
      /^TimestampFormat iso-8601: 1 of 99 records \(1\.0 %, more than 1 %\)/,
    );
  });

  it('of the wrong unit refuse the run, and the right format makes the same scheduled time work', async () => {
    const millis = accounts(5).map((row) => ({ ...row, lastActivity: 1577836800000 }));
    const stage = deploy(millis, { timestampFormat: 'epoch-seconds' });
    await expectRefused(stage, 'TimestampFormat', /5 of 5 .*out_of_range 5.*Received epoch-seconds\.$/);
    stage.settings = testSettings({ timestampFormat: 'epoch-millis' });
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched' });
    expect((await theRun(stage)).plan).toMatchObject({ records: 5, unreadable: {} });
  });

  it('without a readable tenant count as well', async () => {
    const stage = deploy([...accounts(3), account('no-tenant', { tenant: '' })]);
    await expectRefused(stage, 'TimestampFormat', /tenant_unreadable 1/);
  });

  it('are not judged through an index that leaves them out', async () => {
    const stage = deploy([account('good'), odd], {}, { source: { through: 'index' } });
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched' });
  });
});

describe('notes of a run', () => {
  const TOMORROW = SCHEDULED + DAY_MILLIS;

  async function tomorrow(stage: Deployment): Promise<number> {
    await settle(stage);
    stage.world.advance(DAY_MILLIS);
    await dispatched(stage, TOMORROW);
    return TOMORROW;
  }

  it('the first of a policy says so, and the second does not', async () => {
    const stage = deploy(accounts(3), {}, others(5));
    await dispatched(stage);
    expect(await notesOf(stage)).toEqual(['first_run']);
    expect(await notesOf(stage, await tomorrow(stage))).toEqual([]);
  });

  it('a refused attempt does not make the next one any less the first', async () => {
    const stage = deploy(accounts(3), { capRecords: '2' });
    await dispatched(stage);
    stage.settings = testSettings();
    await dispatched(stage);
    expect(await notesOf(stage)).toEqual(['first_run']);
  });

  it('P65: a table that came up empty where an earlier run found records is said, with both', async () => {
    const stage = deploy(accounts(3));
    await dispatched(stage);
    await settle(stage);
    for (const row of accounts(3)) stage.records.remove(String(row.id));
    const day = await tomorrow(stage);
    const { notes, status, plan } = await theRun(stage, stage.runIdAt(day));
    expect(notes.map(({ note }) => note)).toEqual(['empty_where_records_were']);
    expect(notes[0]?.message).toContain(`run ${stage.runId} found 3`);
    expect({ status, examined: plan?.examined }).toEqual({ status: 'draining', examined: 0 });
  });

  it('P65: not where records are there and none is due, nor where there never were any', async () => {
    const busy = deploy(accounts(3), {}, others(4));
    await dispatched(busy);
    expect(await notesOf(busy, await tomorrow(busy))).toEqual([]);
    const empty = deploy([]);
    await dispatched(empty);
    expect(await notesOf(empty, await tomorrow(empty))).toEqual([]);
  });

  it('P65: a deletion is compared with deletions: what expiries found is in another state', async () => {
    const stage = deploy([], {}, others(10));
    await dispatched(stage);
    await settle(stage);
    stage.settings = testSettings({ action: 'delete', allowDelete: 'yes', policyVersion: 'v2' });
    expect(await notesOf(stage, await tomorrow(stage))).toEqual([]);
  });
});
