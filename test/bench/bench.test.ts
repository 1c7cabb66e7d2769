import { afterAll, describe, expect, it } from 'vitest';
import { startDynamoDbLocal } from '../helpers/dynamodb-local.ts';
import { type Figure, median, render, shown, violation } from './figures.ts';
import { PARTS } from './parts.ts';
import { pointProcessAtDynamoDbLocal } from './store.ts';

const local = await startDynamoDbLocal();
if (local !== undefined) pointProcessAtDynamoDbLocal(local);
afterAll(() => local?.stop());

describe.runIf(local !== undefined)('every part of the bench runs', () => {
  it.each(PARTS.map((part) => [part.name, part] as const))('%s', async (_, part) => {
    const measured = await part.measure('tiny');
    const numbers = [
      ...measured.figures.map(({ value }) => value),
      ...measured.tables.flatMap(({ rows }) => rows.flat().filter((cell) => typeof cell === 'number')),
    ];
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers.filter((number) => !Number.isFinite(number))).toEqual([]);
    expect(render(measured)).toContain('|---|');
  });
});

describe('a bound', () => {
  const figure: Figure = { what: 'calls', value: 0.11, unit: 'per record', bound: { atMost: 0.1 } };

  it('that does not hold is told with the number and the bound', () => {
    expect(violation(figure)).toBe('calls: 0.11 per record, where the bound is at most 0.1.');
    expect(violation({ ...figure, bound: { atLeast: 3 } })).toBe(
      'calls: 0.11 per record, where the bound is at least 3.',
    );
  });

  it('that holds to the number is kept', () => {
    expect(violation({ ...figure, value: 0.1 })).toBeUndefined();
    expect(violation({ ...figure, value: 3, bound: { atLeast: 3 } })).toBeUndefined();
  });

  it('is not kept by what is no number', () => {
    expect(violation({ ...figure, value: Number.NaN })).toContain('NaN');
  });
});

describe('what is printed', () => {
  it.each([
    [0, '0'],
    [1_000_000, '1,000,000'],
    [0.1, '0.1'],
    [0.099_96, '0.1'],
    [0.036_04, '0.036'],
    [2.718_9, '2.719'],
    [12_345.678, '12346'],
    [-0.5, '-0.5'],
  ])('shows %d as %s', (value, text) => {
    expect(shown(value)).toBe(text);
  });

  it('takes the middle of an even number of rounds between the two', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
  });
});
