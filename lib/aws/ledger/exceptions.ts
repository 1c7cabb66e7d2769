import type { Exceptions } from '../../core/ledger/items.ts';
import { OUTCOMES, type Outcome } from '../../core/ledger/outcomes.ts';

/** Exceptions as text, positions as ranges: `state_changed:0-5,9;held:12`. */
export function encodeExceptions(exceptions: Exceptions): string {
  return OUTCOMES.flatMap((outcome) => {
    const positions = exceptions[outcome];
    return positions === undefined ? [] : [`${outcome}:${rangesOf(positions)}`];
  }).join(';');
}

export function decodeExceptions(encoded: string): Exceptions {
  const exceptions: { [K in Outcome]?: number[] } = {};
  for (const part of encoded.split(';')) {
    const [outcome, ranges = ''] = part.split(':');
    if (OUTCOMES.includes(outcome as Outcome)) exceptions[outcome as Outcome] = positionsOf(ranges);
  }
  return exceptions;
}

/** Positions in ascending order as ranges: `0-5,9`. */
export function rangesOf(positions: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const position of [...positions].sort((a, b) => a - b)) {
    const open = ranges.at(-1);
    if (open?.last === position - 1) open.last = position;
    else ranges.push({ first: position, last: position });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

export function positionsOf(ranges: string): number[] {
  if (ranges === '') return [];
  return ranges.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
