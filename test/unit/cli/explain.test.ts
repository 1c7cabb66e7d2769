import { describe, expect, it } from 'vitest';
import { operationKey } from '../../../lib/core/identity/keys.ts';
import type { ExplainView } from '../../../lib/core/read/explain-view.ts';
import { accounts, DUE, deployAccounts } from '../../helpers/accounts.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { idOfKey, keyOfId, testSettings } from '../../model/index.ts';
import { DELETION, DELETION_RUN, deleted, expired } from './deleted.ts';
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

  it('of a record that failed alone speaks of its own unit, and not of its batch, which is done', async () => {
    const deployment = deployAccounts();
    deployment.target.poison('bob', POISON);
    await settle(deployment);
    const terminal = new Terminal(deployment);
    const unit = deployment.ledger.contents().units.find(({ state }) => state === 'quarantined')?.unit ?? '';
    expect(unit).toMatch(/^\d+\.\d+$/);
    const { out } = await terminal.run('explain', 'latest', 'bob');
    expect(out).toContain(`its unit ${unit} is quarantined`);
    expect(out).toContain(`--unit ${unit} --reason`);
    expect(out).toMatch(new RegExp(`Unit ${unit} +split from its batch`));
    expect(out).toContain('ValidationException (permanent)');
    expect((await terminal.run('explain', 'latest', 'ada')).out).not.toContain('split');
    await terminal.run('abandon', '--run', deployment.runId, '--unit', unit, '--reason', 'customer left', '--yes');
    expect((await terminal.run('explain', 'latest', 'bob')).out).toContain(`a person abandoned its unit ${unit}`);
    expect((await terminal.run('explain', 'latest', 'bob')).out).toContain('customer left');
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
    await terminal.run('redrive', '--error-class', POISON.error, '--reason', 'table mended', '--yes');
    await settle(deployment);
    const { out } = await terminal.run('explain', 'latest', 'gus');
    expect(out).toContain('redrive by arn:aws:iam::000000000000:user/ada: table mended');
    expect(out).toContain('Changed by this run: expired.');
    expect((await terminal.run('explain', 'latest', 'cyd')).out).not.toContain('table mended');
  });

  it('believes the key in a record whose batch did not commit', async () => {
    const deployment = deployAccounts();
    // Dead before it could say what it had changed.
    deployment.crew.interference = {
      fate: ({ name }, moment) => (name === 'target.apply' && moment === 'after' ? 'crash' : 'go'),
    };
    await deployment.dispatch();
    for (let time = 0; time < 20; time += 1) {
      await deployment.consume(await deployment.receive());
      deployment.world.advance(60_000);
    }
    const view = await new Terminal(deployment).json<ExplainView>('explain', 'latest', 'cyd');
    expect(deployment.records.row('cyd')?.status).toBe('EXPIRED');
    expect(view.finding).toEqual({ kind: 'changed', outcome: 'expired', saidBy: 'record' });
    expect(view.planned?.state).toBe('in_progress');
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

describe('sweep explain: a run that took only a part', () => {
  it('says of a record before the window that it waits for a wider one', async () => {
    const old = { ...accounts()[0], id: 'old', lastActivity: '2020-01-01T00:00:00.000Z' };
    const deployment = deployAccounts({
      settings: testSettings({ windowDays: '7' }),
      rows: [...accounts(), old],
    });
    await deployment.dispatch();
    const terminal = new Terminal(deployment);
    const { out } = await terminal.run('explain', 'latest', 'old');
    expect(out).toContain('2020-01-01T00:00:00.000Z is before 2024-12-25T00:00:00.000Z, where the window begins');
    expect(out).toContain('and not before 2024-12-25T00:00:00.000Z: window of 7 days');
    const view = await terminal.json<ExplainView>('explain', 'latest', 'old');
    expect(view.finding).toMatchObject({ kind: 'not_planned', because: 'before_window' });
  });

  it('says of a due record that the run did not take that it may be over the limit', async () => {
    const deployment = deployAccounts({ settings: testSettings({ recordsPerRun: '5' }) });
    await settle(deployment);
    const left = DUE.find((id) => deployment.records.row(id)?.status === 'ACTIVE') ?? '';
    const { out } = await new Terminal(deployment).run('explain', 'latest', left);
    expect(out).toContain('the run counted 3 due records over its limit of 5: it may be one of them');
  });
});

describe('sweep explain: a run that was refused', () => {
  it('by a cap: nothing was done to a record of its plan, and why', async () => {
    const deployment = deployAccounts({ settings: testSettings({ capRecords: '7' }) });
    await deployment.dispatch();
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run('explain', 'latest', 'ada');
    expect(exitCode).toBe(0);
    expect(out).toContain('Not changed: the run was refused, so nothing was published.');
    expect(out).toContain('Refused        CapRecords 7: the plan has 8 records.');
    expect(out).toMatch(/Planned +batch 0/);
    const view = await terminal.json<ExplainView>('explain', 'latest', 'ada');
    expect(view).toMatchObject({ finding: { kind: 'refused' }, refusals: [{ parameter: 'CapRecords' }] });
    const held = await terminal.json<ExplainView>('explain', 'latest', 'held');
    expect(held.finding).toMatchObject({ kind: 'not_planned', because: 'held' });
  });

  it('by preflight: there is no plan to look into', async () => {
    const deployment = deployAccounts();
    deployment.probe.grantOnly();
    await deployment.dispatch();
    const view = await new Terminal(deployment).json<ExplainView>('explain', 'latest', 'held');
    expect(view).toMatchObject({ finding: { kind: 'refused' }, planned: null, refusals: [{ parameter: 'Mode' }] });
  });

  it('by preflight after a cap: does not look into the slices of the earlier try', async () => {
    const deployment = deployAccounts({ settings: testSettings({ capRecords: '7' }) });
    await deployment.dispatch();
    deployment.probe.grantOnly();
    await deployment.dispatch();
    const view = await new Terminal(deployment).json<ExplainView>('explain', 'latest', 'ada');
    expect(view).toMatchObject({ finding: { kind: 'refused' }, planned: null });
  });
});

describe('sweep explain: a deletion', () => {
  const ofBatch = (deployment: Deployment, ordinal: number) =>
    deployment.ledger
      .contents()
      .slices.filter((slice) => slice.runId === DELETION_RUN && slice.ordinal === ordinal)
      .flatMap((slice) => slice.entries.map((entry) => idOfKey(entry.key)));

  it('says that the record was deleted, and under which rule', async () => {
    const deployment = await deleted();
    const [id = ''] = ofBatch(deployment, 0);
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run('explain', 'latest', id);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/Answer +Changed by this run: deleted.$/m);
    expect(out).toContain('due where status is "EXPIRED" and expiredAt (iso-8601) is before');
    expect(out).toContain('2026-01-02T00:00:00.000Z: 30 days of grace before the scheduled time 2026-02-01');
    expect(out).toContain('and sweepOperationKey is the key of an earlier run of this policy, which expired it');
    expect(out).toMatch(/with expiredAt .*2026-01-01T00:00:00.\d{3}Z and sweepOperationKey \S{22}/);
    expect(out).toMatch(/Record now +there is none/);
    const view = await terminal.json<ExplainView>('explain', 'latest', id);
    expect(view).toMatchObject({
      finding: { kind: 'changed', outcome: 'deleted', saidBy: 'ledger' },
      rule: { kind: 'delete', state: 'EXPIRED', timestampAttribute: 'expiredAt', window: null },
    });
    const earlier = await terminal.json<ExplainView>('explain', deployment.runId.replace('v2', 'v1'), id);
    expect(earlier.finding).toEqual({ kind: 'changed', outcome: 'expired', saidBy: 'ledger' });
  });

  it('tells gone from deleted, and says where a batch keeps only how many of each', async () => {
    const whole = await deleted(undefined, 1);
    const [gone = ''] = ofBatch(whole, 1);
    const { out } = await new Terminal(whole).run('explain', 'latest', gone);
    expect(out).toContain('Counted as deleted. Gone: it was no longer there at a try after one whose answer was lost');
    const mixed = await deleted(undefined, 3);
    const [either = ''] = ofBatch(mixed, 0);
    const terminal = new Terminal(mixed);
    expect((await terminal.run('explain', 'latest', either)).out).toContain(
      'Removed: its batch is committed and counts only such records (deleted 1, gone 2).',
    );
    const view = await terminal.json<ExplainView>('explain', 'latest', either);
    expect(view.finding).toEqual({ kind: 'deleted_or_gone' });
  });

  it('says of a record made anew under the key of a deleted one that it is another', async () => {
    const deployment = await deleted();
    const [id = ''] = ofBatch(deployment, 0);
    deployment.records.recreate(id);
    const { out } = await new Terminal(deployment).run('explain', 'latest', id);
    expect(out).toContain(
      'Changed by this run: deleted. A record of the same key is there now: it was made anew since.',
    );
  });

  it('P57: says of a record that was held, or used again, between expiry and deletion that it was left alone', async () => {
    const deployment = await deleted(({ records }) => {
      records.hold('ada');
      records.restore('bob');
    });
    const terminal = new Terminal(deployment);
    expect((await terminal.run('explain', 'latest', 'ada')).out).toContain('a hold stood on it when its turn came');
    expect((await terminal.run('explain', 'latest', 'bob')).out).toContain('it was no longer as planned');
  });

  it('says why a record is not in its plan', async () => {
    const deployment = await expired();
    const { records } = deployment;
    records.hold('ada');
    records.expireByHand('closed', '2025-12-01T00:00:00.000Z');
    records.expireByHand('newer', '2025-12-01T00:00:00.000Z', { sweepOperationKey: 'another' });
    records.expireByHand('at-cutoff', '2026-01-20T00:00:00.000Z');
    await deployment.dispatch(DELETION);
    const terminal = new Terminal(deployment);
    const because = async (id: string) => (await terminal.json<ExplainView>('explain', 'latest', id)).finding;
    expect(await because('ada')).toMatchObject({ because: 'held' });
    expect(await because('held')).toMatchObject({ because: 'other_state' });
    expect(await because('closed')).toMatchObject({ because: 'not_expired_by_us' });
    expect(await because('newer')).toMatchObject({ because: 'not_expired_by_us' });
    expect(await because('at-cutoff')).toMatchObject({ because: 'newer' });
    expect((await terminal.run('explain', 'latest', 'held')).out).toContain('only "EXPIRED" is eligible');
    expect((await terminal.run('explain', 'latest', 'closed')).out).toContain('it carries no operation key');
    expect((await terminal.run('explain', 'latest', 'newer')).out).toContain('no earlier run of this policy gave it');
  });

  it('says of a record that came to be due after the plan that it would be due', async () => {
    const deployment = await expired();
    deployment.records.hold('ada');
    await deployment.dispatch(DELETION);
    deployment.records.release('ada');
    const view = await new Terminal(deployment).json<ExplainView>('explain', 'latest', 'ada');
    expect(view.finding).toMatchObject({ kind: 'not_planned', because: 'due' });
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
