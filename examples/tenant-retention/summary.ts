import type { StepEnd } from './rollout.ts';

/** What became of each step, for people. */
export function say(ends: readonly StepEnd[]): string {
  return ends
    .map((end, n) => [`${n + 1}. ${end.step.title}`, ...sayStep(end)].join('\n   '))
    .join('\n\n')
    .concat('\n');
}

function sayStep({ run, path, groups, completions }: StepEnd): readonly string[] {
  const { window, outcomes } = run;
  const became = Object.entries(outcomes).map(([outcome, count]) => `${outcome} ${count}`);
  const measured = run.kind === 'delete' ? 'time of expiry' : 'last update';
  return [
    `run ${run.runId}: ${run.status}, ${run.action} in mode ${run.mode}`,
    `due: ${measured} before ${run.cutoff}${window === null ? '' : `, at most ${window.days} days`}`,
    `discovered ${run.discovered} = planned ${run.planned} + held ${run.held}; unreadable ${run.unreadable}`,
    ...(became.length === 0 ? [] : [`planned ${run.planned} = ${became.join(' + ')}`]),
    `meanwhile the shipment path had ${path.acknowledged} updates acknowledged, ${path.ofPlanned} of them of planned records; ${path.tooLate} came too late`,
    ...(completions.length === 0 ? [] : sayTenants(groups, completions)),
  ];
}

function sayTenants(groups: number, completions: StepEnd['completions']): readonly string[] {
  const order = completions.map(({ tenant, records, seconds }) => `${tenant} (${records}) ${seconds.toFixed(1)} s`);
  return [
    `message groups in the work queue: ${groups}, one for each of ${completions.length} tenants`,
    `tenants by the end of their last batch: ${order.join(', ')}`,
  ];
}
