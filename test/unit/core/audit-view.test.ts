import { describe, expect, it } from 'vitest';
import type { AuditEntry, AuditHead } from '../../../lib/core/ledger/items.ts';
import type { AuditScope, Ledger } from '../../../lib/core/ports/index.ts';
import { readAudit } from '../../../lib/core/read/audit.ts';
import { everyItem } from '../../../lib/core/read/pages.ts';
import { audit, auditHash } from '../../../lib/core/redrive/audit.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { together } from '../../helpers/scenarios.ts';
import { settle } from '../../helpers/settle.ts';
import { drawn } from '../../helpers/turns.ts';
import { SeededRandom } from '../../model/index.ts';
import { ask, batchesInQuarantine, MINUTE_MILLIS, NAMED, trailOf } from './acts-stage.ts';
import { accounts, altered, published } from './stage.ts';

/** A run with four acts on its trail: three redrives of held selections, and one giving up. */
async function acted(): Promise<Deployment> {
  const stage = await batchesInQuarantine(5, [0, 1, 2, 3]);
  stage.target.healAll();
  for (const unit of ['0', '1', '2']) {
    const filter = { run: stage.runId, unit };
    const { selection } = await ask(stage, 'redrive', { filter, dryRun: true });
    await ask(stage, 'redrive', { selection });
  }
  await ask(stage, 'abandon', { all: true });
  await settle(stage);
  return stage;
}

async function entriesOf({ ledger, runId }: Deployment): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const one of everyItem((cursor) => ledger.auditTrail({ kind: 'run', runId }, cursor))) entries.push(one);
  return entries;
}

interface Tampering {
  readonly entries?: (entries: readonly AuditEntry[]) => readonly AuditEntry[];
  readonly head?: (head: AuditHead) => AuditHead;
  readonly selection?: 'taken-away' | 'altered';
}

/** The trail as `sweep audit` reads it from a ledger that somebody has had their hands on. */
async function readTampered(stage: Deployment, { entries = (all) => all, head = (one) => one, selection }: Tampering) {
  const { ledger, runId } = stage;
  const stored = entries(await entriesOf(stage));
  const changes: Partial<Ledger> = {
    auditTrail: async () => ({ items: stored, next: undefined }),
    readRun: async (id) => {
      const run = await ledger.readRun(id);
      return run && { ...run, auditHead: head(run.auditHead) };
    },
    readSelection: async (policyId, digest) => {
      const found = await ledger.readSelection(policyId, digest);
      if (selection === undefined || found === undefined || found.units[0]?.unit !== '1') return found;
      return selection === 'taken-away' ? undefined : { ...found, units: [] };
    },
  };
  const view = await readAudit(altered<Ledger>(ledger, changes), { kind: 'run', runId });
  expect(view?.verified).toBe(view?.faults.length === 0);
  return view?.faults.map(({ number, fault }) => [number, fault]);
}

function edit(at: number, change: Partial<AuditEntry>, hash: 'as-it-was' | 'made-right') {
  return (entries: readonly AuditEntry[]) =>
    entries.map((entry) => {
      if (entry.number !== at) return entry;
      const edited = { ...entry, ...change };
      return hash === 'as-it-was' ? edited : { ...edited, hash: auditHash(edited) };
    });
}

/** An entry put in front of another, with everything after it chained anew. */
function chained(entries: readonly AuditEntry[]): readonly AuditEntry[] {
  const rewritten: AuditEntry[] = [];
  for (const entry of entries) {
    const previousHash = rewritten.at(-1)?.hash ?? entry.previousHash;
    const next = { ...entry, number: rewritten.length, previousHash };
    rewritten.push({ ...next, hash: auditHash(next) });
  }
  return rewritten;
}

describe('the trail of a run as it is read', () => {
  it('verifies and says who did what, why, to which units, from which selection, and what should confirm it', async () => {
    const stage = await acted();
    const view = await trailOf(stage);
    expect(view).toMatchObject({ scope: stage.runId, head: { count: 4 }, faults: [], verified: true });
    expect(view.head.hash).toBe(view.entries.at(-1)?.hash);
    expect(view.entries.map(({ act, units }) => [act, units])).toEqual([
      ...[
        ['redrive', ['0']],
        ['redrive', ['1']],
        ['redrive', ['2']],
      ],
      ['abandon', ['3']],
    ]);
    for (const entry of view.entries) {
      expect(entry).toMatchObject({ ...NAMED, confirmedBy: { event: 'Invoke', requestId: entry.requestId } });
      expect(entry.selection).not.toBeNull();
    }
  });

  it.each<[string, Tampering, unknown]>([
    ['untouched', {}, []],
    ['an entry’s reason edited', { entries: edit(1, { reason: 'other' }, 'as-it-was') }, [[1, 'altered']]],
    ['an entry’s units edited', { entries: edit(2, { units: ['7'] }, 'as-it-was') }, [[2, 'altered']]],
    ['an entry edited and hashed anew', { entries: edit(1, { actor: 'max' }, 'made-right') }, [[2, 'not-chained']]],
    ['the last one edited and hashed anew', { entries: edit(3, { actor: 'max' }, 'made-right') }, [[null, 'altered']]],
    [
      'an entry’s selection edited',
      { entries: edit(1, { selection: 'other' }, 'as-it-was') },
      [
        [1, 'altered'],
        [1, 'selection-missing'],
      ],
    ],
    ['one taken from the middle', { entries: (all) => all.filter(({ number }) => number !== 1) }, [[1, 'missing']]],
    ['the first one taken away', { entries: (all) => all.slice(1) }, [[0, 'missing']]],
    ['the last one cut off', { entries: (all) => all.slice(0, -1) }, [[null, 'cut-off']]],
    ['everything cut off', { entries: () => [] }, [[null, 'cut-off']]],
    [
      'one taken from the middle and the rest chained anew',
      { entries: (all) => chained(all.filter(({ number }) => number !== 1)) },
      [[null, 'cut-off']],
    ],
    ['the head counted down', { head: (head) => ({ ...head, count: 3 }) }, [[3, 'beyond-head']]],
    ['the head counted up', { head: (head) => ({ ...head, count: 5 }) }, [[null, 'cut-off']]],
    ['the head hashed otherwise', { head: (head) => ({ ...head, hash: 'other' }) }, [[null, 'altered']]],
    ['the head begun anew', { head: () => ({ count: 0, hash: '' }) }, [0, 1, 2, 3].map((n) => [n, 'beyond-head'])],
    ['a selection taken away', { selection: 'taken-away' }, [[1, 'selection-missing']]],
    ['a selection altered', { selection: 'altered' }, [[1, 'selection-altered']]],
  ])('with %s', async (_what, tampering, faults) => {
    expect(await readTampered(await acted(), tampering)).toEqual(faults);
  });

  it('with entry and head rewritten together is told from the log, which has every hash', async () => {
    const stage = await acted();
    const rewritten = chained(edit(2, { actor: 'max' }, 'as-it-was')(await entriesOf(stage)));
    const head = { count: rewritten.length, hash: rewritten.at(-1)?.hash ?? '' };
    expect(await readTampered(stage, { entries: () => rewritten, head: () => head })).toEqual([]);
    const logged = stage.log.named('audit').map(({ fields }) => [fields.number, fields.hash]);
    expect(logged).toEqual((await entriesOf(stage)).map(({ number, hash }) => [number, hash]));
    expect(logged[2]?.[1]).not.toBe(rewritten[2]?.hash);
  });

  it('verifies where acts are appended while it is read', async () => {
    const stage = await acted();
    const { ledger, runId } = stage;
    const scope = { kind: 'run' as const, runId };
    let between = 2;
    const act = { act: 'redrive', actor: 'max', reason: 'meanwhile', requestId: 'r' } as const;
    const moving = altered<Ledger>(ledger, {
      auditTrail: async (of, cursor) => {
        if (between-- > 0) await audit(stage, scope, act, { units: ['4'] }, stage.world.millis);
        return ledger.auditTrail(of, cursor);
      },
    });
    expect(await readAudit(moving, scope)).toMatchObject({ verified: true, faults: [], head: { count: 6 } });
  });

  it('is undefined of a run that is not there, and empty and whole of one that nobody touched', async () => {
    const stage = await published(accounts(3));
    expect(await readAudit(stage.ledger, { kind: 'run', runId: 'unheard' })).toBeUndefined();
    expect(await trailOf(stage)).toMatchObject({ head: { count: 0 }, entries: [], verified: true });
    expect(await trailOf(stage, 'policy')).toMatchObject({ head: { count: 0 }, entries: [], verified: true });
  });
});

describe('appending', () => {
  const scopes: readonly (readonly [string, (stage: Deployment) => AuditScope])[] = [
    ['run', ({ runId }) => ({ kind: 'run', runId })],
    ['policy', ({ settings }) => ({ kind: 'policy', policyId: settings.policyId })],
  ];

  it.each(scopes)(
    'by three at once to the trail of a %s gives each its own number, and the trail verifies',
    async (_of, scopeOf) => {
      for (let seed = 1; seed <= 10; seed += 1) {
        const stage = await published(accounts(3));
        const append = (actor: string) => () => {
          const process = stage.crew.process(actor);
          const ports = { ledger: process.wrap('ledger', stage.ledger), log: stage.log };
          const act = { act: 'pause', actor, reason: 'why', requestId: actor } as const;
          return process.run(() => audit(ports, scopeOf(stage), act, { units: [] }, stage.world.millis));
        };
        await together(stage, [append('eve'), append('max'), append('ida')], drawn(new SeededRandom(seed)));
        const view = await readAudit(stage.ledger, scopeOf(stage));
        expect(view).toMatchObject({ verified: true, head: { count: 3 } });
        expect(view?.entries.map(({ number }) => number)).toEqual([0, 1, 2]);
        expect(view?.entries.map(({ actor }) => actor).sort()).toEqual(['eve', 'ida', 'max']);
      }
    },
  );

  it('whose answer was lost leaves an entry of an act that a rerun audits once more: the trail tells of both', async () => {
    const stage = await batchesInQuarantine(2, [0]);
    let lost = 0;
    stage.crew.interference = {
      fate: ({ name }, moment) => (name === 'ledger.appendAudit' && moment === 'after' && lost++ === 0 ? 'fail' : 'go'),
    };
    expect(await stage.act({ act: 'abandon', ...NAMED, all: true })).toMatchObject({ kind: 'failed' });
    stage.world.advance(MINUTE_MILLIS);
    await ask(stage, 'abandon', { all: true });
    const view = await trailOf(stage);
    expect(view).toMatchObject({ verified: true, entries: [{ units: ['0'] }, { units: ['0'] }] });
    expect(new Set(view.entries.map(({ requestId }) => requestId)).size).toBe(2);
  });
});
