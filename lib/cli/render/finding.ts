import type { UnitState } from '../../core/ledger/lifecycle.ts';
import type { Outcome } from '../../core/ledger/outcomes.ts';
import type { ExplainView } from '../../core/read/explain-view.ts';
import type { Finding, NotPlanned } from '../../core/read/finding.ts';
import { counts } from './text.ts';

const SKIPPED: Readonly<Partial<Record<Outcome, string>>> = {
  state_changed:
    'Not changed: when its turn came it was no longer as planned (its state, its timestamp or its expiry was another).',
  held: 'Not changed: a hold stood on it when its turn came.',
  absent: 'Not changed: it was no longer there when its turn came.',
};

/** `unit`: what the record is worked on as, such as `its batch`. */
const UNSETTLED: Readonly<Record<UnitState, (unit: string) => string>> = {
  planned: (unit) => `Not done yet: ${unit} is planned and not sent.`,
  published: (unit) => `Not done yet: ${unit} is in the work queue.`,
  in_progress: (unit) => `Not done yet: ${unit} has been started and is not committed.`,
  uncertain: (unit) => `Unknown: ${unit} ended without an answer, and a person has to resolve it.`,
  committed: (unit) => `${capital(unit)} is committed.`,
  quarantined: (unit) => `${capital(unit)} is quarantined.`,
  abandoned: (unit) => `Not changed: a person abandoned ${unit}.`,
  cancelled: () => 'Not changed: the run was cancelled before its turn came.',
};

/** A record that failed alone is a unit of its own, and its batch may be done. */
function unitOf({ planned }: ExplainView): string {
  const name = planned?.unit?.unit;
  return name === undefined || name === planned?.batch ? 'its batch' : `its unit ${name}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const NOT_PLANNED: Readonly<Record<NotPlanned, (view: ExplainView) => string>> = {
  plan_not_frozen: ({ status }) => `The run has no frozen plan (it is ${status}): nothing can be said yet.`,
  absent: () => 'There is no such record now.',
  not_a_key: () => 'The record table has no keys of this form.',
  unreachable: ({ recordNow }) => `Why not cannot be said: the record could not be read (${recordNow.error}).`,
  other_state: ({ recordNow, rule }) =>
    `As it is now: its state is ${quoted(recordNow.state)}, and only ${quoted(rule.state)} is eligible.`,
  unreadable: ({ finding, rule }) => {
    const reason = finding.kind === 'not_planned' ? finding.unreadable : null;
    const what = reason === 'tenant_unreadable' ? rule.settings.tenantAttribute : rule.timestampAttribute;
    return `As it is now: its ${what} is unreadable (${reason}), and such a record is never touched.`;
  },
  at_cutoff: ({ rule }) => `As it is now: its timestamp is exactly the cutoff ${rule.cutoff}, which is exclusive.`,
  newer: ({ recordNow, rule }) =>
    `As it is now: its timestamp ${recordNow.timestamp} is after the cutoff ${rule.cutoff}.`,
  before_window: ({ recordNow, rule }) =>
    `As it is now: its timestamp ${recordNow.timestamp} is before ${rule.window?.from}, where the window begins. It waits for a run with a wider one.`,
  not_expired_by_us: ({ recordNow }) =>
    recordNow.operationKey === null
      ? 'As it is now: it carries no operation key, and only what an earlier run of this policy expired is deleted.'
      : 'As it is now: no earlier run of this policy gave it the operation key that it carries, and only what one expired is deleted.',
  perhaps_over_limit: ({ overLimit, rule }) =>
    `As it is now it would be due, and the run counted ${overLimit} due records over its limit of ${rule.settings.recordsPerRun}: it may be one of them. The next run finds it.`,
  held: ({ recordNow }) => `As it is now: it is held back by ${recordNow.heldBy.join(', ')}.`,
  due: () =>
    'As it is now it would be due: at the time of the plan it was another, or the index that was read did not show it.',
};

/** The answer of `explain`, in a sentence or two. */
export function sayFinding(view: ExplainView): string {
  const { finding, runId, planned } = view;
  switch (finding.kind) {
    case 'changed':
      return sayChanged(view, finding);
    case 'skipped':
      return SKIPPED[finding.outcome] ?? `Not changed: ${finding.outcome}.`;
    case 'outcome_not_kept':
      return (
        'Its batch is committed, but what became of this record is not kept: the batch had more exceptions than its ' +
        "item holds, so only their counts are. The record does not carry this run's key now."
      );
    case 'quarantined':
      return (
        `Not changed so far: ${unitOf(view)} is quarantined (${finding.reason ?? 'no reason'}, ` +
        `${finding.errorClass ?? 'no error'}). It comes back with: sweep redrive --run ${runId} ` +
        `--unit ${planned?.unit?.unit ?? '…'} --reason "…"`
      );
    case 'deleted_or_gone':
      return `Removed: its batch is committed and counts only such records (${counts(planned?.unit?.outcomes ?? {})}). Which of them this one is, is not kept. ${GONE}${again(view)}`;
    case 'refused':
      return 'Not changed: the run was refused, so nothing was published.';
    case 'given_up':
    case 'unsettled':
      return UNSETTLED[finding.state](unitOf(view));
    case 'reported':
      return 'Not changed: the run was report-only. An enforcing run would have changed it.';
    case 'not_planned':
      return `Not in the plan of run ${runId}. ${NOT_PLANNED[finding.because](view)}`;
  }
}

const GONE = 'Gone: it was no longer there at a try after one whose answer was lost, which may have deleted it.';

function sayChanged(view: ExplainView, finding: Extract<Finding, { kind: 'changed' }>): string {
  const { planned, recordNow } = view;
  const changed = `Changed by this run: ${finding.outcome}.`;
  if (finding.outcome === 'gone') return `Counted as deleted. ${GONE}${again(view)}`;
  if (finding.outcome === 'deleted') return `${changed}${again(view)}`;
  if (finding.saidBy === 'record') {
    const why =
      planned?.state === 'committed' ? `kept only the counts of ${unitOf(view)}` : `has ${unitOf(view)} not committed`;
    return `${changed} The ledger ${why}; the record itself carries this run's key.`;
  }
  if (recordNow.kind === 'absent') return `${changed} The record has been removed since.`;
  const overwritten = recordNow.kind === 'present' && !recordNow.carriesOurKey;
  return overwritten ? `${changed} The record no longer carries this run's key: it was changed again since.` : changed;
}

/** Of a record that was removed. */
function again({ recordNow }: ExplainView): string {
  return recordNow.kind === 'present' ? ' A record of the same key is there now: it was made anew since.' : '';
}

function quoted(text: string | null): string {
  return text === null ? 'missing' : JSON.stringify(text);
}
