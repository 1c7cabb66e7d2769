import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import type { Ledger, OpenUnit } from '../../../lib/core/ports/index.ts';
import { readQuarantine } from '../../../lib/core/read/quarantine.ts';
import { settle } from '../../helpers/settle.ts';
import { ask, batchesInQuarantine, DENIED, HOUR_MILLIS, layDown, NAMED, refusalOf, trailOf } from './acts-stage.ts';
import { accounts, altered, published } from './stage.ts';

function iso(millis: number): string {
  return new Date(millis).toISOString();
}

describe('the list of what waits', () => {
  it('groups by reason, error class and failure class, the largest group first, with ages and expiries', async () => {
    const stage = await published(accounts(3));
    const begun = stage.world.millis;
    const labelled = { copiedAt: begun, copiedGeneration: 0 };
    await layDown(stage, '0', { records: 100, ...labelled });
    stage.world.advance(2 * HOUR_MILLIS);
    await layDown(stage, '1', { records: 3, ...labelled, copiedAt: begun + HOUR_MILLIS });
    await layDown(stage, '2', {
      records: 1,
      errorClass: 'Denied',
      reason: 'permanent_failure',
      failureClass: 'permanent',
    });
    stage.world.advance(HOUR_MILLIS / 4);
    const view = await ask(stage, 'list');
    expect(view).toMatchObject({
      units: 3,
      records: 104,
      truncated: false,
      paused: null,
      queues: { work: 1, deadLetter: 0 },
    });
    expect(view.groups).toEqual([
      {
        ...{ reason: 'attempts_spent', errorClass: 'Throttled', failureClass: 'transient', units: 2, records: 103 },
        ...{ oldest: iso(begun), newest: iso(begun + 2 * HOUR_MILLIS) },
        firstMessageExpiresAt: iso(begun + 14 * DAY_MILLIS),
      },
      {
        ...{ reason: 'permanent_failure', errorClass: 'Denied', failureClass: 'permanent', units: 1, records: 1 },
        ...{ oldest: iso(begun + 2 * HOUR_MILLIS), newest: iso(begun + 2 * HOUR_MILLIS), firstMessageExpiresAt: null },
      },
    ]);
    expect(view.listed.map(({ unit, ageHours, messageExpiresAt }) => [unit, ageHours, messageExpiresAt])).toEqual([
      ['0', 2.3, iso(begun + 14 * DAY_MILLIS)],
      ['1', 0.3, iso(begun + HOUR_MILLIS + 14 * DAY_MILLIS)],
      ['2', 0.3, null],
    ]);
  });

  it('P58: tells when SQS drops the message: fourteen days after its labelled copy was sent, and of this generation only', async () => {
    const stage = await batchesInQuarantine(1, [0]);
    const [letter] = stage.queue.deadLetters.copies();
    const expires = iso((letter?.sentAt ?? 0) + 14 * DAY_MILLIS);
    expect((await ask(stage, 'list')).listed).toMatchObject([{ messageExpiresAt: expires }]);
    expect(await ask(stage, 'inspect', { run: stage.runId, unit: '0' })).toMatchObject({ messageExpiresAt: expires });
    await ask(stage, 'redrive', { all: true });
    stage.queue.purge();
    const ref = { runId: stage.runId, unit: '0' };
    await stage.ledger.moveUnit(ref, 'quarantine', { generation: 1 }, { since: stage.world.millis });
    expect((await ask(stage, 'list')).listed).toMatchObject([{ messageExpiresAt: null }]);
  });

  it('shows the oldest ones, as many as are asked for, whatever the order of the index, and counts them all', async () => {
    const stage = await published(accounts(3));
    for (let unit = 0; unit < 40; unit += 1) {
      await layDown(stage, String((unit * 7) % 40), {});
      stage.world.advance(HOUR_MILLIS);
    }
    const oldest = Array.from({ length: 40 }, (_, unit) => String((unit * 7) % 40));
    const shuffled: Ledger['openUnits'] = async (wanted) => {
      const items: OpenUnit[] = [];
      let cursor: string | undefined;
      do {
        const page = await stage.ledger.openUnits(wanted, cursor);
        items.push(...page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      return { items: stage.world.random.shuffled(items), next: undefined };
    };
    const ports = {
      ledger: altered<Ledger>(stage.ledger, { openUnits: shuffled }),
      clock: stage.world.clock(),
      queue: stage.queue,
    };
    for (const limit of [0, 1, 7, 39, 40, 100]) {
      const view = await readQuarantine(ports, 'accounts', {}, limit);
      expect([view.units, view.records]).toEqual([40, 120]);
      expect(view.listed.map(({ unit }) => unit)).toEqual(oldest.slice(0, limit));
    }
  });

  it('is filtered as an act would be: counted, grouped and listed is only what matches', async () => {
    const stage = await published(accounts(3));
    await layDown(stage, '0', { tenant: 't2' });
    await layDown(stage, '1', { reason: 'too_old' });
    await layDown(stage, '2', { run: 'another' });
    for (const [filter, units] of [
      [{ tenant: 't2' }, ['0']],
      [{ reason: 'too_old' }, ['1']],
      [{ run: 'another' }, ['2']],
      [{ olderThanHours: 0 }, []],
    ] as const) {
      const view = await ask(stage, 'list', { filter });
      expect([view.units, view.listed.map(({ unit }) => unit)]).toEqual([units.length, units]);
      expect(view.groups.reduce((sum, group) => sum + group.units, 0)).toBe(units.length);
    }
  });

  it('lists a hundred messages that could not be read, says where there are more, and does not count those given up', async () => {
    const stage = await published(accounts(3));
    const record = (n: number) =>
      stage.ledger.recordBadMessage({
        ...{ policyId: 'accounts', digest: `d${String(n).padStart(3, '0')}`, reason: 'malformed', at: n },
      });
    for (let n = 0; n < 100; n += 1) await record(n);
    const exactly = await ask(stage, 'list');
    expect([exactly.badMessages.length, exactly.badMessagesTruncated]).toEqual([100, false]);
    await record(100);
    const more = await ask(stage, 'list', { filter: { tenant: 'nobody' } });
    expect([more.badMessages.length, more.badMessagesTruncated]).toEqual([100, true]);
    await stage.ledger.abandonBadMessage('accounts', 'd000', 1);
    const after = await ask(stage, 'list');
    expect([after.badMessages.at(-1)?.digest, after.badMessagesTruncated]).toEqual(['d100', false]);
  });

  it('also has what nobody knows the effect of, told apart by its state', async () => {
    const stage = await published(accounts(3));
    const ref = { runId: stage.runId, unit: '0' };
    const make = { tenant: 't1', records: 3 };
    await stage.ledger.moveUnit(ref, 'start', { generation: 0, make }, { since: 0 });
    await stage.ledger.moveUnit(ref, 'doubt', { generation: 0 }, { since: 1, reason: 'effect_unknown' });
    expect((await ask(stage, 'list')).listed).toMatchObject([
      { unit: '0', state: 'uncertain', reason: 'effect_unknown' },
    ]);
    expect(await ask(stage, 'redrive', { all: true })).toMatchObject({ selected: 0 });
  });

  it('holds no more of it in memory than it lists, and says where there are more than it counts', {
    timeout: 60_000,
  }, async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const stage = await published(accounts(3));
    const heaps: number[] = [];
    const PER_PAGE = 1_000;
    const large = (place: number): OpenUnit => ({
      ...{ runId: 'run', unit: String(place), generation: 0, records: 1, attempts: 1, since: place },
      // A buffer apart for each, so that what is kept shows.
      tenant: Buffer.alloc(2_000, place % 256).toString('latin1'),
    });
    const openUnits: Ledger['openUnits'] = async ({ state }, cursor) => {
      const from = Number(cursor ?? 0);
      if (state !== 'quarantined') return { items: [], next: undefined };
      if (from === 2 * PER_PAGE || from === 99 * PER_PAGE) {
        collect();
        heaps.push(process.memoryUsage().heapUsed);
      }
      const items = Array.from({ length: PER_PAGE }, (_, place) => large(from + place));
      return { items, next: from < 101 * PER_PAGE ? String(from + PER_PAGE) : undefined };
    };
    const ports = {
      ledger: altered<Ledger>(stage.ledger, { openUnits }),
      clock: stage.world.clock(),
      queue: stage.queue,
    };
    const view = await readQuarantine(ports, 'accounts', {}, 10);
    expect([view.units, view.listed.length, view.truncated]).toEqual([100_000, 10, true]);
    const [early = 0, late = 0] = heaps;
    expect((late - early) / 2 ** 20).toBeLessThan(20);
  });
});

describe('inspecting a unit', () => {
  it('shows its failure, its records, its price, what a redrive would meet, and the acts that named it', async () => {
    const stage = await batchesInQuarantine(3, [1]);
    const { runId: run } = stage;
    const view = await ask(stage, 'inspect', { run, unit: '1' });
    expect(view).toMatchObject({
      unit: { unit: '1', state: 'quarantined', attempts: 5, generation: 0, errorClass: 'ThrottlingException' },
      run: { runId: run, status: 'complete_with_quarantine', kind: 'expire', mode: 'enforce', policyVersion: 'v1' },
      ...{ split: [], keysTruncated: false, acts: [], redrive: { verdict: 'allowed' } },
    });
    expect(view.keys).toEqual(['["Sa0003"]', '["Sa0004"]', '["Sa0005"]']);
    await ask(stage, 'redrive', { filter: { run, unit: '1' } });
    const after = await ask(stage, 'inspect', { run, unit: '1' });
    expect(after).toMatchObject({ redrive: { verdict: 'not-quarantined' }, acts: [{ act: 'redrive', ...NAMED }] });
    expect(after.acts).toEqual((await trailOf(stage)).entries);
    expect((await ask(stage, 'inspect', { run, unit: '0' })).acts).toEqual([]);
  });

  it('of a record split from its batch shows its one key, and its batch shows which were split', async () => {
    const stage = await published(accounts(3));
    stage.target.poison('a0001', DENIED);
    await settle(stage);
    const { runId: run } = stage;
    const child = await ask(stage, 'inspect', { run, unit: '0.1' });
    expect(child).toMatchObject({ keys: ['["Sa0001"]'], redrive: { verdict: 'name-it' }, unit: { records: 1 } });
    expect(await ask(stage, 'inspect', { run, unit: '0' })).toMatchObject({ split: [1], unit: { state: 'committed' } });
  });

  it('shows the first 25 keys of a large batch', async () => {
    const stage = await published(accounts(60), { batchSize: '60' });
    await layDown(stage, '0', { records: 60 });
    const view = await ask(stage, 'inspect', { run: stage.runId, unit: '0' });
    expect([view.keys.length, view.keysTruncated]).toEqual([25, true]);
  });

  it('says beforehand what a redrive would refuse', async () => {
    const stage = await published(accounts(6), { redriveGenerations: '2' });
    const { runId: run } = stage;
    await layDown(stage, '0', { generation: 1, failureClass: 'permanent' });
    const verdict = async () => (await ask(stage, 'inspect', { run, unit: '0' })).redrive.verdict;
    expect(await verdict()).toBe('beyond-generations');
    const { message } = (await ask(stage, 'inspect', { run, unit: '0' })).redrive;
    expect(message).toMatch(/had 2 generations, .* up to 2: .*--beyond-generation-cap.*beyondGenerations/);
    await ask(stage, 'cancel', { run });
    expect(await verdict()).toBe('run-cancelled');
  });

  it('that waits for its turn says when it is due', async () => {
    const stage = await batchesInQuarantine(3, [0, 1]);
    const { runId: run } = stage;
    await ask(stage, 'redrive', { all: true, perSecond: 0.001 });
    const { notBefore = 0 } = stage.ledger.contents().units.find(({ unit }) => unit === '1') ?? {};
    expect(notBefore).toBeGreaterThan(stage.world.millis + HOUR_MILLIS / 4);
    const { redrive } = await ask(stage, 'inspect', { run, unit: '1' });
    expect(redrive).toMatchObject({
      ...{ verdict: 'not-quarantined', message: expect.stringContaining(`sent at ${iso(notBefore)}`) },
    });
  });

  it('of which the ledger has nothing is refused with a sentence', async () => {
    const stage = await published(accounts(3));
    for (const [run, unit] of [
      [stage.runId, '0'],
      [stage.runId, '9'],
      ['unheard', '0'],
    ]) {
      expect(await refusalOf(ask(stage, 'inspect', { run, unit }))).toMatch(/The ledger has no item of this unit/);
    }
  });

  it('and listing change nothing', async () => {
    const stage = await batchesInQuarantine(3, [0, 1]);
    const before = stage.ledger.contents();
    await ask(stage, 'list');
    await ask(stage, 'inspect', { run: stage.runId, unit: '0' });
    expect(stage.ledger.contents()).toEqual(before);
    expect(stage.queue.deadLetters.visible()).toHaveLength(2);
  });
});
