import type { FoundView, ReportView } from '../../core/read/report.ts';
import { quoteFields } from './quote.ts';
import { reasons } from './reasons.ts';
import { sayMeasured, sayWindow } from './run.ts';
import { type Column, table } from './table.ts';
import { counts, fields } from './text.ts';

type Row = FoundView & { readonly tenant: string };

const COLUMNS: readonly Column<Row>[] = [
  { title: 'TENANT', value: (row) => row.tenant },
  { title: 'DISCOVERED', value: (row) => row.discovered },
  { title: 'HELD', value: (row) => row.held },
  { title: 'PLANNED', value: (row) => row.planned },
  { title: 'OVER LIMIT', value: (row) => row.overLimit },
  { title: 'OLDEST', value: (row) => row.oldest },
];

/** The largest tenants first; the last line is their sum. */
export function renderReport(report: ReportView): string {
  const { totals } = report;
  if (totals === null) return [facts(report), 'There is no plan to report on.\n'].join('\n');
  const tenants = [...report.tenantReports].sort((a, b) => b.discovered - a.discovered);
  return [facts(report), found(report, totals), table(COLUMNS, [...tenants, { tenant: 'total', ...totals }])].join(
    '\n',
  );
}

function facts(report: ReportView): string {
  return fields([
    ['Run', report.runId],
    ['Status', report.status],
    ...reasons(report),
    ['Policy', `${report.policyId}, version ${report.policyVersion}`],
    ['Kind', `${report.kind}, mode ${report.mode}`],
    ['Scheduled', report.scheduledTime],
    ['Cutoff', `${report.cutoff} (exclusive: a record exactly at it is kept${sayMeasured(report)})`],
    ...(report.window === null ? [] : [sayWindow(report.window)]),
  ]);
}

function found(report: ReportView, totals: NonNullable<ReportView['totals']>): string {
  const { examined, unreadable, tenants, quotedWriteUnits } = totals;
  const byReason = report.unreadableByReason ?? {};
  return fields([
    ['Examined', examined === null ? 'not known: discovery sees due records only' : String(examined)],
    [
      'Unreadable',
      unreadable === null ? 'not seen: discovery goes through an index' : sayUnreadable(unreadable, byReason),
    ],
    ['Tenants', String(tenants)],
    ['Cost', `write units that carrying it out should take on the record table: ${quotedWriteUnits}`],
    ...quoteFields(report),
  ]);
}

function sayUnreadable(unreadable: number, byReason: Readonly<Record<string, number>>): string {
  return unreadable === 0 ? '0' : `${unreadable}: ${counts(byReason)}`;
}
