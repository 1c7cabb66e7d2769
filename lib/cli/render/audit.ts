import type { AuditEntryView, AuditView } from '../../core/redrive/views.ts';
import { fields } from './text.ts';

const UNITS_SHOWN = 20;

function sayConfirmation({ confirmedBy: { event, requestId }, at }: AuditEntryView): string {
  if (requestId !== null) return `${event} with request id ${requestId}, where CloudTrail logs data events of Lambda`;
  return `${event} of about ${at ?? 'that time'}`;
}

function sayUnits(units: readonly string[]): string {
  const more = units.length > UNITS_SHOWN ? ` and ${units.length - UNITS_SHOWN} more` : '';
  return units.length === 0 ? 'none by name' : `${units.slice(0, UNITS_SHOWN).join(', ')}${more}`;
}

function renderEntry(entry: AuditEntryView): string {
  const { number, act, actor, reason, at, units, selection, hash, damaged } = entry;
  return fields([
    [`#${number ?? '?'}`, `${act} at ${at ?? 'a time that cannot be read'}`],
    ['  actor', actor],
    ['  reason', reason],
    ['  units', sayUnits(units)],
    ...(selection === null ? [] : [['  selection', selection] as const]),
    ['  hash', hash],
    ...(damaged.length === 0 ? [] : [['  damaged', damaged.join(', ')] as const]),
    ['  CloudTrail', sayConfirmation(entry)],
  ]);
}

/** Every entry, and then whether the trail holds. */
export function renderAudit({ scope, head, entries, faults, verified }: AuditView): string {
  const verdict: readonly (readonly [string, string | readonly string[]])[] = [
    ['Trail', `${scope}: ${head.count} entries`],
    verified ? ['Verified', 'yes: every entry is as it was written, in order, up to the head'] : ['Verified', 'NO'],
    ...(verified ? [] : [['Faults', faults.map(({ message }) => message)] as const]),
  ];
  return [...entries.map(renderEntry), fields(verdict)].join('\n');
}
