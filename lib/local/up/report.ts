import type { RunDetailView } from '../../core/views.ts';
import type { Ended } from './carry-out.ts';
import { outputOf, type Pipeline } from './pipeline.ts';

const DIFFERENCES_SHOWN = 20;

/** What `--json` prints: the run's view, what was found wrong, and how to look at what was left up. */
export function jsonOf(
  { aws, outputs, stackName }: Pipeline,
  { run, differences, rowsChecked, rollout }: Ended,
): object {
  const { tenantReports: _, ...view } = run;
  return {
    ...view,
    checked: {
      rows: rowsChecked,
      differing: differences.length,
      differences: differences.slice(0, DIFFERENCES_SHOWN),
    },
    endpoint: aws.endpoint,
    region: aws.region,
    tables: {
      records: outputOf(outputs, 'RecordTableName'),
      ledger: outputOf(outputs, 'LedgerTableName'),
    },
    queues: { work: outputOf(outputs, 'WorkQueueUrl'), dlq: outputOf(outputs, 'DeadLetterQueueUrl') },
    ...(rollout === undefined ? {} : { runs: rollout.runs.map(({ tenantReports: _, ...one }) => one) }),
    stack: stackName,
    env: aws.env,
  };
}

/** What a local run says beside the run itself. */
export function textOf({ run, remarks, rowsChecked }: Ended): string {
  const lines = remarks.map((remark) => `- ${remark}`);
  const disturbed = lines.length === 0 ? [] : ['What happened meanwhile:', ...lines, ''];
  return [...disturbed, costOf(run), `Rows compared one by one: ${rowsChecked}`, ''].join('\n');
}

/** The first differences; empty where there is none. */
export function differencesText({ differences }: Ended): string {
  if (differences.length === 0) return '';
  const shown = differences.slice(0, DIFFERENCES_SHOWN).map((difference) => `  ${difference}`);
  const more = differences.length - shown.length;
  const rest = more === 0 ? [] : [`  and ${more} more`];
  return ['NOT AS IT MUST BE:', ...shown, ...rest, ''].join('\n');
}

function costOf({ cost, planned, processed }: RunDetailView): string {
  const records = planned ?? 0;
  if (records === 0 || processed === 0) return `Cost: ${cost.calls} calls, ${cost.writeUnits} write units`;
  const each = (number: number) => (number / records).toFixed(2);
  return `Cost for each planned record: ${each(cost.calls)} calls, ${each(cost.writeUnits)} write units`;
}
