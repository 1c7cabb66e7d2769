import { describe, expect, it } from 'vitest';
import { deployAccounts } from '../../helpers/accounts.ts';
import { Terminal } from './terminal.ts';

const COMMANDS = [
  ...['runs', 'show', 'report', 'explain', 'trigger', 'quarantine', 'inspect', 'redrive', 'abandon'],
  ...['pause', 'resume', 'cancel', 'audit'],
];

describe('sweep', () => {
  it.each([[['--help']], [['runs', '--help']], [['explain', '--help']], [['--version']]])(
    '%j prints to standard output and is done',
    async (args) => {
      const { exitCode, out, err } = await new Terminal(deployAccounts()).run(...args);
      expect([exitCode, err]).toEqual([0, '']);
      expect(out).not.toBe('');
    },
  );

  it('says in every help what the exit codes mean and how the stack is named', async () => {
    const terminal = new Terminal(deployAccounts());
    for (const args of [[], ...COMMANDS.map((name) => [name])]) {
      const { out } = await terminal.run(...args, '--help');
      expect(out).toContain('--stack <name>');
      expect(out).toContain('5  refused');
    }
  });

  it.each(['quarantine', 'inspect', 'redrive', 'abandon', 'pause', 'resume', 'cancel', 'audit'])(
    '%s --help has an example',
    async (name) => {
      const { out } = await new Terminal(deployAccounts()).run(name, '--help');
      expect(out).toMatch(new RegExp(`^Examples:\\n +sweep ${name}`, 'm'));
    },
  );

  it.each([
    [[]],
    [['fly']],
    [['runs', '--limit', '0']],
    [['runs', '--limit', '1e1']],
    [['runs', '--fast']],
    [['show']],
    [['report']],
    [['report', 'latest', 'big']],
    [['trigger', '--preflight', '--now', '--scheduled-time', '2026-01-01T00:00:00Z']],
    [['show', 'latest', 'ada']],
    [['explain', 'latest']],
    [['trigger', '--now', '--scheduled-time', '2026-01-01T00:00:00Z']],
    [['redrive', '--reason', 'because']],
    [['redrive', '--all', '--run', 'r', '--reason', 'because']],
    [['redrive', '--unit', '7', '--reason', 'because']],
    [['redrive', '--older-than', '7 days', '--reason', 'because']],
    [['redrive', '--all', '--rate', '0', '--reason', 'because']],
    [['abandon', '--reason', 'because']],
    [['redrive', '--all', '--rate', '0.0001', '--reason', 'because', '--yes']],
    [['abandon', '--message', 'd', '--dry-run', '--reason', 'because', '--yes']],
    [['abandon', '--message', 'd', '--all', '--reason', 'because', '--yes']],
    [['abandon', '--message', 'd', '--run', 'r', '--reason', 'because', '--yes']],
    [['abandon', '--message', 'd', '--selection', 's', '--reason', 'because', '--yes']],
    [['pause']],
    [['resume', '--yes']],
    [['cancel', '--reason', 'because']],
    [['cancel', 'latest', '--yes']],
    [['inspect', 'latest']],
    [['quarantine', '--unit', '7']],
    [['inspect', 'latest', '07']],
    [['inspect', 'latest', '3x']],
    [['quarantine', '--tenant', '']],
    [['quarantine', '--older-than', '367d']],
    [['redrive', '--run', 'latest', '--unit', 'abc', '--dry-run']],
    [['redrive', '--run', 'latest', '--unit', '07', '--dry-run']],
    ...['--tenant', '--run', '--quarantine-reason', '--error-class', '--selection'].flatMap((flag) => [
      [['redrive', flag, '', '--dry-run']],
      [['abandon', flag, ' ', '--dry-run']],
      [['redrive', flag, 'x'.repeat(501), '--dry-run']],
    ]),
    [['abandon', '--message', '', '--reason', 'because', '--yes']],
    ...[['redrive', '--all', '--yes'], ['abandon', '--message', 'd', '--yes'], ['pause'], ['resume', '--yes']].map(
      (args) => [[...args, '--reason', 'x'.repeat(501)]],
    ),
    [['cancel', 'latest', '--yes', '--reason', 'x'.repeat(501)]],
  ])('%j is a usage error, with nothing on standard output and no look at AWS', async (args) => {
    const terminal = new Terminal(deployAccounts());
    const { exitCode, out, err } = await terminal.run(...args);
    expect([exitCode, out]).toEqual([2, '']);
    expect(err).not.toBe('');
    expect(terminal.stacks).toEqual([]);
  });

  it('takes the stack from the option, else from SWEEP_STACK, else the default', async () => {
    const deployment = deployAccounts();
    const unset = new Terminal(deployment);
    await unset.run('runs');
    expect(unset.stacks).toEqual(['Ledgersweep']);
    const blank = new Terminal(deployment, { env: { SWEEP_STACK: '' } });
    await blank.run('runs');
    expect(blank.stacks).toEqual(['Ledgersweep']);
    const set = new Terminal(deployment, { env: { SWEEP_STACK: 'Orders' } });
    await set.run('runs');
    await set.run('runs', '--stack', 'Digest');
    await set.run('--stack', 'Digest', 'runs');
    expect(set.stacks).toEqual(['Orders', 'Digest', 'Digest']);
  });
});
