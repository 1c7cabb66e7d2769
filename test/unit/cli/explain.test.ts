import { describe, expect, it } from 'vitest';
import { operationKey } from '../../../lib/core/identity/keys.ts';
import type { ExplainView } from '../../../lib/core/read/explain-view.ts';
import { accounts, deployAccounts } from '../../helpers/accounts.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { keyOfId, testSettings } from '../../model/index.ts';
import { Terminal } from './terminal.ts';

const POISON = { class: 'permanent', error: 'ValidationException' } as const;

/** A run over accounts of which some changed between plan and consume. */
async function eventful(options: Parameters<typeof deployAccounts>[0] = {}): Promise<Deployment> {
  const deployment = deployAccounts(options);
  await deployment.dispatch();
  deployment.records.reactivate('ada');
  deployment.records.hold('bob');
  deployment.records.remove('dan');
  deployment.target.poison('gus', POISON);
  await settle(deployment);
  return deployment;
}

function ours(deployment: Deployment, id: string): string {
  const { policyId, policyVersion } = deployment.settings;
  const cutoff = deployment.scheduledTime - deployment.settings.retentionDays * 86_400_000;
  return operationKey({ policyId, policyVersion, recordKey: keyOfId(id), cutoff, kind: 'expire' });
}

describe('sweep explain: a record of the plan', () => {
  it.each([
    ['cyd', { kind: 'changed', outcome: 'expired', saidBy: 'ledger' }, 'Changed by this run: expired.'],
    ['ada', { kind: 'skipped', outcome: 'state_changed' }, 'no longer as planned'],
    ['bob', { kind: 'skipped', outcome: 'held' }, 'a hold stood on it'],
    ['dan', { kind: 'skipped', outcome: 'absent' }, 'no longer there'],
    [
      'gus',
      { kind: 'quarantined', reason: 'permanent_failure', errorClass: 'ValidationException' },
      'quarantined (permanent_failure, ValidationException)',
    ],
  ])('says what became of %s', async (id, finding, sentence) => {
    const deployment = await eventful();
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run('explain', 'latest', id);
    expect(exitCode).toBe(0);
    expect(out).toContain(sentence);
    const view = await terminal.json<ExplainView>('explain', deployment.runId, id);
    expect(view).toMatchObject({ key: keyOfId(id), finding, operationKey: ours(deployment, id) });
    expect(view.planned).toMatchObject({ sliceIntact: true, state: id === 'gus' ? 'quarantined' : 'committed' });
    expect(view.planned?.accountedFor).toBe(id === 'gus' ? null : true);
  });

  it('says under which rule and cutoff, in which batch, by which attempts, and that the record carries our key', async () => {
    const deployment = await eventful();
    const { out } = await new Terminal(deployment).run('explain', 'latest', 'cyd');
    expect(out).toContain('policy accounts, version v1, digest ');
    expect(out).toContain('2025-01-01T00:00:00.000Z: 365 days before the scheduled time 2026-01-01T00:00:00.000Z');
    expect(out).toMatch(/batch 0, record \d of 3, tenant big/);
    expect(out).toContain('attempts 1, generation 0');
    expect(out).toContain(`Operation key  ${ours(deployment, 'cyd')}`);
    expect(out).toContain("carries this run's operation key");
    const { rule } = await new Terminal(deployment).json<ExplainView>('explain', 'latest', 'cyd');
    expect(rule.settings).toEqual(deployment.settings);
  });

  it('says that a record we changed was changed again or removed since', async () => {
    const deployment = await eventful();
    deployment.records.put({ ...deployment.records.row('cyd'), status: 'ACTIVE', sweepOperationKey: 'another' });
    deployment.records.remove('eve');
    const terminal = new Terminal(deployment);
    expect((await terminal.run('explain', 'latest', 'cyd')).out).toContain('it was changed again since');
    expect((await terminal.run('explain', 'latest', 'eve')).out).toContain('The record has been removed since');
  });

  it('names whoever brought its batch back, and why', async () => {
    const deployment = await eventful();
    deployment.target.heal('gus');
    const terminal = new Terminal(deployment);
    await terminal.run('redrive', '--all', '--reason', 'table mended', '--yes');
    await settle(deployment);
    const { out } = await terminal.run('explain', 'latest', 'gus');
    expect(out).toContain('redrive by arn:aws:iam::000000000000:user/ada: table mended');
    expect(out).toContain('Changed by this run: expired.');
    expect((await terminal.run('explain', 'latest', 'cyd')).out).not.toContain('table mended');
  });

  it('believes the key in a record whose batch did not commit', async () => {
    const deployment = deployAccounts();
    deployment.target.poison('ada', POISON);
    await settle(deployment);
    const view = await new Terminal(deployment).json<ExplainView>('explain', 'latest', 'cyd');
    expect(deployment.records.row('cyd')?.status).toBe('EXPIRED');
    expect(view.finding).toEqual({ kind: 'changed', outcome: 'expired', saidBy: 'record' });
    expect(view.planned?.state).toBe('quarantined');
    expect((await new Terminal(deployment).run('explain', 'latest', 'cyd')).out).toContain(
      'has its batch not committed',
    );
  });

  it('follows a batch from the plan to the consumer', async () => {
    const deployment = deployAccounts();
    await deployment.dispatch();
    const { out } = await new Terminal(deployment).run('explain', 'latest', 'ada');
    expect(out).toContain('Not done yet: its batch is in the work queue.');
    expect(out).toContain('published, not started by any delivery');
  });

  it('says of a report-only run that nothing was to happen', async () => {
    const deployment = deployAccounts({ settings: testSettings({ mode: 'report-only' }) });
    await settle(deployment);
    const view = await new Terminal(deployment).json<ExplainView>('explain', 'latest', 'ada');
    expect(view.finding).toEqual({ kind: 'reported' });
  });

  it('says so where the ledger kept only counts, and goes by the key in the record where there is one', async () => {
    const deployment = await eventful();
    const { ledger } = deployment;
    const read = ledger.readUnit.bind(ledger);
    ledger.readUnit = async (ref) => {
      const { exceptions: _, ...unit } = (await read(ref)) ?? {};
      return unit as Awaited<ReturnType<typeof read>>;
    };
    const terminal = new Terminal(deployment);
    expect((await terminal.json<ExplainView>('explain', 'latest', 'ada')).finding).toEqual({
      kind: 'outcome_not_kept',
    });
    expect((await terminal.run('explain', 'latest', 'ada')).out).toContain('is not kept');
    const expired = await terminal.json<ExplainView>('explain', 'latest', 'cyd');
    expect(expired.finding).toEqual({ kind: 'changed', outcome: 'expired', saidBy: 'record' });
    const uniform = await terminal.json<ExplainView>('explain', 'latest', 'hal');
    expect(uniform.finding).toEqual({ kind: 'changed', outcome: 'expired', saidBy: 'ledger' });
  });
});

describe('sweep explain: a record outside the plan', () => {
  it.each([
    ['P26: at-cutoff', 'at-cutoff', 'at_cutoff', 'exactly the cutoff 2025-01-01T00:00:00.000Z'],
    ['newer', 'newer', 'newer', 'is after the cutoff'],
    ['P57: held', 'held', 'held', 'it is held back by hold'],
    ['closed', 'closed', 'other_state', 'its state is "CLOSED", and only "ACTIVE" is eligible'],
    ['P17: unreadable', 'unreadable', 'unreadable', 'its lastActivity is unreadable (null)'],
    ['no tenant', 'no-tenant', 'unreadable', 'its tenant is unreadable (tenant_unreadable)'],
    ['nobody', 'nobody', 'absent', 'There is no such record now'],
    ['late', 'late', 'due', 'As it is now it would be due'],
  ])('%s: says why not, as the record is now', async (_name, id, because, sentence) => {
    const deployment = await eventful();
    deployment.records.put({ ...accounts()[0], id: 'late' });
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run('explain', 'latest', id);
    expect(exitCode).toBe(0);
    expect(out).toContain('Not in the plan of run accounts.v1.20260101T000000Z.');
    expect(out).toContain(sentence);
    const view = await terminal.json<ExplainView>('explain', 'latest', id);
    expect(view).toMatchObject({ planned: null, finding: { kind: 'not_planned', because } });
  });

  it('cannot say why not where the record cannot be read, and says what it takes', async () => {
    const lookUp = async () => ({ kind: 'unreachable', error: 'AccessDeniedException' }) as const;
    const { exitCode, out } = await new Terminal(await eventful(), { lookUp }).run('explain', 'latest', 'held');
    expect(exitCode).toBe(0);
    expect(out).toContain('the record could not be read (AccessDeniedException)');
    expect(out).toContain('dynamodb:GetItem on table accounts-table');
  });

  it('knows nothing before the plan is frozen', async () => {
    const deployment = deployAccounts();
    await deployment.dispatch(undefined, { looksAtDeadline: 0 });
    const { out } = await new Terminal(deployment).run('explain', 'latest', 'ada');
    expect(out).toContain('The run has no frozen plan (it is planning)');
  });

  it('refuses a key that the table cannot have, with the form it takes', async () => {
    const { exitCode, err, out } = await new Terminal(await eventful()).run('explain', 'latest', '["Sa","Sb"]');
    expect([exitCode, out]).toEqual([2, '']);
    expect(err).toContain('whose key is id');
  });

  it('does not take a plan with a missing slice for a plan without the record', async () => {
    const deployment = await eventful();
    const slices = deployment.ledger.slices.bind(deployment.ledger);
    deployment.ledger.slices = async (runId, from, before) =>
      (await slices(runId, from, before)).filter((slice) => slice.ordinal !== 1);
    const { exitCode, err } = await new Terminal(deployment).run('explain', 'latest', 'held');
    expect(exitCode).toBe(1);
    expect(err).toContain('slice 1 of the frozen plan is not in the ledger');
  });
});

it('P76: explain prints no attribute that the policy does not name', async () => {
  const deployment = await eventful();
  const terminal = new Terminal(deployment);
  for (const id of ['ada', 'bob', 'cyd', 'held', 'newer']) {
    const text = await terminal.run('explain', 'latest', id);
    const json = await terminal.run('explain', 'latest', id, '--json');
    expect(text.out + json.out).not.toContain(`plan of ${id}`);
    expect(text.out + json.out).not.toContain('legal');
  }
});
