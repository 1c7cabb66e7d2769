import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Verified } from '../../../lib/core/ports/index.ts';
import {
  type BatchReference,
  encodeReference,
  MAX_BODY_BYTES,
  MAX_TENANT_BYTES,
  type ParsedBody,
  parseReference,
  verifyReference,
} from '../../../lib/core/publish/reference.ts';
import { MemoryQueue, MemorySigner, World } from '../../model/index.ts';

const REFERENCE: BatchReference = {
  runId: 'accounts.v1.20260101T000000Z',
  tenant: 't1',
  cutoff: Date.UTC(2025, 0, 1),
  policyVersion: 'v1',
  unit: '12',
  generation: 0,
};
const GOLDEN =
  '{"schemaVersion":1,"runId":"accounts.v1.20260101T000000Z","tenant":"t1","cutoff":"2025-01-01T00:00:00.000Z",' +
  '"policyVersion":"v1","unit":"12","generation":0,"keyId":"key-1","mac":"WrWB0eJ1UpB4kUNQway4u2FyAOq_Fl3JK1-v2q3sbvc"}';

const signer = new MemorySigner();

function parsed(body: string): Extract<ParsedBody, { kind: 'reference' }> {
  const result = parseReference(body);
  if (result.kind === 'bad') throw new Error(`${result.reason}: ${body}`);
  return result;
}

async function verified(body: string): Promise<Verified> {
  return verifyReference(parsed(body), signer);
}

describe('batch reference', () => {
  it('has a golden body, and reads back as what it was made of', async () => {
    const body = await encodeReference(REFERENCE, signer);
    expect(body).toBe(GOLDEN);
    expect(parsed(body).reference).toEqual(REFERENCE);
    expect(await verified(body)).toBe('valid');
  });

  it.each(['t\ufffe', 't\uffff', '\ud800', 'a\udc00b', '\u0000', '\u001f\u007f', '👩‍🚀', 'ä', '"\\', 'a\nb', '<&>'])(
    'P29: a body for the tenant %j is ASCII that SQS takes, and the consumer sees the same tenant',
    async (tenant) => {
      const body = await encodeReference({ ...REFERENCE, tenant }, signer);
      expect(body).toMatch(/^[ -~]+$/);
      const sent = await new MemoryQueue(new World()).send([{ id: '0', body, group: 'g' }]);
      expect(sent).toEqual({ sent: ['0'], failed: [] });
      expect(parsed(body).reference.tenant).toBe(tenant);
      expect(await verified(body)).toBe('valid');
    },
  );

  it('the longest legal reference fits the limit of a body, with room for a longer key id', async () => {
    const longest: BatchReference = {
      runId: `${'p'.repeat(48)}.${'v'.repeat(24)}.20260101T000000Z`,
      tenant: '\uffff'.repeat(MAX_TENANT_BYTES / 6).padEnd(MAX_TENANT_BYTES / 6 + 2, 'x'),
      cutoff: Date.UTC(2025, 0, 1),
      policyVersion: 'v'.repeat(24),
      unit: '99999999.9999',
      generation: 9_999,
    };
    const body = await encodeReference(longest, signer);
    expect(JSON.stringify(longest.tenant).length).toBeLessThan(MAX_TENANT_BYTES);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BODY_BYTES - 24);
    expect(await verified(body)).toBe('valid');
  });

  it('P29: any reference comes back as it was, and no other reference has its signature', async () => {
    const text = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) });
    const reference = fc.record({
      runId: text,
      tenant: text,
      cutoff: fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }),
      policyVersion: text,
      unit: fc.oneof(
        fc.nat(99_999_999).map(String),
        fc.tuple(fc.nat(9_999), fc.nat(9_999)).map(([ordinal, position]) => `${ordinal}.${position}`),
      ),
      generation: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(reference, reference, async (a, b) => {
        const [bodyOfA, bodyOfB] = await Promise.all([a, b].map((one) => encodeReference(one, signer)));
        const first = parsed(bodyOfA ?? '');
        expect(first.reference).toEqual(a);
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(await verifyReference({ ...parsed(bodyOfB ?? ''), mac: first.mac }, signer)).toBe(
          same ? 'valid' : 'forged',
        );
      }),
      { numRuns: 50 },
    );
  });

  const ALTERED: readonly (readonly [keyof BatchReference, string, unknown])[] = [
    ['runId', 'another run', 'accounts.v1.20260102T000000Z'],
    ['tenant', 'another tenant', 't2'],
    ['tenant', 'the tenant with a blank', 't1 '],
    ['cutoff', 'a later cutoff', '2025-01-02T00:00:00.000Z'],
    ['policyVersion', 'another version', 'v2'],
    ['unit', 'another batch', '13'],
    ['unit', 'a record of the batch', '12.0'],
    ['generation', 'a later generation', 1],
  ];

  it.each(ALTERED)('a body altered in %s (%s) is forged', async (field, _what, value) => {
    const body = await encodeReference(REFERENCE, signer);
    expect(await verified(JSON.stringify({ ...JSON.parse(body), [field]: value }))).toBe('forged');
  });

  it('P29: a tenant altered to another half of a surrogate pair is forged', async () => {
    const body = await encodeReference({ ...REFERENCE, tenant: '\ud800' }, signer);
    expect(await verified(body.replace('\\ud800', '\\ud801'))).toBe('forged');
  });

  it('a MAC of another content, cut short, or of another key is forged; an unknown key is not condemned', async () => {
    const json = JSON.parse(await encodeReference(REFERENCE, signer));
    const other = JSON.parse(await encodeReference({ ...REFERENCE, unit: '13' }, signer));
    for (const mac of [other.mac, json.mac.slice(0, -2), '', 'AAAA']) {
      expect(await verified(JSON.stringify({ ...json, mac }))).toBe('forged');
    }
    expect(await verified(JSON.stringify({ ...json, keyId: 'key-9' }))).toBe('unknown-key');
  });

  it('a retired key still verifies, and does not verify what another key signed', async () => {
    const ring = new MemorySigner();
    const before = await encodeReference(REFERENCE, ring);
    ring.rotate();
    const after = await encodeReference(REFERENCE, ring);
    expect(await verifyReference(parsed(before), ring)).toBe('valid');
    expect(await verifyReference(parsed(after), ring)).toBe('valid');
    expect(await verifyReference({ ...parsed(after), keyId: 'key-1' }, ring)).toBe('forged');
  });
});
