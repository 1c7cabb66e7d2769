import type { InspectView } from '../../core/redrive/views.ts';
import { sayAge } from './quarantine.ts';
import { counts, fields, orDash } from './text.ts';

type Row = readonly [string, string];

/** A unit that waits for a person stands as it failed; of any other, what it failed of lies behind it. */
function failureRows({ state, reason, errorClass, failureClass, requestId }: InspectView['unit']): readonly Row[] {
  const error = `${orDash(errorClass)} (${orDash(failureClass)}), request ${orDash(requestId)}`;
  if (state === 'quarantined' || state === 'uncertain') {
    return [
      ['Reason', orDash(reason)],
      ['Error', error],
    ];
  }
  // What a cancel closed says so in its state.
  const why = reason === null || reason === state ? [] : [reason];
  const what = errorClass === null ? [] : [error];
  return why.length + what.length === 0 ? [] : [['Last failure', [...why, ...what].join(', ')]];
}

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
    ...(unit.state === 'planned' && unit.notBefore !== null ? [['Due', unit.notBefore] as const] : []),
    ...failureRows(unit),
    ['Outcomes', counts(unit.outcomes)],
    ...(split.length === 0 ? [] : [['Split', `positions ${split.join(', ')}`] as const]),
    [
      'Message',
      messageExpiresAt === null ? 'none known in the dead-letter queue' : `kept until at most ${messageExpiresAt}`,
    ],
    ['Cost', `calls ${cost.calls}, read units ${cost.readUnits}, write units ${cost.writeUnits}`],
    ['Keys', [...keys, ...(keysTruncated ? ['… and more'] : [])]],
    ['Redrive', `${redrive.verdict}: ${redrive.message}`],
    ...(acts.length === 0
      ? []
      : [['Acts', acts.map(({ act, actor, at, reason }) => `${at} ${act} by ${actor}: ${reason}`)] as const]),
  ]);
}
