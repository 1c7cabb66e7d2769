import { describe, expect, it } from 'vitest';
import { PRICES } from '../../../lib/core/cost/prices.ts';
import type { ReportView } from '../../../lib/core/read/report.ts';
import { accounts, deployAccounts } from '../../helpers/accounts.ts';
import { settle } from '../../helpers/settle.ts';
import { testSettings } from '../../model/index.ts';
import { DELETION, DELETION_RUN, expired } from './deleted.ts';
import { Terminal } from './terminal.ts';

const COUNTS = ['discovered', 'held', 'planned', 'overLimit'] as const;

async function reported(...parameters: Parameters<typeof testSettings>): Promise<Terminal> {
  const deployment = deployAccounts({ settings: testSettings({ mode: 'report-only', ...parameters[0] }) });
  await deployment.dispatch();
  return new Terminal(deployment);
}

describe('sweep report', () => {
  it('prints each tenant, the largest first, their sum, and what cannot be read and why', async () => {
    const terminal = await reported();
    const { exitCode, out, err } = await terminal.run('report', 'latest');
    expect([exitCode, err]).toEqual([0, '']);
    expect(out).toMatch(/Status +reported/);
    expect(out).toMatch(/Examined +214$/m);
    expect(out).toMatch(/Unreadable +2: null 1, tenant_unreadable 1$/m);
    const [head, ...rows] = out.slice(out.indexOf('TENANT')).trimEnd().split('\n');
    expect(head).toMatch(/^TENANT +DISCOVERED +HELD +PLANNED +OVER LIMIT +OLDEST$/);
    expect(rows.map((row) => row.split(/ +/).slice(0, 5))).toEqual([
      ['big', ...'6150'],
      ['small-1', ...'2020'],
      ['quiet', ...'1100'],
      ['small-0', ...'1010'],
      ['total', '10', ...'280'],
    ]);
  });

  it('prints the same numbers as JSON, and tenants and totals agree', async () => {
    const terminal = await reported({ recordsPerRun: '5' });
    const view = await terminal.json<ReportView>('report', 'latest');
    expect(view).toMatchObject({
      ...{ runId: 'accounts.v1.20260101T000000Z', status: 'reported', kind: 'expire', mode: 'report-only' },
      totals: { examined: 214, discovered: 10, held: 2, planned: 5, overLimit: 3, unreadable: 2, tenants: 4 },
      unreadableByReason: { null: 1, tenant_unreadable: 1 },
      refusals: [],
    });
    for (const count of COUNTS) {
      expect(view.tenantReports.reduce((sum, tenant) => sum + tenant[count], 0)).toBe(view.totals?.[count]);
    }
    for (const { discovered, held, planned, overLimit } of view.tenantReports) {
      expect(discovered).toBe(held + planned + overLimit);
    }
    const oldest = view.tenantReports.map((tenant) => tenant.oldest ?? '').sort();
    expect(view.totals?.oldest).toBe(oldest[0]);
  });

  it('of a report-only run says what an enforcing run would be refused for', async () => {
    const terminal = await reported({ capRecords: '7', capSharePercent: '1' });
    const view = await terminal.json<ReportView>('report', 'latest');
    expect(view.status).toBe('reported');
    expect(view.wouldRefuse).toHaveLength(2);
    expect(view.wouldRefuse[0]).toContain('CapRecords 7: the plan has 8 records');
    const { out } = await terminal.run('report', 'latest');
    expect(out).toContain('This is the first run of the policy');
    expect(out).toContain('An enforcing run would be refused: CapRecords 7: the plan has 8 records');
    expect(out).toContain('An enforcing run would be refused: CapSharePercent 1: 8 of 214 records (3.7 %)');
    expect((await (await reported()).json<ReportView>('report', 'latest')).wouldRefuse).toEqual([]);
  });

  it('of a run that a cap refused prints the numbers with the reason', async () => {
    const deployment = deployAccounts({ settings: testSettings({ capRecords: '7' }) });
    await deployment.dispatch();
    const { exitCode, out } = await new Terminal(deployment).run('report', deployment.runId);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/Status +refused\nRefused +CapRecords 7: the plan has 8 records/);
    expect(out).toMatch(/^total +10 +2 +8 +0 /m);
  });

  it('of a run that preflight refused says that there is no plan', async () => {
    const deployment = deployAccounts();
    deployment.probe.grantOnly();
    await deployment.dispatch();
    const terminal = new Terminal(deployment);
    const { out } = await terminal.run('report', 'latest');
    expect(out).toMatch(/Refused +Mode enforce: the consumer may not expire records/);
    expect(out).toContain('There is no plan to report on.');
    expect(await terminal.json<ReportView>('report', 'latest')).toMatchObject({
      ...{ status: 'refused', totals: null, unreadableByReason: null, tenantReports: [] },
      refusals: [{ parameter: 'Mode', received: 'enforce' }],
    });
  });

  it('P17: through an index, says that unreadable records are not seen, which is not none', async () => {
    const deployment = deployAccounts({ source: { through: 'index' } });
    await deployment.dispatch();
    const terminal = new Terminal(deployment);
    expect((await terminal.run('report', 'latest')).out).toMatch(/Unreadable +not seen: discovery goes through/);
    expect((await terminal.json<ReportView>('report', 'latest')).totals).toMatchObject({ unreadable: null });
  });

  it('reports on a deletion, whose oldest is the oldest time of expiry', async () => {
    const deployment = await expired({ mode: 'report-only' });
    await deployment.dispatch(DELETION);
    const terminal = new Terminal(deployment);
    const view = await terminal.json<ReportView>('report', 'latest');
    expect(view).toMatchObject({ runId: DELETION_RUN, kind: 'delete', totals: { planned: 8, held: 0 } });
    expect(view.totals?.oldest).toBe('2026-01-01T00:00:00.000Z');
    expect((await terminal.run('report', 'latest')).out).toContain('on the time of expiry');
  });

  it('stays the same while the run goes on, but for the invoice at its close', async () => {
    const deployment = deployAccounts();
    await deployment.dispatch();
    const terminal = new Terminal(deployment);
    const before = await terminal.json<ReportView>('report', 'latest');
    deployment.records.hold(String(accounts()[0]?.id));
    await settle(deployment);
    const after = await terminal.json<ReportView>('report', 'latest');
    expect(after).toEqual({
      ...before,
      status: 'complete',
      invoice: expect.objectContaining({ prices: PRICES.version }),
    });
    expect([before.invoice, before.quote]).toEqual([null, after.quote]);
    expect((await terminal.run('report', 'latest')).out).toMatch(/Quote .*\$.*\n.*Invoice .*\$/);
  });

  it('finds no run: says how to see which there are', async () => {
    const { exitCode, err } = await new Terminal(deployAccounts()).run('report', 'accounts.v1.nonsense');
    expect(exitCode).toBe(3);
    expect(err).toContain('sweep runs');
  });
});
