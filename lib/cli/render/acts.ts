import type { ActView, CancelView, MessageAbandonedView, SwitchView } from '../../core/redrive/views.ts';
import { sayAge } from './quarantine.ts';
import { type Column, table } from './table.ts';
import { fields } from './text.ts';

const UNIT_COLUMNS: readonly Column<ActView['units'][number]>[] = [
  { title: 'RUN', value: (unit) => unit.runId },
  { title: 'UNIT', value: (unit) => unit.unit },
  { title: 'GENERATION', value: (unit) => unit.generation },
];

/** Longer lists are for `--json`. */
const UNITS_SHOWN = 50;

function renderUnits(units: ActView['units']): string {
  if (units.length === 0) return '';
  const more =
    units.length > UNITS_SHOWN ? `… and ${units.length - UNITS_SHOWN} more: --json prints all of them.\n` : '';
  return `${table(UNIT_COLUMNS, units.slice(0, UNITS_SHOWN))}${more}\n`;
}

interface RunRow {
  readonly runId: string;
  readonly units: number;
  readonly first: string;
  readonly last: string;
}

const RUN_COLUMNS: readonly Column<RunRow>[] = [
  { title: 'RUN', value: (row) => row.runId },
  { title: 'UNITS', value: (row) => row.units },
  { title: 'FIRST', value: (row) => row.first },
  { title: 'LAST', value: (row) => row.last },
];

/** Units come sorted by run. */
function byRun(units: ActView['units']): readonly RunRow[] {
  const rows = new Map<string, RunRow>();
  for (const { runId, unit } of units) {
    const row = rows.get(runId) ?? { runId, units: 0, first: unit, last: unit };
    rows.set(runId, { ...row, units: row.units + 1, last: unit });
  }
  return [...rows.values()];
}

/** How long it takes until all of the units have come back; that cannot be changed once they are brought back. */
function saySpacing(selected: number, rate: number): string {
  const hours = selected / rate / 3_600;
  const length = hours < 1 / 60 ? `${Math.ceil(hours * 3_600)}s` : sayAge(hours);
  return `${length} for ${selected} units at ${rate} per second`;
}

/** What was chosen and frozen: its units, how many of which run, and the digest that names them. */
export function renderSelected({ units, selected, selection }: ActView, rate: number | undefined): string {
  if (selected === 0) return 'No quarantined unit matches.\n';
  const runs = units.length > 1 ? `${table(RUN_COLUMNS, byRun(units))}\n` : '';
  return `${renderUnits(units)}${runs}${fields([
    ['Selected', `units ${selected}`],
    ...(rate === undefined ? [] : [['Spacing', saySpacing(selected, rate)] as const]),
    ['Selection', selection],
  ])}`;
}

/** Why units that matched were not chosen, and how to choose them all the same. */
export function sayLeftOut({ permanent, generations, cancelledRun }: ActView['leftOut']): readonly string[] {
  return [
    ...(permanent > 0
      ? [
          `Left out: ${permanent} units that failed for good. Mend the cause, then name them: --error-class, --quarantine-reason or --run with --unit.`,
        ]
      : []),
    ...(generations > 0
      ? [`Left out: ${generations} units at their last generation. --beyond-generation-cap brings them back once more.`]
      : []),
    ...(cancelledRun > 0
      ? [`Left out: ${cancelledRun} units of a run that was cancelled. They can only be abandoned.`]
      : []),
  ];
}

/** What was done. */
export function renderAct({ act, units, moved, published, deleted, selection, paceEndsAt }: ActView): string {
  return `${renderUnits(units)}${fields([
    [act === 'redrive' ? 'Redriven' : 'Abandoned', `units ${moved}`],
    ...(act === 'redrive' ? [['Published', `messages ${published}`] as const] : []),
    ...(paceEndsAt === null ? [] : [['Last one due', paceEndsAt] as const]),
    ['Dead letters', `deleted ${deleted}`],
    ['Selection', selection],
  ])}`;
}

export function renderMessage({ message, deleted }: MessageAbandonedView): string {
  return fields([
    ['Abandoned', `message ${message}`],
    ['Dead letters', `deleted ${deleted}`],
  ]);
}

export function renderSwitch({ policyId, paused, intake, published }: SwitchView): string {
  return fields([
    ['Policy', policyId],
    ['State', paused === null ? 'not paused' : `paused since ${paused.since} by ${paused.actor}`],
    ...(paused === null ? [] : [['Reason', paused.reason] as const]),
    [
      'Event source',
      intake === 'settled' ? (paused === null ? 'on' : 'off') : 'not switched yet: the reconciler does it',
    ],
    ...(published > 0 ? [['Published', `messages ${published}`] as const] : []),
  ]);
}

export function renderCancel({ runId, closedUnits }: CancelView): string {
  return fields([
    ['Cancelled', `run ${runId}`],
    ['Closed', `units ${closedUnits}; those that were never started need nothing`],
  ]);
}
