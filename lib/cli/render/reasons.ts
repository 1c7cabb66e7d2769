import type { RunNote } from '../../core/ledger/items.ts';
import type { Problem } from '../../core/policy/parse.ts';

/** What speaks against a run, and what a person should know of it. */
interface Judged {
  readonly refusals: readonly Problem[];
  readonly notes: readonly RunNote[];
}

/** Rows of `fields`: each reason is a line; a row without any is left out. */
export function reasons({ refusals, notes }: Judged): [string, string[]][] {
  const rows: [string, string[]][] = [
    ['Refused', refusals.map(sayProblem)],
    ['Notes', notes.map(sayNote)],
  ];
  return rows.filter(([, lines]) => lines.length > 0);
}

/** A problem's message names what was received wherever that helps; the parameter stands before it. */
export function sayProblem({ parameter, message }: Problem): string {
  return message.startsWith(parameter) ? message : `${parameter}: ${message}`;
}

function sayNote({ note, message }: RunNote): string {
  return note === 'cap_would_refuse' ? `An enforcing run would be refused: ${message}` : message;
}
