import type { Problem } from '../../core/policy/parse.ts';
import type { PreflightView } from '../../core/views.ts';
import { fields } from './text.ts';

export function renderPreflight({ runId, problems }: PreflightView): string {
  if (problems.length === 0) return fields([['Preflight', `passed: nothing speaks against run ${runId} so far`]]);
  const summary = fields([['Preflight', `refused: run ${runId} would change nothing`]]);
  return [summary, ...problems.map(renderProblem)].join('\n');
}

function renderProblem({ parameter, received, message }: Problem): string {
  return fields([
    ['Parameter', parameter],
    ['Received', received],
    ['Problem', message],
  ]);
}
