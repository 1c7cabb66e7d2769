import { createHash, type Hash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { CsvError, type Info, parse } from 'csv-parse';
import { itemSize } from '../../aws/item-size.ts';
import type { Item } from '../records.ts';
import { STATE } from './policy.ts';

/** A CSV that cannot be loaded as it is. Nothing was started. */
export class BadData extends Error {
  override name = 'BadData';
}

export interface DataFile {
  /** Records as they are loaded, in the order of the file. */
  readonly items: readonly Item[];
  /** Of the file's bytes, hexadecimal. */
  readonly digest: string;
}

const COLUMNS = ['id', 'tenant', 'last_activity', 'hold'];
/** Attributes that the mapping or an expiry writes: a column of such a name would be lost under it. */
const TAKEN = ['status', 'lastActivity', 'expiredAt', 'sweepOperationKey'];
const MAX_ROW_CHARACTERS = 1_000_000;
const MAX_KEY_BYTES = 2_048;
const MAX_ITEM_BYTES = 400 * 1_024;

type Row = Readonly<Record<string, string>>;

/** Reads and checks a whole CSV. Throws BadData, which names the line. */
export async function readDataFile(path: string): Promise<DataFile> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new BadData(`${path}: there is no such file.`);
  const hash = createHash('sha256');
  const rows = new Rows(path);
  let header: readonly string[] | undefined;
  const parser = parse({
    columns: (given: string[]) => {
      header = given;
      checkHeader(path, given);
      return given;
    },
    info: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_CHARACTERS,
  });
  try {
    await pipeline(decoded(path, hash), parser, async (parsed: AsyncIterable<{ record: Row; info: Info }>) => {
      for await (const { record, info } of parsed) rows.add(record, info.lines);
    });
  } catch (error) {
    throw error instanceof CsvError ? new BadData(`${path}: line ${lineOf(error)}: ${sayCsv(error)}`) : error;
  }
  if (header === undefined) throw new BadData(`${path}: line 1: there is no header.`);
  return { items: rows.items, digest: hash.digest('hex') };
}

/** Bytes that are no UTF-8 are refused: a key that was read another way than it was meant names another record. */
async function* decoded(path: string, hash: Hash): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk);
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? new BadData(`${path}: the file is not UTF-8 text.`) : error;
  }
}

function checkHeader(path: string, header: readonly string[]): void {
  const bad = (what: string) => new BadData(`${path}: line 1: ${what}`);
  const missing = COLUMNS.filter((column) => !header.includes(column));
  if (missing.length > 0) {
    throw bad(`the header lacks ${missing.join(', ')}; it needs at least ${COLUMNS.join(',')}.`);
  }
  for (const [n, column] of header.entries()) {
    if (column === '') throw bad(`column ${n + 1} has no name.`);
    if (header.indexOf(column) !== n) throw bad(`the column ${column} is there twice.`);
    if (column === '__proto__')
      throw bad('a column cannot be named __proto__: the AWS SDK cannot read such an attribute.');
    if (TAKEN.includes(column))
      throw bad(`the column ${column} has the name of an attribute that the run itself sets.`);
  }
}

class Rows {
  readonly items: Item[] = [];
  readonly #path: string;
  readonly #lines = new Map<string, number>();

  constructor(path: string) {
    this.#path = path;
  }

  add(row: Row, line: number): void {
    const item = itemOf(row);
    const id = row.id ?? '';
    const bad = (what: string) => new BadData(`${this.#path}: line ${line}: ${what}`);
    if (id === '') throw bad('id is empty.');
    const first = this.#lines.get(id);
    if (first !== undefined) throw bad(`id ${JSON.stringify(id)} is already on line ${first}.`);
    if (Buffer.byteLength(id) > MAX_KEY_BYTES) throw bad(`id is longer than ${MAX_KEY_BYTES} bytes.`);
    if (itemSize(item) > MAX_ITEM_BYTES) throw bad(`the record is larger than ${MAX_ITEM_BYTES / 1_024} KB.`);
    this.#lines.set(id, line);
    this.items.push(item);
  }
}

/** What is empty in the file is missing in the record. */
function itemOf({ last_activity: lastActivity = '', ...others }: Row): Item {
  const texts = { ...others, status: STATE.eligible, lastActivity };
  const given = Object.entries(texts).filter(([, text]) => text !== '');
  return Object.fromEntries(given.map(([name, text]) => [name, { S: text }]));
}

function lineOf(error: CsvError): string {
  return typeof error.lines === 'number' ? String(error.lines) : '?';
}

function sayCsv(error: CsvError): string {
  if (error.code !== 'CSV_RECORD_INCONSISTENT_COLUMNS') return error.message;
  const { record, columns } = error as CsvError & { record?: unknown[]; columns?: unknown[] };
  return `it has ${record?.length} values where the header has ${columns?.length} columns.`;
}
