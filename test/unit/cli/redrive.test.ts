import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../lib/cli/world.ts';
import type { QuarantineList, RedriveResult } from '../../../lib/core/redrive/redrive.ts';
import { deployAccounts } from '../../helpers/accounts.ts';
import { settle } from '../../helpers/settle.ts';
import { CALLER, Terminal, type TerminalOptions } from './terminal.ts';

async function quarantined() {
  const deployment = deployAccounts();
  deployment.target.poison('gus', { class: 'permanent', error: 'ValidationException' });
  await settle(deployment);
  deployment.target.heal('gus');
  return deployment;
}

function answering(answer: Answer): TerminalOptions {
  return { functions: { call: async () => answer } };
}

const REDRIVE = ['redrive', '--all', '--reason', 'mended'] as const;
const DONE: RedriveResult = {
  redriven: [{ runId: 'r', unit: '0', generation: 1 }],
  published: 1,
  deleted: 1,
  left: 0,
  truncated: false,
};

describe('sweep quarantine', () => {
  it('lists what waits for a person', async () => {
    const terminal = new Terminal(await quarantined());
    const { exitCode, out } = await terminal.run('quarantine');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^accounts\.v1\.20260101T000000Z +\d +small-0 +1 .* permanent_failure +ValidationException$/m);
    expect(out).toMatch(/Dead letters +quarantined 1$/m);
    const list = await terminal.json<QuarantineList>('quarantine');
    expect(list.units).toMatchObject([{ tenant: 'small-0', state: 'quarantined', generation: 0, attempts: 1 }]);
    expect(terminal.called).toEqual([{ act: 'list' }, { act: 'list' }]);
  });

  it('shows messages that could not be read, and says where the list is not complete', async () => {
    const deployment = deployAccounts();
    await deployment.queue.sendDeadLetter('{', {}, 'g');
    await deployment.ledger.recordBadMessage({ policyId: 'accounts', digest: 'd1', reason: 'malformed', at: 0 });
    const { out } = await new Terminal(deployment).run('quarantine');
    expect(out).toMatch(/Unreadable +malformed 1/);
    expect(out).toMatch(/^d1 +1970-01-01T00:00:00.000Z +malformed$/m);
    const list = await new Terminal(deployment).json<QuarantineList>('quarantine');
    const cut = new Terminal(deployment, answering({ kind: 'answered', value: { ...list, truncated: true } }));
    expect((await cut.run('quarantine')).err).toContain('not complete');
  });
});

describe('sweep redrive', () => {
  it('brings everything back under the name of the caller and the reason, both audited', async () => {
    const deployment = await quarantined();
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run(...REDRIVE, '--yes');
    expect(exitCode).toBe(0);
    expect(terminal.called).toEqual([{ act: 'redrive', actor: CALLER, reason: 'mended', all: true }]);
    expect(out).toMatch(/Redriven +units 1/);
    const trail = await deployment.ledger.auditTrail({ kind: 'run', runId: deployment.runId }, undefined);
    expect(trail.items).toMatchObject([{ act: 'redrive', actor: CALLER, reason: 'mended' }]);
    await settle(deployment);
    expect(deployment.records.row('gus')?.status).toBe('EXPIRED');
  });

  it('shows what would come back and asks', async () => {
    const deployment = await quarantined();
    const no = new Terminal(deployment, { answer: '' });
    const refused = await no.run(...REDRIVE);
    expect(refused).toMatchObject({ exitCode: 5, out: '' });
    expect(refused.err).toContain('small-0');
    expect(no.called).toEqual([{ act: 'list' }]);
    const yes = new Terminal(deployment, { answer: 'yes' });
    expect((await yes.run(...REDRIVE)).exitCode).toBe(0);
    expect(yes.called).toHaveLength(2);
  });

  it('wants --yes where nobody can be asked, and a reason in any case', async () => {
    const terminal = new Terminal(await quarantined());
    expect((await terminal.run(...REDRIVE)).err).toContain('--yes');
    for (const reason of [[], ['--reason', ' ']]) {
      const { exitCode, err } = await terminal.run('redrive', '--all', '--yes', ...reason);
      expect(exitCode).toBe(2);
      expect(err).toContain('--reason');
    }
    expect(terminal.called).toEqual([]);
  });

  it('only lists with --dry-run', async () => {
    const terminal = new Terminal(await quarantined());
    const { exitCode, out } = await terminal.run('redrive', '--all', '--dry-run');
    expect(exitCode).toBe(0);
    expect(out).toContain('small-0');
    expect(terminal.called).toEqual([{ act: 'list' }]);
  });

  it('says that there was nothing', async () => {
    const terminal = new Terminal(deployAccounts(), { answer: 'yes' });
    expect((await terminal.run('redrive', '--all', '--dry-run')).exitCode).toBe(3);
    expect((await terminal.run(...REDRIVE)).exitCode).toBe(3);
    expect(terminal.questions).toEqual([]);
    expect((await terminal.run(...REDRIVE, '--yes')).exitCode).toBe(3);
  });

  it.each([
    ['there is more', { truncated: true }, 'run it again'],
    ['messages are left', { left: 2 }, '2 messages stay'],
    ['not all is sent', { published: 0 }, 'the reconciler sends the rest'],
  ])('is partly done where %s', async (_name, change, sentence) => {
    const value = { ...DONE, ...change };
    const terminal = new Terminal(deployAccounts(), answering({ kind: 'answered', value }));
    const { exitCode, err, out } = await terminal.run(...REDRIVE, '--yes', '--json');
    expect(exitCode).toBe(4);
    expect(err).toContain(sentence);
    expect(JSON.parse(out)).toEqual(value);
  });

  it.each(['RefusedRequest', 'Runtime.HandlerError'])('says why the function refused: %s', async (errorType) => {
    const failed = {
      kind: 'failed',
      errorType,
      errorMessage: 'Refused, nothing was changed. Why.',
    } as const;
    const { exitCode, err } = await new Terminal(deployAccounts(), answering(failed)).run(...REDRIVE, '--yes');
    expect([exitCode, err]).toEqual([5, 'sweep: Refused, nothing was changed. Why.\n']);
  });

  it('says that the function failed, and where to look', async () => {
    const failed = { kind: 'failed', errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out.' } as const;
    const { exitCode, err } = await new Terminal(deployAccounts(), answering(failed)).run(...REDRIVE, '--yes');
    expect(exitCode).toBe(1);
    expect(err).toContain('Function redrive failed with Sandbox.Timedout: Task timed out. See its log.');
    const silent = answering({ kind: 'answered', value: null });
    expect((await new Terminal(deployAccounts(), silent).run('quarantine')).exitCode).toBe(1);
  });
});
