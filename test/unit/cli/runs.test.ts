import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import type { RunDetailView, RunView } from '../../../lib/core/views.ts';
import { accounts, deployAccounts } from '../../helpers/accounts.ts';
import { settle } from '../../helpers/settle.ts';
import { testSettings } from '../../model/index.ts';
import { deleted } from './deleted.ts';
import { Terminal } from './terminal.ts';

const FIRST = 'accounts.v1.20260101T000000Z';

const PLAN_COUNTS = ['discovered', 'held', 'planned', 'overLimit'] as const;

async function settled(options: Parameters<typeof deployAccounts>[0] = {}) {
  const deployment = deployAccounts(options);
  await settle(deployment);
  return deployment;
}

describe('sweep runs', () => {
  it('lists runs newest scheduled time first, as a table and as an array of run views', async () => {
    const deployment = await settled();
    deployment.world.advance(DAY_MILLIS);
    await deployment.dispatch(deployment.scheduledTime + DAY_MILLIS);
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run('runs');
    expect(exitCode).toBe(0);
    const [head, ...lines] = out.trimEnd().split('\n');
    expect(head).toMatch(
      /^RUN +KIND +STATUS +SCHEDULED +PLANNED +PROCESSED +SKIPPED +REMAINING +HELD +OVER LIMIT +REMARKS$/,
    );
    expect(lines.map((line) => line.split(/ +/))).toEqual([
      ['accounts.v1.20260102T000000Z', 'expire', 'draining', '2026-01-02T00:00:00.000Z', ...'10012', '0', '-'],
      [FIRST, 'expire', 'complete', '2026-01-01T00:00:00.000Z', ...'88002', '0', 'first_run'],
    ]);
    const views = await terminal.json<RunView[]>('runs');
    expect(views.map((view) => [view.runId, view.planned, view.proof.holds])).toEqual([
      ['accounts.v1.20260102T000000Z', 1, false],
      [FIRST, 8, true],
    ]);
    expect(await terminal.json<RunView[]>('runs', '--limit', '1')).toHaveLength(1);
  });

  it('P11: does not take an empty page of the index for the end', async () => {
    const deployment = await settled({ ledger: { paging: { size: 1, emptyPages: 'between' } } });
    expect(await new Terminal(deployment).json<RunView[]>('runs')).toHaveLength(1);
    expect((await new Terminal(deployment).run('show', 'latest')).exitCode).toBe(0);
  });

  it('lists a refused run with its reasons, and says of a run that it is overdue', async () => {
    const deployment = deployAccounts({ settings: testSettings({ runDeadlineHours: '2' }) });
    await deployment.dispatch();
    deployment.world.advance(DAY_MILLIS);
    deployment.settings = { ...deployment.settings, capRecords: 3 };
    deployment.records.put({ ...accounts()[0], id: 'ivy' });
    deployment.records.put({ ...accounts()[0], id: 'jon' });
    await deployment.dispatch(deployment.scheduledTime + DAY_MILLIS);
    const { exitCode, out } = await new Terminal(deployment).run('runs');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^accounts.v1.20260102T000000Z +expire +refused .* because of CapRecords$/m);
    expect(out).toMatch(/^accounts.v1.20260101T000000Z +expire +draining .* overdue; first_run$/m);
    expect(out).toMatch(/^accounts.v1.20260102T000000Z +CapRecords 3: the plan has \d+ records/m);
  });

  it('has nothing to list before the first run, which is no error', async () => {
    const terminal = new Terminal(deployAccounts());
    expect(await terminal.run('runs')).toMatchObject({ exitCode: 0, out: '' });
    expect(await terminal.json('runs')).toEqual([]);
  });
});

describe('sweep show', () => {
  it('shows counts, proof and tenants of a finished run', async () => {
    const { exitCode, out } = await new Terminal(await settled()).run('show', FIRST);
    expect(exitCode).toBe(0);
    expect(out).toContain('Discovered   10 = planned 8 + held 2 + over limit 0');
    expect(out).toContain('Planned      8 = processed 8 + skipped 0 + remaining 0');
    expect(out).toContain('Unreadable   2: null 1, tenant_unreadable 1');
    expect(out).toMatch(/Proof +holds/);
    const [, , , terminal] = out.slice(out.indexOf('Proof')).split('\n').slice(1);
    expect(terminal).toMatch(/terminal +4 +8 +\S{43}$/);
    expect(out).toMatch(/^big +6 +1 +5 +0 +5 +0 +0 .* expired 5$/m);
    expect(out).toMatch(/^quiet +1 +1 +0 +0 +0 +0 +0 .* none$/m);
  });

  it('prints the run with its tenants as JSON, whose counts agree', async () => {
    const deployment = deployAccounts();
    await deployment.dispatch();
    deployment.records.reactivate('ada');
    deployment.records.hold('bob');
    deployment.records.remove('gus');
    await settle(deployment);
    const view = await new Terminal(deployment).json<RunDetailView>('show', 'latest');
    expect(view).toMatchObject({ status: 'complete', processed: 5, skipped: 3, remaining: 0 });
    expect(view.outcomes).toEqual({ expired: 5, state_changed: 1, held: 1, absent: 1 });
    for (const count of [...PLAN_COUNTS, 'processed', 'skipped', 'remaining'] as const) {
      expect(view.tenantReports.reduce((sum, tenant) => sum + tenant[count], 0)).toBe(view[count]);
    }
    expect(view.tenantReports.find(({ tenant }) => tenant === 'big')).toMatchObject({
      processed: 3,
      outcomes: { expired: 3, state_changed: 1, held: 1 },
    });
  });

  it('says of an unfinished run what remains, and of a report that nothing was published', async () => {
    const unfinished = deployAccounts();
    await unfinished.dispatch();
    const draining = await new Terminal(unfinished).run('show', 'latest');
    expect(draining.out).toContain('remaining 8');
    expect(draining.out).toMatch(/Proof +does not hold yet/);
    const report = await settled({ settings: testSettings({ mode: 'report-only' }) });
    expect((await new Terminal(report).run('show', 'latest')).out).toMatch(/Proof +not asked for/);
  });

  it('of a refused run shows the reasons and that nothing was published', async () => {
    const deployment = await settled({ settings: testSettings({ capRecords: '3' }) });
    const { exitCode, out } = await new Terminal(deployment).run('show', 'latest');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/Status +refused\nRefused +CapRecords 3: the plan has 8 records. Nothing was published./);
    expect(out).toMatch(/Proof +not asked for: the run was refused/);
    const view = await new Terminal(deployment).json<RunDetailView>('show', 'latest');
    expect(view.refusals).toMatchObject([{ parameter: 'CapRecords', received: '3' }]);
    expect(deployment.queue.sent).toEqual([]);
  });

  it('forgets the tenants of an earlier try that are in the plan no more', async () => {
    const deployment = await settled({ settings: testSettings({ capRecords: '3' }) });
    for (const { id, tenant } of accounts()) if (tenant === 'big') deployment.records.remove(String(id));
    deployment.settings = { ...deployment.settings, capRecords: 10 };
    await deployment.dispatch();
    await settle(deployment);
    const view = await new Terminal(deployment).json<RunDetailView>('show', 'latest');
    expect(view).toMatchObject({ status: 'complete', refusals: [], planned: 3, tenants: 3 });
    expect(view.tenantReports.map(({ tenant }) => tenant).sort()).toEqual(['quiet', 'small-0', 'small-1']);
  });

  it('of a deletion says what its cutoff is on, and counts deleted and gone', async () => {
    const deployment = await deleted();
    const { out } = await new Terminal(deployment).run('show', 'latest');
    expect(out).toContain('Kind        delete, mode enforce');
    expect(out).toContain('(exclusive: a record exactly at it is kept; on the time of expiry)');
    expect(out).toMatch(/Outcomes +deleted 7, gone 1/);
    const view = await new Terminal(deployment).json<RunDetailView>('show', 'latest');
    expect(view).toMatchObject({ kind: 'delete', action: 'delete', processed: 8, outcomes: { deleted: 7, gone: 1 } });
  });

  it('shows a window and a deadline that was missed', async () => {
    const deployment = deployAccounts({ settings: testSettings({ windowDays: '7', runDeadlineHours: '2' }) });
    await deployment.dispatch();
    deployment.world.advance(3 * 3_600_000);
    const { out } = await new Terminal(deployment).run('show', 'latest');
    expect(out).toContain('Window      7 days: not before 2024-12-25T00:00:00.000Z');
    expect(out).toContain('Deadline    2026-01-01T02:00:00.000Z: OVERDUE');
  });

  it('finds no run: says how to see which there are', async () => {
    const terminal = new Terminal(deployAccounts());
    const unknown = await terminal.run('show', 'accounts.v1.nonsense', '--stack', 'Orders');
    expect(unknown).toMatchObject({ exitCode: 3, out: '' });
    expect(unknown.err).toContain('sweep runs --stack Orders');
    expect((await terminal.run('show', 'latest')).exitCode).toBe(3);
  });

  it('P76: an id with control characters moves no cursor and forges no line', async () => {
    const forged = { ...accounts()[0], id: 'evil', tenant: 'a\u001b[2Jb\nRun  forged\u009b' };
    const deployment = await settled({ rows: [...accounts(), forged] });
    const { out } = await new Terminal(deployment).run('show', 'latest');
    expect(out).toContain('a\\u001b[2Jb\\u000aRun  forged\\u009b');
    const json = await new Terminal(deployment).run('show', 'latest', '--json');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(out + json.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    const view = JSON.parse(json.out) as RunDetailView;
    expect(view.tenantReports.map(({ tenant }) => tenant)).toContain(forged.tenant);
  });
});
