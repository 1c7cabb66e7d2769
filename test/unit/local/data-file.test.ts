import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCAL_HOME } from '../../../lib/local/paths.ts';
import { BadData, readDataFile } from '../../../lib/local/up/data-file.ts';

let folder: string;

beforeAll(() => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  folder = mkdtempSync(join(LOCAL_HOME, 'unit-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(content: string | Buffer): string {
  const file = join(folder, 'data.csv');
  writeFileSync(file, content);
  return file;
}

const HEADER = 'id,tenant,last_activity,hold';

describe('a CSV of records', () => {
  it('becomes records: what is empty is missing, further columns are attributes, in any order of columns', async () => {
    const file = fileOf(
      'plan,hold,id,last_activity,tenant\r\n"gold, ""old""\nand two lines",dispute,a,2020-01-01T00:00:00Z,t1\r\n,,b,,t2\r\n',
    );
    expect((await readDataFile(file)).items).toEqual([
      {
        id: { S: 'a' },
        tenant: { S: 't1' },
        status: { S: 'ACTIVE' },
        lastActivity: { S: '2020-01-01T00:00:00Z' },
        hold: { S: 'dispute' },
        plan: { S: 'gold, "old"\nand two lines' },
      },
      { id: { S: 'b' }, tenant: { S: 't2' }, status: { S: 'ACTIVE' } },
    ]);
  });

  it('is read to its last byte: a mark at its start, no newline at its end, characters of several bytes', async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => `id-ä€😀-${n},t,,`);
    const { items } = await readDataFile(fileOf(`\ufeff${[HEADER, ...rows].join('\n')}`));
    expect(items.map(({ id }) => id?.S)).toEqual(rows.map((row) => row.split(',')[0]));
  });

  it('may have no rows, and blank lines', async () => {
    expect((await readDataFile(fileOf(`${HEADER}\n`))).items).toEqual([]);
    expect((await readDataFile(fileOf(`${HEADER}\n\na,t,,\n\n`))).items).toHaveLength(1);
  });

  it('has a digest of its bytes', async () => {
    const first = (await readDataFile(fileOf(`${HEADER}\na,t,,\n`))).digest;
    expect((await readDataFile(fileOf(`${HEADER}\na,t,,\n`))).digest).toBe(first);
    expect((await readDataFile(fileOf(`${HEADER}\r\na,t,,\n`))).digest).not.toBe(first);
  });

  it.each([
    ['', 'line 1: there is no header'],
    [
      'id,tenant,hold\na,t,\n',
      'line 1: the header lacks last_activity; it needs at least id,tenant,last_activity,hold',
    ],
    [`${HEADER},\na,t,,,\n`, 'line 1: column 5 has no name'],
    [`${HEADER},hold\na,t,,,\n`, 'line 1: the column hold is there twice'],
    [`${HEADER},status\na,t,,,\n`, 'line 1: the column status has the name of an attribute that the run itself sets'],
    [`${HEADER}\na,t,,\n,t,,\n`, 'line 3: id is empty'],
    [`${HEADER}\na,t,,\nb,t,,\na,u,,\n`, 'line 4: id "a" is already on line 2'],
    [`${HEADER}\na,t,,\nb,t,\n`, 'line 3: it has 3 values where the header has 4 columns'],
    [`${HEADER}\na,t,,,more\n`, 'line 2: it has 5 values where the header has 4 columns'],
    [`${HEADER}\na,t,"open,\n`, 'line 2'],
    [`${HEADER}\n${'a'.repeat(2_049)},t,,\n`, 'line 2: id is longer than 2048 bytes'],
    [`${HEADER},note\na,t,,,${'n'.repeat(410_000)}\n`, 'line 2: the record is larger than 400 KB'],
    [Buffer.concat([Buffer.from(`${HEADER}\n`), Buffer.from([0xff]), Buffer.from(',t,,\n')]), 'is not UTF-8'],
  ])('is refused, with the line, where it cannot be loaded as it is (%#)', async (content, said) => {
    const refused = await readDataFile(fileOf(content)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BadData);
    expect((refused as Error).message).toContain(said);
  });
});
