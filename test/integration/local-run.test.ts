import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCAL_HOME } from '../../lib/local/paths.ts';
import { waitFor } from '../../lib/local/wait.ts';
import {
  type Ended,
  jsonOf,
  type LocalJson,
  look,
  processesOf,
  runLocal,
  type Seen,
  startLocal,
} from '../helpers/local-run.ts';
import { countStandings, expectedTable, PACKAGES, readPackages, writeLocalCsv } from '../helpers/packages.ts';

const END_DEADLINE_MILLIS = 20_000;
const MINUTES = 60_000;

let home: string;
const beginning = Date.now();

beforeAll(() => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
});

afterAll(async () => {
  await runLocal(['down', '--home', home]);
  rmSync(home, { recursive: true, force: true });
});

const noneLeft = (text: string) =>
  waitFor(`no process of ${text}`, END_DEADLINE_MILLIS, () => (processesOf(text).length === 0 ? true : undefined));

describe('real input, beside a run of the example', () => {
  const packages = readPackages(PACKAGES.file);
  const cutoff = '2022-01-01T00:00:00Z';
  const nextCutoff = '2022-01-02T00:00:00Z';
  let csv: string;
  let example: Promise<Ended>;
  let first: LocalJson;
  let afterFirst: Seen;

  const runData = async (scheduledTime: string, mode = 'enforce') =>
    jsonOf(
      await runLocal([
        ...['up', '--home', home, '--data', csv, '--scheduled-time', scheduledTime],
        ...['--retention-days', '1461', '--mode', mode, '--keep', '--json'],
      ]),
    );

  beforeAll(async () => {
    csv = join(home, 'packages.csv');
    writeLocalCsv(packages, csv);
    // In a home of its own: `down` must not be what ends it.
    example = runLocal(['up', '--home', join(home, 'example')]);
    first = await runData('2026-01-01T00:00:00Z');
    afterFirst = await look(first);
  }, 8 * MINUTES);

  it.runIf(PACKAGES.which === 'full')('is the file that the figures are known of', () => {
    expect(countStandings(packages, cutoff)).toEqual({
      due: 5536,
      held: 39,
      unreadable: 12,
      'at-cutoff': 116,
      newer: 14476,
    });
  });

  it('is planned and carried out as the file alone says', () => {
    const { due, held, unreadable } = countStandings(packages, cutoff);
    expect(first).toMatchObject({
      runId: 'local-data.v1.20260101T000000Z',
      status: 'complete',
      cutoff: '2022-01-01T00:00:00.000Z',
      discovered: due + held,
      planned: due,
      held,
      processed: due,
      skipped: 0,
      remaining: 0,
      unreadable,
      outcomes: { expired: due },
      proof: { holds: true, terminal: { records: due, digest: first.planDigest } },
      checked: { rows: packages.length, differing: 0 },
      region: 'us-east-1',
      stack: 'Ledgersweep',
    });
    expect(first.planDigest).toMatch(/^[\w-]{43}$/);
    expect(first.cost.writeUnits).toBeGreaterThan(due);
  });

  it('P17 P26 P57: leaves every row as the file alone says, attribute for attribute', () => {
    expectTable(afterFirst, [cutoff]);
    expect(afterFirst).toMatchObject({ workDepth: 0, dlqDepth: 0 });
  });

  it.runIf(PACKAGES.which === 'full')(
    'costs what was quoted before anything was published, within five percent',
    () => {
      const { quote, invoice } = first;
      if (quote === null || invoice === null) throw new Error('There is no quote or no invoice.');
      for (const part of ['calls', 'writeUnits', 'dollars'] as const) {
        expect(Math.abs(invoice[part] - quote[part]) / quote[part], part).toBeLessThan(0.05);
      }
    },
  );

  it('names what a shell needs in a file', () => {
    const file = join(home, 'runs', readdirSync(join(home, 'runs'))[0] ?? '', 'env.sh');
    const text = readFileSync(file, 'utf8');
    for (const [name, value] of Object.entries(first.env)) expect(text).toContain(`export ${name}='${value}'`);
    expect(text).toContain('unset AWS_PROFILE');
  });

  it('P5: joins the finished run at the same scheduled time and changes nothing', async () => {
    const again = await runData('2026-01-01T00:00:00Z');
    expect(again).toEqual(first);
    expect(await look(again)).toEqual(afterFirst);
  });

  it('plans a new run at the next scheduled time, of what is due since then', async () => {
    const next = await runData('2026-01-02T00:00:00Z');
    const { due } = countStandings(packages, cutoff);
    const { due: dueByNow, held } = countStandings(packages, nextCutoff);
    expect(dueByNow).toBeGreaterThan(due);
    expect(next).toMatchObject({ endpoint: first.endpoint, status: 'complete', planned: dueByNow - due, held });
    const seen = await look(next);
    expectTable(seen, [cutoff, nextCutoff]);
    for (const [id, item] of afterFirst.items) {
      if (item.status?.S === 'EXPIRED') expect(seen.items.get(id)).toEqual(item);
    }
  });

  it('P50 P55 P57: does not meet the example, which ends well with all that is done to it', async () => {
    const { code, out, err } = await example;
    expect(err).not.toContain('NOT AS IT MUST BE');
    expect(code).toBe(0);
    expect(out).toMatch(/^Status +complete$/m);
    expect(out).toContain('holds: planned, published and accounted for are the same');
    expect(out).toContain('state_changed 56, held 33, absent 25');
    expect(out).toMatch(/\d+ messages were delivered twice/);
    expect(out).toContain('1 delivery was killed');
    await noneLeft(join(home, 'example'));
    expect(readdirSync(join(home, 'example', 'runs'))).toEqual([]);
  });

  it('is ended by down, and nothing is left', async () => {
    expect(processesOf(home)).not.toEqual([]);
    const { code, err } = await runLocal(['down', '--home', home]);
    expect(code).toBe(0);
    expect(err).toContain(first.endpoint);
    await noneLeft(home);
    expect(readdirSync(join(home, 'runs'))).toEqual([]);
    expect((await runLocal(['down', '--home', home])).err).toContain('Nothing was left up');
  });

  function expectTable(seen: Seen, cutoffs: readonly string[]): void {
    const expected = expectedTable(packages, cutoffs);
    expect([...seen.items.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [id, { expiredAt, ...item }] of seen.items) {
      expect(item).toEqual(expected.get(id));
      if (item.status?.S === 'EXPIRED') expectTimeOfRun(expiredAt?.S);
      else expect(expiredAt).toBeUndefined();
    }
  }

  function expectTimeOfRun(text = ''): void {
    const millis = Date.parse(text);
    expect(new Date(millis).toISOString()).toBe(text);
    expect(millis).toBeGreaterThanOrEqual(beginning);
    expect(millis).toBeLessThanOrEqual(Date.now());
  }
});

it('starts nothing for a bad file, and says which line', async () => {
  const csv = join(home, 'bad.csv');
  writeFileSync(csv, 'id,tenant,last_activity,hold\na,t,,\nb,t,,\na,t,,\n');
  const nothing = join(home, 'nothing');
  const { code, out, err } = await runLocal(['up', '--home', nothing, '--data', csv, '--retention-days', '1']);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('line 4: id "a" is already on line 2');
  expect(existsSync(nothing)).toBe(false);
});

// Server, bootstrap and synthesis run at this point, each with children of its own.
it.each(['SIGINT', 'SIGTERM'] as const)('ends everything that was started by %s', async (signal) => {
  const at = mkdtempSync(join(home, 'signal-'));
  const started = startLocal(['up', '--home', at]);
  await started.saying('bootstrapping');
  await waitFor('the cdk command', END_DEADLINE_MILLIS, () => (processesOf(at).length > 2 ? true : undefined));
  process.kill(started.pid, signal);
  expect((await started.ended).code).toBeGreaterThan(128);
  await noneLeft(at);
});
