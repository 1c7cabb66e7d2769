import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { main } from '../../../lib/local/main.ts';

const NOWHERE = '.local/never-made';

/** One command line in a world that only listens. */
async function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const code = await main(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    now: () => Date.UTC(2026, 5, 1),
    render: () => '',
  });
  return { code, out, err };
}

describe('the command line of a local run', () => {
  it.each([
    [['--retention-days', '1.5'], '--retention-days: RetentionDays is not a whole number'],
    [['--retention-days', '0'], 'from 1 to 36500; received "0"'],
    [['--retention-days', '36500'], '--retention-days 36500: the cutoff'],
    [['--scheduled-time', '2026-01-01'], '--scheduled-time: scheduledTime must be a UTC instant'],
    [['--scheduled-time', '<aws.scheduler.scheduled-time>'], 'is a placeholder'],
    [['--scheduled-time', '2026-06-01T00:06:00Z'], 'more than five minutes ahead of now'],
    [['--mode', 'delete'], '--mode: Mode is none of the choices: it must be report-only or enforce; received "delete"'],
    [['--example', 'none'], '--example none: there is digest-eligibility'],
    [['--data', 'nowhere.csv', '--retention-days', '1'], 'nowhere.csv: there is no such file'],
    [['--data', 'nowhere.csv'], '--data needs --retention-days'],
    [['--data', 'a.csv', '--example', 'digest-eligibility'], '--data and --example exclude each other'],
    [['--keeping'], "unknown option '--keeping'"],
    [['more'], 'too many arguments'],
  ])('P25: starts nothing for %j, says why and ends with 2', async (args, said) => {
    const { code, out, err } = await run('up', '--home', NOWHERE, ...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(said);
    expect(existsSync(NOWHERE)).toBe(false);
  });

  it('has help with examples and exit codes', async () => {
    const { code, out } = await run('up', '--help');
    expect(code).toBe(0);
    expect(out).toContain('npm run local -- --data accounts.csv');
    expect(out).toContain('Exit codes:');
  });

  it('ends nothing where nothing was left up', async () => {
    expect(await run('down', '--home', NOWHERE)).toEqual({ code: 0, out: '', err: 'Nothing was left up.\n' });
  });
});
