import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_COST } from '../../../lib/core/cost/cost.ts';
import { PRICES } from '../../../lib/core/cost/prices.ts';
import { quoteOf } from '../../../lib/core/cost/quote.ts';
import { SETTING_KEYS, SETTINGS } from '../../../lib/core/policy/settings.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/scale.md'), 'utf8');
const RECORDS = 100_000_000;

function dollarsAt(batchSize: number): number {
  const batches = Math.ceil(RECORDS / batchSize);
  const targetCalls = batches * Math.ceil(batchSize / 25);
  return quoteOf({ batches, targetCalls, recordWriteUnits: RECORDS, rate: 'unlimited' }, NO_COST).dollars;
}

describe('the page on scale', () => {
  it('says the dollars that the quote says', () => {
    const [full, small, tiny] = [1_000, 75, 10].map((size) => Math.round(dollarsAt(size)));
    expect(PAGE.replaceAll('\n', ' ')).toContain(
      `${full} dollars in request units for full batches of 1,000, ${small} for batches of 75, ${tiny} for batches of ten`,
    );
    expect(PAGE).toContain(PRICES.version);
    expect((RECORDS / 1e6) * PRICES.perMillionWriteUnits).toBe(62.5);
  });

  it('names parameters that there are', () => {
    const known = new Set<string>(SETTING_KEYS.map((key) => SETTINGS[key].parameter));
    const named = [...PAGE.matchAll(/^\| `([A-Z][A-Za-z]+)` \|/gm)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(5);
    for (const name of named) expect(known).toContain(name);
  });
});
