import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant, parseInstant } from '../../../lib/core/identity/instant.ts';

describe('instants', () => {
  it.each([
    ['2026-03-01T00:00:00Z', Date.UTC(2026, 2, 1)],
    ['2026-03-01T00:00:00.000Z', Date.UTC(2026, 2, 1)],
    ['2026-02-28T23:59:59.999Z', Date.UTC(2026, 1, 28, 23, 59, 59, 999)],
    ['2024-02-29T12:00:00Z', Date.UTC(2024, 1, 29, 12)],
    ['1969-12-31T23:59:59.999Z', -1],
  ])('P15: reads %s', (text, millis) => {
    expect(parseInstant(text)).toBe(millis);
  });

  it.each([
    '2026-02-28T23:30:00-02:00',
    '2026-03-01T00:00:00+00:00',
    '2026-03-01T01:00:00+02:00',
    '2026-03-01T00:00:00',
    '2026-03-01',
    '2026-03-01T00:00Z',
    '2026-03-01 00:00:00Z',
    '2026-03-01t00:00:00z',
    '2026-03-01T00:00:00.0Z',
    '2026-03-01T00:00:00.000000Z',
    '2026-03-01T00:00:00,000Z',
    '20260301T000000Z',
    '+002026-03-01T00:00:00Z',
    '2026-060T00:00:00Z',
    ' 2026-03-01T00:00:00Z',
    '2026-03-01T00:00:00Z\n',
    '２０２６-03-01T00:00:00Z',
    '1767225600',
    '',
  ])('P15: does not read the spelling %j, which text order would misplace', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  it.each([
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2016-12-31T23:59:60Z',
  ])('P15: does not roll %s over to a date that exists', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  it('reads back what it writes, and text order is then time order', () => {
    const millis = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(9999, 11, 31) });
    fc.assert(
      fc.property(millis, millis, (a, b) => {
        expect(parseInstant(formatInstant(a))).toBe(a);
        expect(formatInstant(a) < formatInstant(b)).toBe(a < b);
      }),
    );
  });

  // Zones with a gap at midnight, half an hour off, and a day ahead.
  it.each(['America/Sao_Paulo', 'Asia/Kolkata', 'Pacific/Kiritimati'])(
    'P15: cutoffs, run ids and timestamps do not depend on a process that runs in %s',
    (zone) => {
      const there = computedIn(zone);
      expect(there.offsets).not.toEqual([0, 0, 0]);
      expect(there.results).toEqual(inUtc.results);
    },
  );
});

const inUtc = computedIn('UTC');

/** What a process of its own makes of three instants near a change of clocks. */
function computedIn(zone: string): { readonly offsets: readonly number[]; readonly results: unknown } {
  const core = fileURLToPath(new URL('../../../lib/core', import.meta.url));
  const script = `
    const { parseInstant, formatInstant } = await import('${core}/identity/instant.ts');
    const { runIdOf } = await import('${core}/identity/keys.ts');
    const { cutoffOf } = await import('${core}/plan/new-run.ts');
    const { readTimestamp, writeTimestamp } = await import('${core}/policy/timestamp.ts');
    const times = ['2026-03-08T02:30:00Z', '2026-11-01T01:30:00Z', '2018-11-04T00:00:00Z'].map(parseInstant);
    const results = times.map((time) => [
      time, formatInstant(time), runIdOf('p', 'v', time), cutoffOf({ retentionDays: 30 }, time),
      readTimestamp({ type: 'S', text: formatInstant(time) }, 'iso-8601'), writeTimestamp(time, 'iso-8601'),
    ]);
    const offsets = times.map((time) => new Date(time).getTimezoneOffset());
    console.log(JSON.stringify({ offsets, results }));`;
  const environment = { ...process.env, TZ: zone, NODE_OPTIONS: '' };
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { env: environment }).toString(),
  );
}
