import type { InspectView } from '../../core/redrive/views.ts';
import { sayAge } from './quarantine.ts';
import { counts, fields, orDash } from './text.ts';

/** One unit with everything that a person needs to decide. */
export function renderInspect(view: InspectView): string {
  const { unit, run, ageHours, messageExpiresAt, cost, split, keys, keysTruncated, redrive, acts } = view;
  return fields([
    ['Unit', `${unit.unit} of run ${run.runId} (${run.kind}, ${run.status}, version ${run.policyVersion})`],
    ['Tenant', unit.tenant],
    ['Cutoff', run.cutoff],
    ['State', `${unit.state} for ${sayAge(ageHours)}, since ${unit.since}`],
    ['Records', String(unit.records)],
    ['Attempts', `${unit.attempts} in generation ${unit.generation}`],
    ['Reason', orDash(unit.reason)],
    ['Error', `${orDash(unit.errorClass)} (${orDash(unit.failureClass)}), request ${orDash(unit.requestId)}`],
    ['Outcomes', counts(unit.outcomes)],
    ...(split.length === 0 ? [] : [['Split', `positions ${split.join(', ')}`] as const]),
    ['Message', messageExpiresAt === null ? 'none known in the dead-letter queue' : `dropped at ${messageExpiresAt}`],
    ['Cost', `calls ${cost.calls}, read units ${cost.readUnits}, write units ${cost.writeUnits}`],
    ['Keys', [...keys, ...(keysTruncated ? ['… and more'] : [])]],
    ['Redrive', `${redrive.verdict}: ${redrive.message}`],
    ...(acts.length === 0
      ? []
      : [['Acts', acts.map(({ act, actor, at, reason }) => `${at} ${act} by ${actor}: ${reason}`)] as const]),
  ]);
}
