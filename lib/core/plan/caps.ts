import type { PlanTotals, RunItem, RunNote } from '../ledger/items.ts';
import type { Problem } from '../policy/parse.ts';
import type { Settings } from '../policy/settings.ts';
import type { EarlierRun } from './history.ts';

/** Above this share of unreadable records the format is wrong rather than the records. */
const UNREADABLE_SHARE_PERCENT = 1;

/** So many complete runs make a median worth comparing with; fewer records than this are never a deviation. */
const RUNS_FOR_MEDIAN = 3;
const DEVIATION_FLOOR_RECORDS = 100;

function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(1)} %`;
}

/** Timestamps of the wrong unit or type show as many unreadable records: the plan is then not to be trusted. */
export function unreadableProblems(plan: PlanTotals, settings: Settings): readonly Problem[] {
  if (plan.unreadable === null || plan.examined === null) return [];
  const unreadable = Object.values(plan.unreadable).reduce((sum, count) => sum + count, 0);
  if (unreadable * 100 <= plan.examined * UNREADABLE_SHARE_PERCENT) return [];
  const reasons = Object.entries(plan.unreadable).map(([reason, count]) => `${reason} ${count}`);
  return [
    {
      parameter: 'TimestampFormat',
      received: settings.timestampFormat,
      message: `TimestampFormat ${settings.timestampFormat}: ${unreadable} of ${plan.examined} records (${percent(unreadable, plan.examined)}, more than ${UNREADABLE_SHARE_PERCENT} %) have no readable timestamp or tenant (${reasons.join(', ')}). Is it the right attribute and unit? Received ${settings.timestampFormat}.`,
    },
  ];
}

function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Caps that the plan trips, each with the numbers and the parameter. */
export function capProblems(
  plan: PlanTotals,
  run: Pick<RunItem, 'settings' | 'kind'>,
  earlier: readonly EarlierRun[],
): readonly Problem[] {
  const { capRecords, capSharePercent, capDeviationFactor } = run.settings;
  const found = plan.records + plan.overLimit;
  const problems: Problem[] = [];
  if (capRecords !== null && plan.records > capRecords) {
    problems.push({
      parameter: 'CapRecords',
      received: String(capRecords),
      message: `CapRecords ${capRecords}: the plan has ${plan.records} records. Nothing was published.`,
    });
  }
  if (capSharePercent !== null && plan.examined !== null && found * 100 > plan.examined * capSharePercent) {
    problems.push({
      parameter: 'CapSharePercent',
      received: String(capSharePercent),
      message: `CapSharePercent ${capSharePercent}: ${found} of ${plan.examined} records (${percent(found, plan.examined)}) are due. Nothing was published.`,
    });
  }
  const complete = earlier.filter(({ status, kind }) => status === 'complete' && kind === run.kind);
  if (capDeviationFactor !== null && complete.length >= RUNS_FOR_MEDIAN && found > DEVIATION_FLOOR_RECORDS) {
    const usual = median(complete.map(({ planned }) => planned).sort((a, b) => a - b));
    if (found > capDeviationFactor * usual) {
      problems.push({
        parameter: 'CapDeviationFactor',
        received: String(capDeviationFactor),
        message: `CapDeviationFactor ${capDeviationFactor}: ${found} records are due where the median of ${complete.length} earlier complete runs is ${usual}. Nothing was published.`,
      });
    }
  }
  return problems;
}

/** What a person should know about a run even where nothing is wrong with it. */
export function historyNotes(
  plan: PlanTotals,
  { kind }: Pick<RunItem, 'kind'>,
  earlier: readonly EarlierRun[],
): readonly RunNote[] {
  if (earlier.length === 0) {
    return [
      {
        note: 'first_run',
        message: 'This is the first run of the policy: there is no earlier run to compare it with.',
      },
    ];
  }
  // Another kind of run looks for records in another state.
  const before = earlier.find((run) => run.kind === kind && (run.examined ?? run.planned) > 0);
  if (before === undefined || (plan.examined ?? plan.discovered) > 0) return [];
  const then = before.examined ?? before.planned;
  return [
    {
      note: 'empty_where_records_were',
      message: `No record was found where run ${before.runId} found ${then}: is this still the right table, state and index?`,
    },
  ];
}
