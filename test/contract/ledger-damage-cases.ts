import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { encodeAudit } from '../../lib/aws/ledger/audit-item.ts';
import { encodeRun } from '../../lib/aws/ledger/run-item.ts';
import { itemKey, policyPartition, SK } from '../../lib/aws/ledger/schema.ts';
import type { Ledger } from '../../lib/core/ports/index.ts';
import { readAudit } from '../../lib/core/read/audit.ts';
import { audit } from '../../lib/core/redrive/audit.ts';
import { MemoryLog } from '../model/index.ts';
import { allOf, anEntry, runScope, storedRun, T0 } from './ledger-samples.ts';

const NO_ENTRY = { ...anEntry(1), number: Number.NaN };

type Item = Record<string, AttributeValue>;

const ACT = { act: 'redrive', actor: 'ada', reason: 'mended', requestId: 'r' } as const;

/** What may be done to an entry's item, and the attribute that the fault must name. */
const DAMAGE: readonly (readonly [string, (item: Item) => Item, string])[] = [
  ...['act', 'actor', 'reason', 'requestId', 'units', 'at', 'previousHash', 'hash', 'number'].flatMap((name) => [
    [`no ${name}`, ({ [name]: _gone, ...rest }: Item) => rest, name] as const,
    [`${name} of another type`, (item: Item) => ({ ...item, [name]: { BOOL: true } }), name] as const,
  ]),
  ['a time that is no time', (item) => ({ ...item, at: { N: '9e99' } }), 'at'],
  ['another number', (item) => ({ ...item, number: { N: '7' } }), 'number'],
  ['units that are no JSON', (item) => ({ ...item, units: { S: '["0"' } }), 'units'],
  ['units that are not names', (item) => ({ ...item, units: { S: '[0]' } }), 'units'],
  ['a selection of another type', (item) => ({ ...item, selection: { N: '1' } }), 'selection'],
  ['something added', (item) => ({ ...item, note: { S: 'all is well' } }), 'note'],
];

/** A trail is read to find out what somebody did to it: nothing done to it may stop the reading, or the acting. */
export function damageCases(ledgerOf: () => Ledger, put: (item: Item) => Promise<void>): void {
  const threeActs = async () => {
    const run = await storedRun(ledgerOf());
    const scope = runScope(run.runId);
    const append = () => audit({ ledger: ledgerOf(), log: new MemoryLog() }, scope, ACT, { units: ['0'] }, T0);
    for (let acts = 0; acts < 3; acts += 1) await append();
    const entries = await allOf((cursor) => ledgerOf().auditTrail(scope, cursor));
    return { run, scope, append, second: encodeAudit(scope, entries[1] ?? NO_ENTRY) };
  };

  it.each(DAMAGE)('finds an entry with %s, by its number', async (_what, damage, named) => {
    const { scope, second } = await threeActs();
    expect((await readAudit(ledgerOf(), scope))?.verified).toBe(true);
    await put(damage(second));
    const view = await readAudit(ledgerOf(), scope);
    expect(view?.entries).toHaveLength(3);
    const [fault] = view?.faults ?? [];
    expect([fault?.number, fault?.fault]).toEqual([1, 'altered']);
    expect(fault?.message).toContain(named);
    expect(view?.entries[1]?.damaged).toContain(named);
  });

  it('finds an item whose key is no entry’s, and goes on past it', async () => {
    const { scope, second } = await threeActs();
    await put({ ...second, sk: { S: `${SK.audit}00000001x` } });
    const view = await readAudit(ledgerOf(), scope);
    expect(view?.entries.map(({ number }) => number)).toEqual([0, 1, null, 2]);
    expect(view?.faults.map(({ number, fault }) => [number, fault])).toEqual([[null, 'altered']]);
  });

  it('lets people act past items that were put in front of them, and the trail does not verify', async () => {
    const { scope, second, append } = await threeActs();
    for (const place of ['00000003', '00000004', '00000009']) await put({ ...second, sk: { S: SK.audit + place } });
    expect((await append()).number).toBe(10);
    expect((await append()).number).toBe(11);
    const view = await readAudit(ledgerOf(), scope);
    expect(view?.head.count).toBe(12);
    expect(view?.faults.map(({ number }) => number)).toEqual(expect.arrayContaining([3, 4, 9]));
  });

  it.each(['run', 'policy'] as const)(
    'lets people act where the head of a %s is lost, which is found',
    async (kind) => {
      const { run, scope, append } = await threeActs();
      if (kind === 'run') {
        const { auditCount: _count, auditHash: _hash, ...item } = encodeRun(run);
        await put(item);
        expect((await readAudit(ledgerOf(), scope))?.faults.map(({ number }) => number)).toEqual([0, 1, 2]);
        expect((await append()).number).toBe(3);
        expect((await readAudit(ledgerOf(), scope))?.verified).toBe(false);
        return;
      }
      const policy = { kind: 'policy', policyId: run.policyId } as const;
      const pause = () => audit({ ledger: ledgerOf(), log: new MemoryLog() }, policy, ACT, { units: [] }, T0);
      await pause();
      await put(itemKey(policyPartition(run.policyId), SK.control));
      expect((await readAudit(ledgerOf(), policy))?.faults.map(({ number }) => number)).toEqual([0]);
      expect((await pause()).number).toBe(1);
      expect((await readAudit(ledgerOf(), policy))?.verified).toBe(false);
    },
  );
}
