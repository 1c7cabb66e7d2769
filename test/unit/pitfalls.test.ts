import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const IDS = [
  ...['P1', 'P3', 'P5', 'P6', 'P8', 'P9', 'P11', 'P13', 'P14', 'P15', 'P17', 'P19', 'P20', 'P22', 'P25', 'P26'],
  ...['P27', 'P29', 'P30', 'P31', 'P32', 'P34', 'P35', 'P37', 'P39', 'P40', 'P41', 'P42', 'P43', 'P45', 'P47'],
  ...['P49', 'P50', 'P52', 'P53', 'P55', 'P57', 'P58', 'P59', 'P61', 'P63', 'P64', 'P65', 'P67', 'P69', 'P70'],
  ...['P72', 'P73', 'P74', 'P76'],
];

const testFolder = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${testFolder}/pitfalls.md`, 'utf8');

/** Literal first arguments of `it`, `test` and `describe`, their variants and the calls that `each` returns. */
const TITLE = /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\s*\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;

function idsIn(text: string): readonly string[] {
  return text.match(/\bP\d+\b/g) ?? [];
}

function idsNamedByTests(): ReadonlySet<string> {
  const files = readdirSync(testFolder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const titles = files
    .filter((name) => !name.endsWith('pitfalls.test.ts'))
    .flatMap((name) =>
      [...readFileSync(`${testFolder}/${name}`, 'utf8').matchAll(TITLE)].map(([, , title]) => title ?? ''),
    );
  return new Set(titles.flatMap(idsIn));
}

/** Rows of the table under a heading of the page, as cells. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  const rows = (section ?? '').split('\n').filter((line) => /^\| P\d+ \|/.test(line));
  return rows.map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

function idsUnder(heading: string): readonly string[] {
  return rowsUnder(heading).map(([id]) => id ?? '');
}

const named = idsNamedByTests();
const leftOut = idsUnder('Left out');

describe('pitfalls', () => {
  it('are explained, each once and no others', () => {
    expect(idsUnder('What the ids mean')).toEqual(IDS);
  });

  it('are each in a test’s name or left out with a reason', () => {
    expect(IDS.filter((id) => !named.has(id) && !leftOut.includes(id))).toEqual([]);
  });

  it('are not left out where a test names them', () => {
    expect(leftOut.filter((id) => named.has(id))).toEqual([]);
  });

  it('are known where a test or a list names them', () => {
    const lists = [...leftOut, ...idsUnder('Covered in part')];
    expect([...named, ...lists].filter((id) => !IDS.includes(id))).toEqual([]);
    expect(new Set(leftOut).size).toBe(leftOut.length);
  });

  it('are covered in part only where a test names them', () => {
    const inPart = idsUnder('Covered in part');
    expect(inPart.length).toBeGreaterThan(0);
    expect(inPart.filter((id) => !named.has(id))).toEqual([]);
  });

  it('are left out with a why and with what they come', () => {
    for (const row of [...rowsUnder('Left out'), ...rowsUnder('Covered in part')]) {
      expect(row, row[0]).toHaveLength(3);
      for (const cell of row) expect(cell, row[0]).not.toBe('');
    }
  });

  it('are found in titles of every form, and nowhere else', () => {
    const source = [
      "it('P1: a', () => {}); // it is P2",
      'describe.skip(\n  `P3 and P4`, () => {});',
      "it.each([['P5']])('P6: %s', () => {});",
      'test.for<string>(["P7"])("P8 isn\'t", () => {});',
      "expect(x).toBe('P9');",
    ].join('\n');
    const found = [...source.matchAll(TITLE)].flatMap(([, , title]) => idsIn(title ?? ''));
    expect(found).toEqual(['P1', 'P3', 'P4', 'P6', 'P8']);
  });
});
