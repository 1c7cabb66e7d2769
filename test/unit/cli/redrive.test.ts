import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../lib/cli/world.ts';
import type { ActView, QuarantineView } from '../../../lib/core/redrive/views.ts';
import { deployAccounts } from '../../helpers/accounts.ts';
import { settle } from '../../helpers/settle.ts';
import { CALLER, Terminal, type TerminalOptions } from './terminal.ts';

const FATAL = 'ValidationException';

async function quarantined() {
  const deployment = deployAccounts();
  deployment.target.poison('gus', { class: 'permanent', error: FATAL });
  await settle(deployment);
  deployment.target.heal('gus');
  return deployment;
}

function answering(answer: Answer): TerminalOptions {
  return { functions: { call: async () => answer } };
}

const REDRIVE = ['redrive', '--error-class', FATAL, '--reason', 'mended'] as const;

const ALL = ['redrive', '--all', '--reason', 'r', '--yes'] as const;

const PART: ActView = {
  ...{ act: 'redrive', dryRun: false, selection: 'd', selected: 3, units: [], moved: 0, alreadyMoved: 0, left: 0 },
  ...{ next: null, leftOut: { permanent: 0, generations: 0, cancelledRun: 0 }, truncated: false, published: 0 },
  ...{ deleted: 0, paceEndsAt: null },
};

/** The function answers one after the other, whatever it is asked; where there is none left it fails. */
function inTurn(...answers: readonly Partial<ActView>[]) {
  const left = [...answers];
  const events: object[] = [];
  const call = async (_name: string, event: object): Promise<Answer> => {
    events.push(event);
    const next = left.shift();
    if (next === undefined) throw new Error('socket hang up');
    return { kind: 'answered', value: { ...PART, ...next } };
  };
  return { events, options: { functions: { call } } };
}

describe('sweep quarantine', () => {
  it('groups what waits for a person, from the ledger alone', async () => {
    const terminal = new Terminal(await quarantined());
    const { exitCode, out } = await terminal.run('quarantine');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^permanent_failure +ValidationException +permanent +1 +1 .* 1[34]d$/m);
    expect(out).not.toContain('small-0');
    expect((await terminal.run('quarantine', '--units')).out).toContain('small-0');
    const view = await terminal.json<QuarantineView>('quarantine');
    expect(view).toMatchObject({ units: 1, groups: [{ units: 1, errorClass: FATAL }], queues: { deadLetter: 1 } });
    expect((await terminal.json<QuarantineView>('quarantine', '--tenant', 'big')).units).toBe(0);
    expect(terminal.called).toEqual([]);
  });

  it('takes `latest` for a run, and does not take one that is not there for one where nothing waits', async () => {
    const deployment = await quarantined();
    const terminal = new Terminal(deployment);
    expect((await terminal.json<QuarantineView>('quarantine', '--run', 'latest')).units).toBe(1);
    expect(await terminal.json<ActView>('abandon', '--run', 'latest', '--dry-run')).toMatchObject({ selected: 1 });
    expect(terminal.called).toEqual([{ act: 'abandon', filter: { run: deployment.runId }, dryRun: true }]);
    for (const args of [['quarantine'], ['redrive', '--dry-run'], ['abandon', '--reason', 'r', '--yes']]) {
      const { exitCode, out, err } = await terminal.run(...args, '--run', 'mistyped');
      expect([exitCode, out, err.includes('mistyped is not in the ledger')]).toEqual([3, '', true]);
    }
    expect(terminal.called).toHaveLength(1);
  });

  it('shows messages that could not be read', async () => {
    const deployment = deployAccounts();
    await deployment.ledger.recordBadMessage({ policyId: 'accounts', digest: 'd1', reason: 'malformed', at: 0 });
    expect((await new Terminal(deployment).run('quarantine')).out).toMatch(
      /^d1 +1970-01-01T00:00:00.000Z +malformed$/m,
    );
  });

  it('says how many of them it shows, and where there are more', async () => {
    const deployment = deployAccounts();
    const terminal = new Terminal(deployment);
    for (let n = 0; n < 101; n += 1) {
      const before = await terminal.run('quarantine');
      expect([before.err, before.out.includes('and more')]).toEqual(['', false]);
      await deployment.ledger.recordBadMessage({ policyId: 'accounts', digest: `d${n}`, reason: 'malformed', at: 0 });
    }
    const { out, err } = await terminal.run('quarantine');
    expect(out).toMatch(/^Unreadable +messages 100 and more$/m);
    expect(err).toContain('more unreadable messages than the 100 shown');
  });
});

describe('sweep redrive', () => {
  it('brings back what is named, in the name of the caller and the reason, both audited', async () => {
    const deployment = await quarantined();
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run(...REDRIVE, '--yes');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/Redriven +units 1/);
    const [frozen, real] = terminal.called as { selection?: string; actor?: string }[];
    expect(frozen).toEqual({ act: 'redrive', filter: { errorClass: FATAL }, dryRun: true });
    expect(real).toMatchObject({ act: 'redrive', actor: CALLER, reason: 'mended', from: 0 });
    expect(real?.selection).toMatch(/^[\w-]{43}$/);
    const trail = await deployment.ledger.auditTrail({ kind: 'run', runId: deployment.runId }, undefined);
    expect(trail.items).toMatchObject([
      { act: 'redrive', actor: CALLER, reason: 'mended', selection: real?.selection },
    ]);
    await settle(deployment);
    expect(deployment.records.row('gus')?.status).toBe('EXPIRED');
  });

  it('shows what would come back and asks; without a yes nothing moves', async () => {
    const deployment = await quarantined();
    const before = deployment.ledger.contents().units;
    const no = new Terminal(deployment, { answer: '' });
    const refused = await no.run(...REDRIVE);
    expect(refused).toMatchObject({ exitCode: 5, out: '' });
    expect(refused.err).toMatch(/Selected +units 1/);
    expect(deployment.ledger.contents().units).toEqual(before);
    const yes = new Terminal(deployment, { answer: 'yes' });
    expect((await yes.run(...REDRIVE)).exitCode).toBe(0);
    expect(yes.called).toHaveLength(2);
  });

  it('can be held to what a dry run has frozen', async () => {
    const deployment = await quarantined();
    const terminal = new Terminal(deployment);
    const preview = await terminal.json<ActView>('redrive', '--error-class', FATAL, '--dry-run');
    expect(preview).toMatchObject({ dryRun: true, selected: 1, moved: 0 });
    const held = ['redrive', '--selection', preview.selection, '--reason', 'as agreed', '--yes'] as const;
    expect(await terminal.json<ActView>(...held)).toMatchObject({ moved: 1 });
    expect((await terminal.run(...held)).exitCode).toBe(3);
  });

  it('of everything leaves out what failed for good, and says how to name it', async () => {
    const terminal = new Terminal(await quarantined());
    const { exitCode, err } = await terminal.run('redrive', '--all', '--reason', 'mended', '--yes');
    expect(exitCode).toBe(3);
    expect(err).toContain('Left out: 1 units that failed for good');
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

  it('says that there was nothing, and does not ask', async () => {
    const terminal = new Terminal(deployAccounts(), { answer: 'yes' });
    expect((await terminal.run('redrive', '--all', '--dry-run')).exitCode).toBe(3);
    expect((await terminal.run(...REDRIVE)).exitCode).toBe(3);
    expect(terminal.questions).toEqual([]);
  });

  it('goes on until nothing of the selection is left, at one rate, and adds up', async () => {
    const until = '2026-01-01T00:01:00.000Z';
    const { events, options } = inTurn(
      { dryRun: true, left: 3, paceEndsAt: until },
      { moved: 2, published: 2, left: 1, next: 2, paceEndsAt: until },
      { moved: 1, published: 1, deleted: 3 },
    );
    const terminal = new Terminal(deployAccounts(), options);
    const view = await terminal.json<ActView>('redrive', '--all', '--reason', 'r', '--rate', '2', '--yes');
    expect(view).toMatchObject({ moved: 3, published: 3, deleted: 3, left: 0, next: null });
    expect(events[0]).toMatchObject({ all: true, perSecond: 2, dryRun: true });
    expect(events[1]).toMatchObject({ selection: 'd', from: 0, perSecond: 2 });
    expect(events[1]).not.toHaveProperty('startAt');
    expect(events[2]).toMatchObject({ selection: 'd', from: 2, perSecond: 2, startAt: until });
  });

  it('at a rate says how long it takes before anybody agrees', async () => {
    const units = Array.from({ length: 11 }, (_, unit) => ({ runId: 'a', unit: `${unit}`, generation: 0 }));
    for (const [rate, takes] of [
      ['0.01', '18m'],
      ['5', '3s'],
      ['0.001', '3h'],
    ] as const) {
      const { options } = inTurn({ dryRun: true, units, selected: 11 }, { dryRun: true, units, selected: 11 });
      const terminal = new Terminal(deployAccounts(), { ...options, answer: 'no' });
      const spacing = new RegExp(`^Spacing +${takes} for 11 units at ${rate} per second$`, 'm');
      expect((await terminal.run('redrive', '--all', '--rate', rate, '--reason', 'r')).err).toMatch(spacing);
      expect((await terminal.run('redrive', '--all', '--rate', rate, '--dry-run')).out).toMatch(spacing);
    }
  });

  it('of a named unit that is not in quarantine says where to look', async () => {
    const deployment = await quarantined();
    const named = ['redrive', '--run', deployment.runId, '--unit', '0', '--dry-run'];
    const { exitCode, err } = await new Terminal(deployment).run(...named);
    expect([exitCode, err.includes(`sweep inspect ${deployment.runId} 0`)]).toEqual([3, true]);
  });

  it('of a paused policy says that it is paused, by whom, and what follows', async () => {
    const deployment = await quarantined();
    const terminal = new Terminal(deployment);
    await terminal.run('pause', '--reason', 'wrong tenants');
    const { exitCode, err } = await terminal.run(...REDRIVE, '--yes');
    expect(exitCode).toBe(0);
    expect(err).toMatch(/The policy is paused since 20\S+ by arn\S+ada: .* once it is resumed/);
    const { options } = inTurn({ dryRun: true }, { moved: 3, published: 1 });
    const unpaused = await new Terminal(deployAccounts(), options).run(...ALL);
    expect(unpaused.err).toContain('sent by the reconciler when it is due');
    expect(unpaused.err).not.toContain('paused');
  });

  it('whose answer is lost in the middle says what was done and how to finish it', async () => {
    const { options } = inTurn({ dryRun: true }, { moved: 2, left: 1, next: 2 });
    const terminal = new Terminal(deployAccounts(), { ...options, watched: true });
    const { exitCode, out, err } = await terminal.run(...ALL);
    expect([exitCode, out]).toEqual([4, '']);
    expect(err).toContain('socket hang up');
    expect(err).toContain('2 of 3 units');
    expect(err).toContain('--selection d');
    expect(terminal.statuses.at(-1)).toBe('');
  });

  it('that is refused in the middle was partly done; refused at once, it was not', async () => {
    const refusal: Answer = { kind: 'failed', errorType: 'RefusedRequest', errorMessage: 'Refused. Why.' };
    for (const [before, exitCode] of [
      [[{ dryRun: true }], 5],
      [[{ dryRun: true }, { moved: 2, left: 1, next: 2 }], 4],
    ] as const) {
      const answers = before.map((part): Answer => ({ kind: 'answered', value: { ...PART, ...part } }));
      const functions = { call: async () => answers.shift() ?? refusal };
      const ran = await new Terminal(deployAccounts(), { functions }).run(...ALL);
      expect([ran.exitCode, ran.err.includes('Why.')]).toEqual([exitCode, true]);
    }
  });

  it('stops where a call gets no further', async () => {
    const stuck = { left: 1, next: 2 };
    const { events, options } = inTurn({ dryRun: true }, { ...stuck, moved: 2 }, stuck, stuck, stuck);
    const { exitCode, err } = await new Terminal(deployAccounts(), options).run(...ALL);
    expect([exitCode, events.length]).toEqual([4, 3]);
    expect(err).toContain('--selection d');
  });

  it('shows a watching person how far it is, and clears the line', async () => {
    const { options } = inTurn({ dryRun: true }, { moved: 2, left: 1, next: 2 }, { moved: 1 });
    const terminal = new Terminal(deployAccounts(), { ...options, watched: true });
    expect((await terminal.run(...ALL)).exitCode).toBe(0);
    expect(terminal.statuses.map((line) => line.replace(/^\[.*\] /, ''))).toEqual([
      ...['0 of 3 units', '2 of 3 units', '3 of 3 units', ''],
    ]);
  });

  it('shows how many units of which run are meant', async () => {
    const units = ['a', 'a', 'b'].map((runId, n) => ({ runId, unit: `${n + 7}`, generation: 0 }));
    const { options } = inTurn({ dryRun: true, units, truncated: true });
    const { err } = await new Terminal(deployAccounts(), { ...options, answer: 'no' }).run(...ALL.slice(0, -1));
    expect(err).toMatch(/^a +2 +7 +8$/m);
    expect(err).toMatch(/^b +1 +9 +9$/m);
    expect(err).toContain('More matched than one selection holds');
  });

  it('says what was left out, also where nobody is asked, and counts what came up since the selection', async () => {
    const late = { permanent: 0, generations: 0, cancelledRun: 2 };
    const frozen = { permanent: 4, generations: 0, cancelledRun: 0 };
    const { options } = inTurn({ dryRun: true, leftOut: frozen }, { moved: 1, published: 1, leftOut: late });
    const { exitCode, err } = await new Terminal(deployAccounts(), options).run(...ALL);
    expect(exitCode).toBe(4);
    expect(err).toContain('Left out: 4 units that failed for good');
    expect(err).toContain('Left out: 2 units of a run that was cancelled');
  });

  it('held to a selection whose run was cancelled since does nothing, and says why', async () => {
    const deployment = await quarantined();
    const terminal = new Terminal(deployment);
    const { selection } = await terminal.json<ActView>('redrive', '--error-class', FATAL, '--dry-run');
    const late = { permanent: 0, generations: 0, cancelledRun: 1 };
    const { options } = inTurn({ dryRun: true, selection }, { leftOut: late });
    const { exitCode, err } = await new Terminal(deployment, options).run(
      ...['redrive', '--selection', selection, '--reason', 'as agreed', '--yes'],
    );
    expect([exitCode, err.includes('can only be abandoned')]).toEqual([3, true]);
  });

  it('is partly done where more matched than one selection holds', async () => {
    const { options } = inTurn({ dryRun: true, truncated: true }, { moved: 3, published: 3 });
    const { exitCode, err } = await new Terminal(deployAccounts(), options).run(
      'redrive',
      '--all',
      '--reason',
      'r',
      '--yes',
    );
    expect([exitCode, err.includes('run it again')]).toEqual([4, true]);
  });

  it.each(['RefusedRequest', 'Runtime.HandlerError'])('says why the function refused: %s', async (errorType) => {
    const failed = { kind: 'failed', errorType, errorMessage: 'Refused, nothing was changed. Why.' } as const;
    const { exitCode, err } = await new Terminal(deployAccounts(), answering(failed)).run(...REDRIVE, '--yes');
    expect([exitCode, err]).toEqual([5, 'sweep: Refused, nothing was changed. Why.\n']);
  });

  it('says that the function failed, and where to look', async () => {
    const failed = { kind: 'failed', errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out.' } as const;
    const { exitCode, err } = await new Terminal(deployAccounts(), answering(failed)).run(...REDRIVE, '--yes');
    expect(exitCode).toBe(1);
    expect(err).toContain('Function redrive failed with Sandbox.Timedout: Task timed out. See its log.');
  });
});
