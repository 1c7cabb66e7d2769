import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../lib/core/ledger/items.ts';
import { NO_AUDIT } from '../../../lib/core/plan/new-run.ts';
import { verifyTrail } from '../../../lib/core/read/audit.ts';
import { everyItem } from '../../../lib/core/read/pages.ts';
import { type Act, audit, auditEntry, auditHash } from '../../../lib/core/redrive/audit.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { accounts, published, theRun } from './stage.ts';

const AT = Date.UTC(2026, 0, 2);

function act(number: number): Act {
  return { act: 'redrive', actor: `person ${number}`, reason: 'mended', requestId: `req-${number}` };
}

async function trail({ ledger, runId }: Deployment): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of everyItem((cursor) => ledger.auditTrail({ kind: 'run', runId }, cursor)))
    entries.push(entry);
  return entries;
}

function append(stage: Deployment, number: number, units: readonly string[], at: number) {
  return audit(stage, { kind: 'run', runId: stage.runId }, act(number), { units }, at);
}

async function trailOf(count: number) {
  const stage = await published(accounts(3));
  for (let number = 0; number < count; number += 1) {
    await append(stage, number, [String(number)], AT + number);
  }
  const entries = await trail(stage);
  return { stage, entries, head: (await theRun(stage)).auditHead };
}

function isWhole(entries: readonly AuditEntry[], head: { count: number; hash: string }): boolean {
  return verifyTrail(entries, head).length === 0;
}

describe('audit trail of a run', () => {
  it('chains every entry to the one before, and ends at the head on the run', async () => {
    const { entries, head } = await trailOf(5);
    expect(entries.map(({ number, actor, units, at }) => [number, actor, units, at])).toEqual(
      [0, 1, 2, 3, 4].map((number) => [number, `person ${number}`, [String(number)], AT + number]),
    );
    expect(head).toEqual({ count: 5, hash: entries[4]?.hash });
    expect(isWhole(entries, head)).toBe(true);
  });

  const TAMPERED: Record<string, (entries: readonly AuditEntry[]) => readonly AuditEntry[]> = {
    'whose actor was edited': (entries) => edited(entries, { actor: 'nobody' }),
    'whose reason was edited': (entries) => edited(entries, { reason: 'other' }),
    'whose units were edited': (entries) => edited(entries, { units: ['1', '2'] }),
    'whose time was edited': (entries) => edited(entries, { at: AT }),
    'whose request was edited': (entries) => edited(entries, { requestId: 'other' }),
    'whose act was edited': (entries) => edited(entries, { act: 'abandon' }),
    'with an entry made anew, its own hash right': (entries) => {
      const changed = edited(entries, { actor: 'nobody' });
      return changed.map((entry, at) => (at === 1 ? { ...entry, hash: auditHash(entry) } : entry));
    },
    'with an entry made anew, and the next one linked to it': (entries) => {
      const changed = edited(entries, { actor: 'nobody' }).map((entry, at) =>
        at === 1 ? { ...entry, hash: auditHash(entry) } : entry,
      );
      return changed.map((entry, at) => (at === 2 ? { ...entry, previousHash: changed[1]?.hash ?? '' } : entry));
    },
    'with an entry taken out of the middle': (entries) => entries.filter((_entry, at) => at !== 1),
    'cut off at the end': (entries) => entries.slice(0, -1),
    'cut off at the beginning': (entries) => entries.slice(1),
    'with two entries in each other’s place': ([a, b, ...rest]) => (a && b ? [b, a, ...rest] : []),
    'with an entry repeated': (entries) => [...entries, ...entries.slice(-1)],
    'whose selection was edited': (entries) => edited(entries, { selection: 'other' }),
    'that is empty': () => [],
  };

  it.each(Object.keys(TAMPERED))('%s is found out', async (what) => {
    const { entries, head } = await trailOf(3);
    const tampered = TAMPERED[what]?.(entries) ?? entries;
    expect(isWhole(entries, head)).toBe(true);
    expect(isWhole(tampered, head)).toBe(false);
  });

  it('P22: tells apart entries whose texts are the same under other borders', () => {
    const entry = (actor: string, reason: string, units: readonly string[]) =>
      auditEntry(NO_AUDIT, { act: 'redrive', actor, reason, requestId: 'r' }, { units }, AT).hash;
    const hashes = [entry('ab', 'c', []), entry('a', 'bc', []), entry('a', 'b', ['c']), entry('a', 'b', ['', 'c'])];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('takes the next number where another act came first', async () => {
    const { stage } = await trailOf(1);
    await Promise.all([1, 2, 3].map((number) => append(stage, number, [], AT)));
    const head = (await theRun(stage)).auditHead;
    expect(head.count).toBe(4);
    expect(isWhole(await trail(stage), head)).toBe(true);
  });

  it('gives up where the trail never stops moving, and before anything is done', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0001', { class: 'permanent', error: 'AccessDeniedException' });
    await settle(stage);
    const { ledger } = stage;
    const before = ledger.contents();
    ledger.appendAudit = async () => 'moved-on';
    const end = await stage.redrive();
    expect(end).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringMatching(/others appended to it all the time: try again/) },
    });
    expect({ ...ledger.contents(), selections: [] }).toEqual(before);
  });

  it('has the act before its effect, with the units it took', async () => {
    const stage = await published(accounts(180));
    for (const row of accounts(180)) stage.target.poison(String(row.id), { class: 'permanent', error: 'Denied' });
    await settle(stage);
    await stage.redrive();
    const names = stage.crew.calls.filter(({ process }) => process.startsWith('redrive')).map(({ name }) => name);
    expect(names.indexOf('ledger.appendAudit')).toBeLessThan(names.indexOf('ledger.moveUnit'));
    const items = await trail(stage);
    expect(items.map(({ units }) => units.length)).toEqual([60]);
    expect(new Set(items.flatMap(({ units }) => units)).size).toBe(60);
  });
});

function edited(entries: readonly AuditEntry[], change: Partial<AuditEntry>): readonly AuditEntry[] {
  return entries.map((entry, at) => (at === 1 ? { ...entry, ...change } : entry));
}
