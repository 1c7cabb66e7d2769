import { describe, expect, it } from 'vitest';
import { parseReference, SCHEMA_VERSION } from '../../../lib/core/publish/reference.ts';

const GOOD = {
  schemaVersion: SCHEMA_VERSION,
  runId: 'accounts.v1.20260101T000000Z',
  tenant: 't1',
  cutoff: '2025-01-01T00:00:00.000Z',
  policyVersion: 'v1',
  unit: '12',
  generation: 0,
  keyId: 'key-1',
  mac: 'mac',
};
const FIELDS = Object.keys(GOOD) as (keyof typeof GOOD)[];

function reasonOf(body: unknown): string {
  const parsed = parseReference(typeof body === 'string' ? body : JSON.stringify(body));
  return parsed.kind === 'bad' ? parsed.reason : 'reference';
}

describe('a message body is read strictly', () => {
  it('reads a good one, in any order of its fields', () => {
    expect(reasonOf(GOOD)).toBe('reference');
    expect(reasonOf(Object.fromEntries(Object.entries(GOOD).reverse()))).toBe('reference');
  });

  it.each(FIELDS)('P45: a body without %s names no work', (field) => {
    const { [field]: _left, ...others } = GOOD;
    expect(reasonOf(others)).toBe('malformed');
  });

  it.each(FIELDS)('P45: a body whose %s is null, a list or an object names no work', (field) => {
    for (const value of [null, [], {}, [GOOD[field]], true]) {
      expect(reasonOf({ ...GOOD, [field]: value }), JSON.stringify(value)).toBe('malformed');
    }
  });

  it('P45: a body with a field that we do not know is not ours', () => {
    expect(reasonOf({ ...GOOD, extra: 1 })).toBe('malformed');
    expect(reasonOf({ ...GOOD, Unit: '12' })).toBe('malformed');
    expect(reasonOf(`{"__proto__":{},${JSON.stringify(GOOD).slice(1)}`)).toBe('malformed');
  });

  it.each([
    ...[12, '012', '+12', '12 ', ' 12', '12.0.0', '12.', '.1', '1e1', '-1', '', '12.01', '0x1', '123456789', '1.12345'],
    ...['１２', '12\n', 'twelve'],
  ])('P49: the batch %j is another spelling and is refused', (unit) => {
    expect(reasonOf({ ...GOOD, unit })).toBe('malformed');
  });

  it.each([
    ...['2025-01-01T00:00:00Z', '2025-01-01', '2025-01-01T00:00:00.000+00:00', '2025-01-01T00:00:00.0Z'],
    ...['2025-02-30T00:00:00.000Z', '', 1735689600000, '1735689600000'],
  ])('P49: the cutoff %j is another spelling and is refused', (cutoff) => {
    expect(reasonOf({ ...GOOD, cutoff })).toBe('malformed');
  });

  it.each(['0', -1, 0.5, 1e21, Number.NaN, '1'])(
    'P49: the generation %j is another spelling and is refused',
    (generation) => {
      expect(reasonOf({ ...GOOD, generation })).toBe('malformed');
    },
  );

  it.each([0, 2, 99, -1, 1.5])(
    'P39: schema version %j is unknown, which is said apart from malformed',
    (schemaVersion) => {
      expect(reasonOf({ ...GOOD, schemaVersion })).toBe('unknown_schema');
      expect(reasonOf({ schemaVersion, entirely: 'different' })).toBe('unknown_schema');
    },
  );

  it.each(['1', '99', null, undefined, [1], true])('P39: schema version %j is no version at all', (schemaVersion) => {
    expect(reasonOf({ ...GOOD, schemaVersion })).toBe('malformed');
  });

  it.each([
    ...['', ' ', '{', '{"schemaVersion":1', 'null', '[]', '1', '"text"', 'true', '[{"schemaVersion":1}]', '\u0000'],
    ...['<xml/>', 'undefined', `${JSON.stringify(GOOD)}x`, `${JSON.stringify(GOOD)}${JSON.stringify(GOOD)}`],
  ])('P45: %j is not a reference', (body) => {
    expect(reasonOf(body)).toBe('malformed');
  });

  it('P45: a body that is nested beyond reason is malformed, not a crash', () => {
    expect(reasonOf('['.repeat(100_000))).toBe('malformed');
    expect(reasonOf(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)).toBe('malformed');
  });
});
