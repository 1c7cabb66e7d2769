import type { QuarantineList, RedriveResult } from '../../core/redrive/redrive.ts';
import type { UnitView } from '../../core/views.ts';
import { type Column, table } from './table.ts';
import { counts, fields } from './text.ts';

const UNIT_COLUMNS: readonly Column<UnitView>[] = [
  { title: 'RUN', value: (unit) => unit.runId },
  { title: 'UNIT', value: (unit) => unit.unit },
  { title: 'TENANT', value: (unit) => unit.tenant },
  { title: 'RECORDS', value: (unit) => unit.records },
  { title: 'SINCE', value: (unit) => unit.since },
  { title: 'ATTEMPTS', value: (unit) => unit.attempts },
  { title: 'GENERATION', value: (unit) => unit.generation },
  { title: 'REASON', value: (unit) => unit.reason },
  { title: 'ERROR', value: (unit) => unit.errorClass },
];

const MESSAGE_COLUMNS: readonly Column<QuarantineList['badMessages'][number]>[] = [
  { title: 'UNREADABLE MESSAGE', value: (message) => message.digest },
  { title: 'FIRST SEEN', value: (message) => message.at },
  { title: 'REASON', value: (message) => message.reason },
];

const REDRIVEN_COLUMNS: readonly Column<RedriveResult['redriven'][number]>[] = [
  { title: 'RUN', value: (unit) => unit.runId },
  { title: 'UNIT', value: (unit) => unit.unit },
  { title: 'GENERATION', value: (unit) => unit.generation },
];

export function renderQuarantine({ units, deadLetters, badMessages }: QuarantineList): string {
  const { quarantined, movedByQueue, stale, unreadable } = deadLetters;
  const letters = { quarantined, 'moved by SQS itself': movedByQueue, 'of units that moved on': stale };
  const parts = [
    units.length === 0 ? 'No quarantined units.\n' : table(UNIT_COLUMNS, units),
    fields([
      ['Dead letters', counts(letters)],
      ['Unreadable', counts(unreadable)],
    ]),
  ];
  if (badMessages.length > 0) parts.push(table(MESSAGE_COLUMNS, badMessages));
  return parts.join('\n');
}

export function renderRedrive({ redriven, published, deleted, left }: RedriveResult): string {
  const summary = fields([
    ['Redriven', `units ${redriven.length}`],
    ['Published', `messages ${published}`],
    ['Dead letters', `deleted ${deleted}, left ${left}`],
  ]);
  return redriven.length === 0 ? summary : `${table(REDRIVEN_COLUMNS, redriven)}\n${summary}`;
}
