import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readTimestamp,
  type StoredValue,
  type TimestampFormat,
  writeTimestamp,
} from '../../../lib/core/policy/timestamp.ts';

const FORMATS: readonly TimestampFormat[] = ['epoch-seconds', 'epoch-millis', 'iso-8601'];

function number(text: string): StoredValue {
  return { type: 'N', text };
}

function string(text: string): StoredValue {
  return { type: 'S', text };
}

function reasonOf(value: StoredValue, format: TimestampFormat): string {
  const read = readTimestamp(value, format);
  return read.kind === 'readable' ? `readable ${read.millis}` : read.reason;
}

describe('timestamps of records', () => {
  it.each<[TimestampFormat, string, string]>([
    ['epoch-seconds', '1767225600', `readable ${Date.UTC(2026, 0, 1)}`],
    ['epoch-seconds', '1735689600', `readable ${Date.UTC(2025, 0, 1)}`],
    ['epoch-seconds', '1735689600000', 'out_of_range'],
    ['epoch-seconds', '0', 'out_of_range'],
    ['epoch-seconds', '-1735689600', 'out_of_range'],
    ['epoch-millis', '1735689600000', `readable ${Date.UTC(2025, 0, 1)}`],
    ['epoch-millis', '1735689600', 'out_of_range'],
    ['epoch-millis', '1735689600000000', 'out_of_range'],
    ['epoch-millis', '0', 'out_of_range'],
    ['epoch-millis', '1'.repeat(38), 'out_of_range'],
    ['epoch-millis', '-1', 'out_of_range'],
    ['epoch-millis', '1735689600000.5', 'not_canonical'],
    ['epoch-seconds', '1.7356896E9', 'not_canonical'],
    ['epoch-seconds', '1e40', 'not_canonical'],
    ['epoch-seconds', 'NaN', 'not_canonical'],
    ['epoch-seconds', '', 'not_canonical'],
    ['epoch-seconds', ' 1735689600', 'not_canonical'],
    ['epoch-seconds', '0x6774A380', 'not_canonical'],
  ])('P14: %s reads the number %j as %s', (format, text, result) => {
    expect(reasonOf(number(text), format)).toBe(result);
  });

  it('P14: a number in one unit is never readable in the other', () => {
    const real = fc.integer({ min: Date.UTC(1980, 0, 1) / 1000, max: Date.UTC(2100, 0, 1) / 1000 - 1 });
    fc.assert(
      fc.property(real, (seconds) => {
        expect(reasonOf(number(String(seconds)), 'epoch-millis')).toBe('out_of_range');
        expect(reasonOf(number(String(seconds * 1000)), 'epoch-seconds')).toBe('out_of_range');
      }),
    );
  });

  it.each<[TimestampFormat, StoredValue, string]>([
    ['epoch-seconds', number('315532799'), 'out_of_range'],
    ['epoch-seconds', number('315532800'), `readable ${Date.UTC(1980, 0, 1)}`],
    ['epoch-millis', number('4102444799999'), `readable ${Date.UTC(2100, 0, 1) - 1}`],
    ['epoch-millis', number('4102444800000'), 'out_of_range'],
    ['iso-8601', string('1979-12-31T23:59:59.999Z'), 'out_of_range'],
    ['iso-8601', string('2100-01-01T00:00:00Z'), 'out_of_range'],
    ['iso-8601', string('0001-01-01T00:00:00Z'), 'out_of_range'],
  ])('P14: %s takes real dates only: %j', (format, value, result) => {
    expect(reasonOf(value, format)).toBe(result);
  });

  it.each([
    ['2026-02-28T23:30:00-02:00', 'not_canonical'],
    ['2026-03-01T00:00:00+00:00', 'not_canonical'],
    ['2026-03-01T01:00:00+02:00', 'not_canonical'],
    ['2026-02-30T00:00:00Z', 'not_canonical'],
    ['2026-03-01', 'not_canonical'],
    ['1735689600', 'not_canonical'],
    ['not a date', 'not_canonical'],
    ['2026-03-01T00:00:00Z', `readable ${Date.UTC(2026, 2, 1)}`],
    ['2026-03-01T00:00:00.000Z', `readable ${Date.UTC(2026, 2, 1)}`],
  ])('P15: the ISO text %j is %s', (text, result) => {
    expect(reasonOf(string(text), 'iso-8601')).toBe(result);
  });

  it.each(FORMATS)(
    'P17: in %s, a value that is missing, NULL, empty or of another type is unreadable, not old',
    (format) => {
      const wrongType = format === 'iso-8601' ? number('1735689600') : string('1735689600');
      expect(reasonOf({ type: 'missing', text: '' }, format)).toBe('missing');
      expect(reasonOf({ type: 'NULL', text: '' }, format)).toBe('null');
      expect(reasonOf(string(''), format)).toBe('empty');
      expect(reasonOf(wrongType, format)).toBe('wrong_type');
      expect(reasonOf({ type: 'other', text: '[1]' }, format)).toBe('wrong_type');
    },
  );

  it.each(FORMATS)('in %s, reads what it writes', (format) => {
    const step = format === 'epoch-seconds' ? 1000 : 1;
    const real = fc.integer({ min: Date.UTC(1980, 0, 1) / step, max: Date.UTC(2100, 0, 1) / step - 1 });
    fc.assert(
      fc.property(real, (units) => {
        const millis = units * step;
        expect(readTimestamp(writeTimestamp(millis, format), format)).toEqual({ kind: 'readable', millis });
      }),
    );
  });

  it('P26: whole seconds are rounded down, never to a later time', () => {
    expect(writeTimestamp(Date.UTC(2026, 0, 1) + 999, 'epoch-seconds')).toEqual(number('1767225600'));
  });
});
