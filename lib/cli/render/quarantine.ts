import type { OpenUnitView, QuarantineGroup, QuarantineView } from '../../core/redrive/views.ts';
import { type Column, table } from './table.ts';
import { fields } from './text.ts';

const HOUR_MILLIS = 3_600_000;

/** A length of time in its largest unit, such as `3d` or `90m`. */
export function sayAge(hours: number): string {
  if (hours >= 48) return `${Math.floor(hours / 24)}d`;
  return hours >= 2 ? `${Math.floor(hours)}h` : `${Math.max(0, Math.floor(hours * 60))}m`;
}

function hoursBetween(from: string, until: string): number {
  return (Date.parse(until) - Date.parse(from)) / HOUR_MILLIS;
}

/** How long the message is still there, if nobody purges the queue; the ledger entry outlives it. */
function timeLeft(expiresAt: string | null, now: string): string {
  if (expiresAt === null) return 'no message';
  const hours = hoursBetween(now, expiresAt);
  return hours <= 0 ? 'dropped' : sayAge(hours);
}

function groupColumns(now: string): readonly Column<QuarantineGroup>[] {
  return [
    { title: 'REASON', value: (group) => group.reason },
    { title: 'ERROR', value: (group) => group.errorClass },
    { title: 'CLASS', value: (group) => group.failureClass },
    { title: 'UNITS', value: (group) => group.units },
    { title: 'RECORDS', value: (group) => group.records },
    { title: 'OLDEST', value: (group) => sayAge(hoursBetween(group.oldest, now)) },
    { title: 'NEWEST', value: (group) => sayAge(hoursBetween(group.newest, now)) },
    { title: 'MESSAGE LEFT AT MOST', value: (group) => timeLeft(group.firstMessageExpiresAt, now) },
  ];
}

function unitColumns(now: string): readonly Column<OpenUnitView>[] {
  return [
    { title: 'RUN', value: (unit) => unit.runId },
    { title: 'UNIT', value: (unit) => unit.unit },
    { title: 'TENANT', value: (unit) => unit.tenant },
    { title: 'STATE', value: (unit) => unit.state },
    { title: 'RECORDS', value: (unit) => unit.records },
    { title: 'AGE', value: (unit) => sayAge(unit.ageHours) },
    { title: 'ATTEMPTS', value: (unit) => unit.attempts },
    { title: 'GENERATION', value: (unit) => unit.generation },
    { title: 'REASON', value: (unit) => unit.reason },
    { title: 'ERROR', value: (unit) => unit.errorClass },
    { title: 'MESSAGE LEFT AT MOST', value: (unit) => timeLeft(unit.messageExpiresAt, now) },
  ];
}

const MESSAGE_COLUMNS: readonly Column<QuarantineView['badMessages'][number]>[] = [
  { title: 'UNREADABLE MESSAGE', value: (message) => message.digest },
  { title: 'FIRST SEEN', value: (message) => message.at },
  { title: 'REASON', value: (message) => message.reason },
];

/** `detail`: whether single units are shown beside the groups. `now` is ISO-8601. */
export function renderQuarantine(view: QuarantineView, detail: 'groups' | 'units', now: string): string {
  const { groups, listed, badMessages, badMessagesTruncated, queues, paused, units, records } = view;
  const parts = [
    groups.length === 0 ? 'No quarantined units.\n' : table(groupColumns(now), groups),
    ...(detail === 'units' && listed.length > 0 ? [table(unitColumns(now), listed)] : []),
    ...(badMessages.length > 0 ? [table(MESSAGE_COLUMNS, badMessages)] : []),
    fields([
      ['Quarantined', `units ${units}, records ${records}`],
      ...(badMessages.length === 0
        ? []
        : [['Unreadable', `messages ${badMessages.length}${badMessagesTruncated ? ' and more' : ''}`] as const]),
      ['Queues', `work ${queues.work}, dead letters ${queues.deadLetter}`],
      ['Policy', paused === null ? 'not paused' : `paused since ${paused.since} by ${paused.actor}: ${paused.reason}`],
    ]),
  ];
  return parts.join('\n');
}
