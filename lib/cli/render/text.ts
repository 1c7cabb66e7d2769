// Control characters, and those that turn the direction of text: an id that holds them could rewrite the terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Text on one line, with what could move the cursor or forge a line spelled out (pitfall P76). */
export function safe(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** One JSON value, indented; ends with a newline. */
export function json(value: unknown): string {
  // JSON itself leaves the characters above U+007F as they are.
  return `${JSON.stringify(value, null, 2).replace(UNSAFE, (c) => (c === '\n' ? c : escaped(c)))}\n`;
}

/** Lines `label  value`, values aligned. A value may be several lines. */
export function fields(rows: readonly (readonly [string, string | readonly string[]])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  return rows
    .flatMap(([label, value]) =>
      [value].flat().map((line, n) => `${(n === 0 ? label : '').padEnd(width)}${safe(line)}`.trimEnd()),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** `-` for what is not known yet. */
export function orDash(value: string | number | null): string {
  return value === null ? '-' : String(value);
}

/** Counts by name, as in `expired 5, held 1`; what did not occur is left out. */
export function counts(byName: Readonly<Record<string, number | undefined>>): string {
  const occurred = Object.entries(byName).filter(([, count]) => count !== undefined && count > 0);
  return occurred.length === 0 ? 'none' : occurred.map(([name, count]) => `${name} ${count}`).join(', ');
}
