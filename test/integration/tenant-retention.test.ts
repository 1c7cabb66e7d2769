import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCAL_HOME } from '../../lib/local/paths.ts';
import { jsonOf, type LocalJson, runLocal } from '../helpers/local-run.ts';

const MINUTES = 60_000;

let home: string;
let end: LocalJson;

beforeAll(async () => {
  mkdirSync(LOCAL_HOME, { recursive: true });
  home = mkdtempSync(join(LOCAL_HOME, 'test-'));
  // It compares every row after every step by itself, and exits with 1 where one differs.
  end = jsonOf(await runLocal(['up', '--home', home, '--example', 'tenant-retention', '--json']));
}, 6 * MINUTES);

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the example tenant-retention', () => {
  it('reports, enforces in a window, enforces, and deletes, each at its own scheduled time', () => {
    const runs = end.runs ?? [];
    expect(runs.map(({ status, kind, mode, policyVersion }) => [status, kind, mode, policyVersion])).toEqual([
      ['reported', 'expire', 'report-only', 'v1'],
      ['complete', 'expire', 'enforce', 'v1'],
      ['complete', 'expire', 'enforce', 'v1'],
      ['complete', 'delete', 'enforce', 'v2'],
    ]);
    expect(runs.map(({ window }) => window?.days)).toEqual([undefined, 30, undefined, undefined]);
    const times = runs.map(({ scheduledTime }) => Date.parse(scheduledTime));
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    expect(end.checked.differing).toBe(0);
  });

  it('plans for a deletion what the runs before it expired, and nothing else', () => {
    const [, narrow, wide, deletion] = end.runs ?? [];
    const expired = (narrow?.outcomes.expired ?? 0) + (wide?.outcomes.expired ?? 0);
    expect(expired).toBeGreaterThan(500);
    expect(deletion).toMatchObject({ discovered: expired, held: 10 });
    // A hold after the plan, a record made anew under its key, and one that is gone: 10, 10 and 5 of them.
    expect(deletion?.outcomes).toEqual({ deleted: expired - 10 - 25, state_changed: 10, held: 10, absent: 5 });
  });

  it('meets a second writer: what it updated after the plan does not expire', () => {
    const [, narrow, wide] = end.runs ?? [];
    for (const run of [narrow, wide]) {
      expect(run?.outcomes.state_changed).toBeGreaterThan(0);
      expect(run?.outcomes.held).toBeGreaterThan(0);
    }
  });

  it('leaves nothing behind', () => expect(readdirSync(join(home, 'runs'))).toEqual([]));
});
