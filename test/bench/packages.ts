import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Item } from '../../lib/local/records.ts';

/** Rows of `packages.csv` as records: id = name, tenant = its first two characters, hold = among the most downloaded. */
export function* packageItems(file: string): Generator<Item> {
  const rows = parse(readFileSync(file), { columns: true }) as Record<string, string>[];
  for (const { name = '', version = '', last_release_month: month = '', download_rank: rank = '' } of rows) {
    yield {
      id: { S: name },
      tenant: { S: name.slice(0, 2) },
      status: { S: 'ACTIVE' },
      version: { S: version },
      ...(month === '' ? {} : { lastActivity: { S: `${month}-01T00:00:00Z` } }),
      ...(rank === '' ? {} : { hold: { S: rank } }),
    };
  }
}
