import { describe, expect, it } from 'vitest';
import { readAudit } from '../../../lib/core/read/audit.ts';
import { inspectUnit } from '../../../lib/core/read/inspect.ts';
import { readQuarantine } from '../../../lib/core/read/quarantine.ts';
import { nextGeneration } from '../../../lib/core/redrive/by-hand.ts';
import type { AuditView, InspectView, SwitchView } from '../../../lib/core/redrive/views.ts';
import { deployAccounts } from '../../helpers/accounts.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { CALLER, Terminal } from './terminal.ts';

async function quarantined(): Promise<{ deployment: Deployment; unit: string }> {
  const deployment = deployAccounts();
  deployment.target.poison('gus', { class: 'permanent', error: 'ValidationException', requestId: 'req-1' });
  await settle(deployment);
  const waiting = deployment.ledger.contents().units.find(({ state }) => state === 'quarantined');
  return { deployment, unit: waiting?.unit ?? '' };
}

const runOf = ({ ledger }: Deployment) => ledger.contents().runs[0]?.status;

describe('sweep inspect', () => {
  it('shows one unit with its keys, its failure and what a redrive would meet', async () => {
    const { deployment, unit } = await quarantined();
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run('inspect', 'latest', unit);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/Error +ValidationException \(permanent\), request req-1/);
    expect(out).toMatch(/Redrive +name-it/);
    expect(await terminal.json<InspectView>('inspect', 'latest', unit)).toMatchObject({
      ...{ unit: { unit, state: 'quarantined' }, keys: ['["Sgus"]'], redrive: { verdict: 'name-it' } },
    });
    expect((await terminal.run('inspect', 'latest', '999')).exitCode).toBe(3);
    expect((await terminal.run('inspect', 'latest', 'gus')).exitCode).toBe(2);
  });
});

describe('sweep inspect of a unit', () => {
  it('that waits in the ledger says when it is due, and what it failed of as what lies behind it', async () => {
    const { deployment, unit } = await quarantined();
    const terminal = new Terminal(deployment);
    const look = async () => (await terminal.run('inspect', 'latest', unit)).out;
    expect(await look()).toMatch(/^Message +kept until at most 20/m);
    expect(await look()).toMatch(/^Reason +permanent_failure$/m);
    const { runId, ledger } = deployment;
    const due = deployment.world.millis + 3_600_000;
    await ledger.moveUnit(
      { runId, unit },
      'redrive',
      { generation: 0 },
      nextGeneration(0, deployment.world.millis, due),
    );
    expect(await look()).toMatch(new RegExp(`^Due +${new Date(due).toISOString()}$`, 'm'));
    expect(await look()).toMatch(
      /^Last failure +permanent_failure, ValidationException \(permanent\), request req-1$/m,
    );
    expect(await look()).not.toMatch(/^(Reason|Error) /m);
  });

  it('that was done in the end has its last failure only, and one that never failed has none', async () => {
    const { deployment, unit } = await quarantined();
    const terminal = new Terminal(deployment);
    deployment.target.heal('gus');
    await terminal.run('redrive', '--error-class', 'ValidationException', '--reason', 'mended', '--yes');
    await settle(deployment);
    const { out } = await terminal.run('inspect', 'latest', unit);
    expect(out).toMatch(/^State +committed/m);
    expect(out).not.toMatch(/^(Reason|Error|Due) /m);
    const fine = deployment.ledger.contents().units.find(({ errorClass }) => errorClass === undefined)?.unit ?? '';
    expect((await terminal.run('inspect', 'latest', fine)).out).not.toContain('failure');
  });
});

describe('--json of what only reads', () => {
  it('is the view, and nothing else is on standard output', async () => {
    const { deployment, unit } = await quarantined();
    const { ledger, queue, world, runId, settings } = deployment;
    const terminal = new Terminal(deployment);
    await terminal.run('redrive', '--error-class', 'ValidationException', '--reason', 'mended', '--yes');
    await settle(deployment);
    const ports = { ledger, queue, clock: world.clock() };
    const { policyId } = settings;
    expect(await terminal.json('quarantine')).toEqual(await readQuarantine(ports, policyId, {}, 100));
    expect(await terminal.json('inspect', runId, unit)).toEqual(await inspectUnit(ports, runId, unit));
    expect(await terminal.json('audit', runId)).toEqual(await readAudit(ledger, { kind: 'run', runId }));
    expect(await terminal.json('audit')).toEqual(await readAudit(ledger, { kind: 'policy', policyId }));
  });
});

describe('--json of acts', () => {
  it('is what the function answered', async () => {
    const { deployment, unit } = await quarantined();
    const answers: unknown[] = [];
    const functions = {
      call: async (_name: string, event: object) => {
        const ended = await deployment.act(event);
        if (ended.kind !== 'done') throw new Error(ended.kind);
        answers.push(JSON.parse(JSON.stringify(ended.value)));
        return { kind: 'answered', value: answers.at(-1) } as const;
      },
    };
    const terminal = new Terminal(deployment, { functions });
    const why = ['--reason', 'r'] as const;
    for (const args of [
      ['redrive', '--run', deployment.runId, '--unit', unit, '--dry-run'],
      ['abandon', '--run', deployment.runId, '--unit', unit, ...why, '--yes'],
      ['pause', ...why],
      ['resume', ...why, '--yes'],
    ]) {
      expect(await terminal.json(...args)).toEqual(answers.at(-1));
    }
  });
});

describe('sweep abandon', () => {
  it('gives up the named unit after a yes, and its run can close', async () => {
    const { deployment, unit } = await quarantined();
    const args = ['abandon', '--run', deployment.runId, '--unit', unit, '--reason', 'customer left'] as const;
    expect((await new Terminal(deployment, { answer: 'no' }).run(...args)).exitCode).toBe(5);
    const { exitCode, out } = await new Terminal(deployment, { answer: 'yes' }).run(...args);
    expect([exitCode, out]).toEqual([0, expect.stringMatching(/Abandoned +units 1/)]);
    await settle(deployment);
    expect(runOf(deployment)).toBe('complete');
    expect((await new Terminal(deployment).run('show', 'latest')).out).toMatch(/records abandoned 1, cancelled 0/);
    expect((await new Terminal(deployment).run('explain', 'latest', 'gus')).out).toContain(
      'a person abandoned its batch',
    );
  });

  it('gives up a message that nobody can read', async () => {
    const { deployment } = await quarantined();
    await deployment.ledger.recordBadMessage({ policyId: 'accounts', digest: 'd1', reason: 'malformed', at: 0 });
    const terminal = new Terminal(deployment);
    expect((await terminal.run('abandon', '--message', 'd1', '--yes')).exitCode).toBe(2);
    expect((await terminal.run('abandon', '--message', 'd1', '--reason', 'a test', '--yes')).exitCode).toBe(0);
    expect((await terminal.run('abandon', '--message', 'd2', '--reason', 'a test', '--yes')).exitCode).toBe(5);
    expect((await terminal.run('quarantine')).out).not.toContain('d1');
  });
});

describe('sweep pause and resume', () => {
  it('stop and go on, each with a name and a reason; twice is said', async () => {
    const { deployment } = await quarantined();
    const terminal = new Terminal(deployment, { answer: 'yes' });
    expect((await terminal.run('pause')).exitCode).toBe(2);
    const paused = await terminal.json<SwitchView>('pause', '--reason', 'wrong tenants');
    expect(paused).toMatchObject({ result: 'done', paused: { actor: CALLER, reason: 'wrong tenants' } });
    expect(terminal.questions).toEqual([]);
    expect((await terminal.run('pause', '--reason', 'again')).err).toContain('was paused before');
    expect((await terminal.run('quarantine')).out).toContain('paused since');
    expect((await terminal.run('resume', '--reason', 'confirmed')).exitCode).toBe(0);
    expect(terminal.questions).toHaveLength(1);
    expect((await terminal.run('resume', '--reason', 'confirmed', '--yes')).err).toContain('was not paused');
    const trail = await terminal.json<AuditView>('audit', '--policy');
    expect(trail.entries.map(({ act }) => act)).toEqual(['pause', 'resume']);
  });
});

describe('sweep cancel', () => {
  it('ends a run for good after a yes that names it', async () => {
    const deployment = deployAccounts();
    await deployment.dispatch();
    expect((await new Terminal(deployment).run('cancel', 'latest', '--reason', 'r')).err).toContain('--yes');
    const terminal = new Terminal(deployment, { answer: 'yes' });
    const { exitCode, err } = await terminal.run('cancel', 'latest', '--reason', 'wrong tenants');
    expect([exitCode, err.includes(deployment.runId)]).toEqual([0, true]);
    expect(err).toContain('final fifteen to twenty minutes from now');
    expect(runOf(deployment)).toBe('cancelled');
    expect((await terminal.run('cancel', 'latest', '--reason', 'r')).err).toContain('cancelled before');
    await settle(deployment);
    expect(deployment.records.writes).toEqual([]);
  });

  it('of a run that is over is refused', async () => {
    const { deployment } = await quarantined();
    const { exitCode, err } = await new Terminal(deployment).run('cancel', 'latest', '--reason', 'r', '--yes');
    expect([exitCode, err.includes('complete_with_quarantine')]).toEqual([5, true]);
  });
});

describe('sweep audit', () => {
  it('prints who, why and what should confirm it, and says that it holds', async () => {
    const { deployment, unit } = await quarantined();
    const terminal = new Terminal(deployment);
    await terminal.run('redrive', '--run', deployment.runId, '--unit', unit, '--reason', 'mended', '--yes');
    const { exitCode, out } = await terminal.run('audit', 'latest');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/Verified +yes/);
    expect(out).toContain(CALLER);
    expect(out).toMatch(/CloudTrail +Invoke with request id redrive-\d+/);
  });

  it('of a trail that was tampered with ends with an exit code of its own', async () => {
    const { deployment, unit } = await quarantined();
    const terminal = new Terminal(deployment);
    await terminal.run('redrive', '--run', deployment.runId, '--unit', unit, '--reason', 'mended', '--yes');
    const read = deployment.ledger.auditTrail.bind(deployment.ledger);
    deployment.ledger.auditTrail = async (scope, cursor) => {
      const page = await read(scope, cursor);
      return { ...page, items: page.items.map((entry) => ({ ...entry, reason: 'another' })) };
    };
    const { exitCode, out } = await terminal.run('audit', 'latest');
    expect([exitCode, out.includes('Entry 0 is not what was written.')]).toEqual([6, true]);
  });

  it("without a run is the policy's trail", async () => {
    const deployment = deployAccounts();
    const terminal = new Terminal(deployment);
    await terminal.run('pause', '--reason', 'wrong tenants');
    const trail = await terminal.json<AuditView>('audit');
    expect(trail.entries.map(({ act }) => act)).toEqual(['pause']);
    expect(await terminal.json<AuditView>('audit', '--policy')).toEqual(trail);
    expect((await terminal.run('audit', 'latest', '--policy')).exitCode).toBe(2);
  });
});
