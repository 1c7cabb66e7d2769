import { orDash, safe } from './text.ts';

export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => string | number | null;
}

/** Columns two spaces apart, numbers to the right; a row per line. */
export function table<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const cells = rows.map((row) => columns.map(({ value }) => value(row)));
  const texts = cells.map((row) => row.map((cell) => safe(orDash(cell))));
  const right = columns.map((_, n) => cells.some((row) => typeof row[n] === 'number'));
  const widths = columns.map(({ title }, n) => Math.max(title.length, ...texts.map((row) => row[n]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, n) => (right[n] ? cell.padStart(widths[n] ?? 0) : cell.padEnd(widths[n] ?? 0)))
      .join('  ')
      .trimEnd();
  return [columns.map(({ title }) => title), ...texts].map((row) => `${line(row)}\n`).join('');
}
