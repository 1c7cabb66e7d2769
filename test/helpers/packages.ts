import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** One row of packages.csv: real input that nobody made up. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** `YYYY-MM`, or empty. */
  readonly month: string;
  readonly rank: string;
}

const EXCERPT = resolve(import.meta.dirname, '../fixtures/packages-excerpt.csv');
const FULL = resolve(import.meta.dirname, '../../../shared/data/packages.csv');

/** The whole file where it is beside the checkout, else the excerpt that is committed. */
export const PACKAGES = existsSync(FULL) ? { which: 'full', file: FULL } : { which: 'excerpt', file: EXCERPT };
export const PACKAGES_EXCERPT = EXCERPT;

/** No value of the file has a comma or a quote in it. */
export function readPackages(file: string): readonly Package[] {
  const [header, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  if (header !== 'name,version,last_release_month,download_rank') throw new Error(`${file} is another file.`);
  return lines.map((line) => {
    const [name = '', version = '', month = '', rank = '', ...more] = line.split(',');
    if (name === '' || more.length > 0 || line.includes('"')) throw new Error(`${file}: ${line}`);
    return { name, version, month, rank };
  });
}

const lastActivity = ({ month }: Package) => (month === '' ? '' : `${month}-01T00:00:00Z`);
const tenant = ({ name }: Package) => name.slice(0, 2);

/** Writes the rows as a local run reads them. */
export function writeLocalCsv(packages: readonly Package[], file: string): void {
  const lines = packages.map((row) => [row.version, lastActivity(row), row.name, row.rank, tenant(row)].join(','));
  writeFileSync(file, `${['version,last_activity,id,hold,tenant', ...lines].join('\n')}\n`);
}

/** How a record stands to a cutoff, by its row alone. */
export type Standing = 'due' | 'held' | 'unreadable' | 'at-cutoff' | 'newer';

/** `cutoff` is an instant in whole seconds, like 2022-01-01T00:00:00Z; text order is time order for these. */
export function standingOf(row: Package, cutoff: string): Standing {
  const at = lastActivity(row);
  if (at === '') return 'unreadable';
  if (at === cutoff) return 'at-cutoff';
  if (at > cutoff) return 'newer';
  return row.rank === '' ? 'due' : 'held';
}

export function countStandings(packages: readonly Package[], cutoff: string): Record<Standing, number> {
  const counts = { due: 0, held: 0, unreadable: 0, 'at-cutoff': 0, newer: 0 };
  for (const row of packages) counts[standingOf(row, cutoff)] += 1;
  return counts;
}

export type Attributes = Readonly<Record<string, { readonly S: string }>>;

/** What the table must hold, by id; the time of expiry, which the file cannot tell, is left out. */
export function expectedTable(packages: readonly Package[], cutoffs: readonly string[]): Map<string, Attributes> {
  return new Map(
    packages.map((row) => {
      const texts = {
        id: row.name,
        tenant: tenant(row),
        version: row.version,
        lastActivity: lastActivity(row),
        hold: row.rank,
        status: 'ACTIVE',
      };
      // Of several runs in this order, the first that finds it due expires it.
      const cutoff = cutoffs.find((one) => standingOf(row, one) === 'due');
      const expired = cutoff && { status: 'EXPIRED', sweepOperationKey: operationKeyOf(row.name, cutoff) };
      const given = Object.entries({ ...texts, ...expired }).filter(([, text]) => text !== '');
      return [row.name, Object.fromEntries(given.map(([name, text]) => [name, { S: text }]))];
    }),
  );
}

/** By the definition and not by the code under test: SHA-256 over parts behind their lengths, 128 bits of it. */
function operationKeyOf(name: string, cutoff: string): string {
  const hash = createHash('sha256');
  for (const part of ['operation', 'local-data', 'v1', `["S${name}"]`, String(Date.parse(cutoff)), 'expire']) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(part));
    hash.update(length).update(part);
  }
  return hash.digest().subarray(0, 16).toString('base64url');
}
