/** A claim that a figure must keep. */
export type Bound = { readonly atMost: number } | { readonly atLeast: number };

/** One measured number. A bound is checked wherever the part ran at a size that can show it. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bound?: Bound;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface Measured {
  readonly figures: readonly Figure[];
  readonly tables: readonly Table[];
}

/** `full` is what docs/benchmarks.md tells; `quick` is a fifth of it or less; `tiny` only shows that a part runs. */
export type Scale = 'full' | 'quick' | 'tiny';

export interface Part {
  readonly name: string;
  readonly about: string;
  measure(scale: Scale): Promise<Measured>;
}

/** The sentence that says what is wrong with a figure; undefined where it keeps its bound, or has none. */
export function violation({ what, value, unit, bound }: Figure): string | undefined {
  if (bound === undefined) return undefined;
  const kept = 'atMost' in bound ? value <= bound.atMost : value >= bound.atLeast;
  // A number that is none keeps no bound.
  return kept ? undefined : `${what}: ${shown(value)} ${unit}, where the bound is ${boundText(bound)}.`;
}

export function boundText(bound: Bound): string {
  return 'atMost' in bound ? `at most ${shown(bound.atMost)}` : `at least ${shown(bound.atLeast)}`;
}

/** Up to four significant digits, and never fewer than the whole number has. */
export function shown(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en-US');
  const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
  return value
    .toFixed(Math.min(4, digits))
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

/** As Markdown, so that the guide shows what was printed. */
export function render({ figures, tables }: Measured): string {
  const bounds = {
    title: 'Figures',
    columns: ['figure', 'value', 'unit', 'bound'],
    rows: figures.map(({ what, value, unit, bound }) => [what, value, unit, bound ? boundText(bound) : '–']),
  };
  return [...tables, ...(figures.length > 0 ? [bounds] : [])].map(tableText).join('\n\n');
}

function tableText({ title, columns, rows }: Table): string {
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map((cell) => (typeof cell === 'number' ? shown(cell) : cell)).join(' | ')} |`;
  return [`**${title}**`, '', line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
