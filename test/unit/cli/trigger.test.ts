import { describe, expect, it } from 'vitest';
import { DAY_MILLIS, formatInstant } from '../../../lib/core/identity/instant.ts';
import type { PreflightView, RunView, TriggerView } from '../../../lib/core/views.ts';
import { deployAccounts } from '../../helpers/accounts.ts';
import { settle } from '../../helpers/settle.ts';
import { testSettings } from '../../model/index.ts';
import { expired } from './deleted.ts';
import { CALLER, Terminal } from './terminal.ts';

const NEW_YEAR = '2026-01-01T00:00:00Z';
const RUN = 'accounts.v1.20260101T000000Z';

const reporting = () => deployAccounts({ settings: testSettings({ mode: 'report-only' }) });

describe('sweep trigger', () => {
  it('starts the dispatcher in the name of the caller and waits until the run is planned', async () => {
    const terminal = new Terminal(deployAccounts());
    const { exitCode, out, err } = await terminal.run('trigger', '--scheduled-time', NEW_YEAR, '--yes');
    expect(exitCode).toBe(0);
    expect(terminal.started).toEqual([{ scheduledTime: '2026-01-01T00:00:00.000Z', startedBy: CALLER }]);
    expect(err).toContain(`Started run ${RUN}.`);
    expect(out).toMatch(/Status +draining/);
    expect(out).toContain('planned 8');
  });

  it('does not wait for a policy that is paused: the run is planned, and sent once it is resumed', async () => {
    const deployment = deployAccounts();
    await deployment.act({ act: 'pause', actor: 'eve', reason: 'to look first' });
    const terminal = new Terminal(deployment);
    const { exitCode, out, err } = await terminal.run('trigger', '--scheduled-time', NEW_YEAR, '--yes');
    expect([exitCode, err.includes('paused since')]).toEqual([0, true]);
    expect(out).toMatch(/Status +publishing/);
    expect(deployment.queue.sent).toEqual([]);
  });

  it('takes this second for --now', async () => {
    const deployment = reporting();
    deployment.world.advance(1_999);
    const view = await new Terminal(deployment).json<TriggerView>('trigger', '--now');
    expect(view).toMatchObject({
      runId: 'accounts.v1.20260101T000001Z',
      scheduledTime: '2026-01-01T00:00:01.000Z',
      startedBy: CALLER,
      run: { status: 'reported', scheduledTime: '2026-01-01T00:00:01.000Z' },
    });
  });

  it.each([
    ['P6: a time ahead of now', '2026-01-01T00:05:01Z', 'more than five minutes ahead'],
    ['a placeholder', '<aws.scheduler.scheduled-time>', 'placeholder'],
    ['P15: an offset', '2025-12-31T23:00:00-01:00', 'must be a UTC instant'],
    ['a day without a time', '2025-12-31', 'must be a UTC instant'],
    ['parts of seconds', '2025-12-31T00:00:00.500Z', 'whole seconds'],
  ])('refuses %s, and starts nothing', async (_name, time, why) => {
    const terminal = new Terminal(deployAccounts());
    const { exitCode, out, err } = await terminal.run('trigger', '--scheduled-time', time, '--yes');
    expect([exitCode, out]).toEqual([2, '']);
    expect(err).toContain(why);
    expect(err).toContain(`Received ${JSON.stringify(time)}`);
    expect(terminal.started).toEqual([]);
  });

  it('starts a run that changes records only after a yes', async () => {
    const no = new Terminal(deployAccounts(), { answer: 'no' });
    expect(await no.run('trigger', '--now')).toMatchObject({ exitCode: 5, out: '' });
    expect(no.started).toEqual([]);
    const yes = new Terminal(deployAccounts(), { answer: 'yes' });
    const { exitCode, err } = await yes.run('trigger', '--now');
    expect(exitCode).toBe(0);
    expect(err).toContain('changes the records of table accounts-table');
    expect(yes.started).toHaveLength(1);
  });

  it('says before the yes that the run deletes', async () => {
    const terminal = new Terminal(await expired(), { answer: 'no' });
    const { exitCode, err } = await terminal.run('trigger', '--now');
    expect(exitCode).toBe(5);
    expect(err).toContain('deletes the records of table accounts-table');
    expect(terminal.started).toEqual([]);
  });

  it('where nobody can say yes, wants --yes for a run that changes records', async () => {
    const terminal = new Terminal(deployAccounts());
    const { exitCode, err } = await terminal.run('trigger', '--now');
    expect(exitCode).toBe(2);
    expect(err).toContain('--yes');
    expect(terminal.started).toEqual([]);
  });

  it('does not ask before a report, nor before joining a run that is over', async () => {
    const report = new Terminal(reporting(), { answer: 'no' });
    expect((await report.run('trigger', '--now')).exitCode).toBe(0);
    const deployment = deployAccounts();
    await settle(deployment);
    const records = deployment.records.rows();
    const again = new Terminal(deployment, { answer: 'no' });
    const { exitCode, err } = await again.run('trigger', '--scheduled-time', NEW_YEAR);
    expect(exitCode).toBe(0);
    expect(err).toContain(`Run ${RUN} exists (complete): joined.`);
    expect(again.questions).toEqual([]);
    expect(deployment.records.rows()).toEqual(records);
  });

  it('does not wait with --no-wait', async () => {
    const terminal = new Terminal(reporting(), { functions: { start: async () => {} } });
    const { exitCode, out } = await terminal.run('trigger', '--now', '--no-wait');
    expect([exitCode, out]).toEqual([0, `${RUN}\n`]);
    expect(await terminal.json<TriggerView>('trigger', '--now', '--no-wait')).toMatchObject({ runId: RUN, run: null });
  });

  it('waits over a dispatcher that runs out of time, and says how far it is', async () => {
    const deployment = reporting();
    const now = deployment.world.millis;
    let polls = 0;
    deployment.world.onAdvance(() => {
      polls += 1;
      if (polls === 3) void deployment.dispatch(now);
    });
    const start = async () => {
      await deployment.dispatch(now, { looksAtDeadline: 0 });
    };
    const { exitCode, err, out } = await new Terminal(deployment, { functions: { start } }).run('trigger', '--now');
    expect(exitCode).toBe(0);
    expect(err).toMatch(/planning: \d+ batches saved/);
    expect(out).toMatch(/Status +reported/);
  });

  it('gives up on a run that is never made, and points to the log', async () => {
    const deployment = reporting();
    const start = deployment.world.millis;
    const terminal = new Terminal(deployment, { functions: { start: async () => {} } });
    const { exitCode, err, out } = await terminal.run('trigger', '--now');
    expect([exitCode, out]).toEqual([1, '']);
    expect(err).toContain('The log of function dispatcher says why');
    expect(err).toContain('sweep trigger --preflight');
    expect(deployment.world.millis - start).toBe(2 * 60_000);
  });

  it('leaves a run alone that takes very long, and says how to look at it', async () => {
    const deployment = reporting();
    const now = deployment.world.millis;
    const start = async () => {
      await deployment.dispatch(now, { looksAtDeadline: 0 });
    };
    const { exitCode, err } = await new Terminal(deployment, { functions: { start } }).run('trigger', '--now');
    expect(exitCode).toBe(4);
    expect(err).toContain(`sweep show ${RUN} --stack Ledgersweep`);
  });

  it('plans a new run at the next scheduled time', async () => {
    const deployment = reporting();
    await settle(deployment);
    deployment.world.advance(DAY_MILLIS);
    const next = formatInstant(deployment.world.millis);
    const view = await new Terminal(deployment).json<TriggerView>('trigger', '--scheduled-time', next);
    expect(view.run).toMatchObject({ runId: 'accounts.v1.20260102T000000Z', planned: 9 });
  });
});

describe('sweep trigger: a run that is refused', () => {
  const capped = () => deployAccounts({ settings: testSettings({ capRecords: '7' }) });
  const args = ['trigger', '--scheduled-time', NEW_YEAR, '--yes'];

  it('prints the reasons, exits as refused, and says that the same time may be triggered again', async () => {
    const deployment = capped();
    const terminal = new Terminal(deployment);
    const { exitCode, out, err } = await terminal.run(...args);
    expect(exitCode).toBe(5);
    expect(out).toMatch(/Status +refused\nRefused +CapRecords 7: the plan has 8 records. Nothing was published./);
    expect(err).toContain('nothing was published, nothing was changed');
    expect(err).toContain('trigger 2026-01-01T00:00:00.000Z again');
    expect(deployment.queue.sent).toEqual([]);
    const view = await terminal.json<TriggerView>(...args);
    expect(view.run).toMatchObject({ status: 'refused', refusals: [{ parameter: 'CapRecords', received: '7' }] });
  });

  it('triggered again when the cause is mended, is tried from the beginning with the settings of now', async () => {
    const deployment = capped();
    const terminal = new Terminal(deployment);
    await terminal.run(...args);
    deployment.settings = { ...deployment.settings, capRecords: 8 };
    const { exitCode, err, out } = await terminal.run(...args);
    expect(exitCode).toBe(0);
    expect(err).toContain(`Run ${RUN} exists (refused): is tried again.`);
    expect(out).toMatch(/Status +draining/);
    await settle(deployment);
    expect((await terminal.json<RunView[]>('runs'))[0]).toMatchObject({ status: 'complete', processed: 8 });
  });

  it('is asked about as a new one: a refused report may be an enforcing run when it is tried again', async () => {
    const deployment = capped();
    await deployment.dispatch();
    const terminal = new Terminal(deployment, { answer: 'no' });
    expect((await terminal.run('trigger', '--scheduled-time', NEW_YEAR)).exitCode).toBe(5);
    expect(terminal.questions).toHaveLength(1);
    expect(terminal.started).toEqual([]);
  });

  it('is not taken for the answer before the dispatcher has tried it again', async () => {
    const deployment = capped();
    await deployment.dispatch();
    deployment.settings = { ...deployment.settings, capRecords: 8 };
    const seen = new Terminal(deployment, { functions: { start: async () => {} } });
    let polls = 0;
    deployment.world.onAdvance(() => {
      polls += 1;
      if (polls === 3) void deployment.dispatch();
    });
    const { exitCode, out } = await seen.run(...args);
    expect([exitCode, polls >= 3]).toEqual([0, true]);
    expect(out).toMatch(/Status +draining/);
  });

  it('that nobody tries again is an error, not the old answer', async () => {
    const deployment = capped();
    await deployment.dispatch();
    const { exitCode, err, out } = await new Terminal(deployment, { functions: { start: async () => {} } }).run(
      ...args,
    );
    expect([exitCode, out]).toEqual([1, '']);
    expect(err).toContain(`Run ${RUN} was not tried again within 2 minutes`);
  });
});

describe('sweep trigger: a run that was cancelled', () => {
  const args = ['trigger', '--scheduled-time', NEW_YEAR];
  const cancel = { act: 'cancel', actor: 'eve', reason: 'wrong tenants', run: RUN };

  it.each([[], ['--no-wait']])('is not joined: nothing is started, and what comes next is said %j', async (...more) => {
    const deployment = deployAccounts();
    await deployment.dispatch();
    await deployment.act(cancel);
    const terminal = new Terminal(deployment);
    const { exitCode, out, err } = await terminal.run(...args, ...more);
    expect([exitCode, terminal.started]).toEqual([5, []]);
    expect(out).toMatch(/Status +cancelled/);
    expect(err).toMatch(/does not come back: the next scheduled time finds .*sweep trigger --now/);
    expect(err).not.toContain('joined');
    expect((await terminal.json<TriggerView>(...args)).run).toMatchObject({ status: 'cancelled' });
  });

  it('while it was waited for is not done', async () => {
    const deployment = deployAccounts();
    const start = async () => {
      await deployment.dispatch(Date.parse(NEW_YEAR), { looksAtDeadline: 0 });
      await deployment.act(cancel);
    };
    const { exitCode, err } = await new Terminal(deployment, { functions: { start } }).run(...args, '--yes');
    expect([exitCode, err.includes('does not come back')]).toEqual([5, true]);
  });
});

describe('sweep trigger --preflight', () => {
  it('asks the dispatcher and waits for its answer, starts nothing, and is done where nothing is wrong', async () => {
    const deployment = deployAccounts();
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run('trigger', '--preflight');
    expect(exitCode).toBe(0);
    expect(out).toContain(`passed: nothing speaks against run ${RUN}`);
    expect(terminal.called).toEqual([
      { scheduledTime: '2026-01-01T00:00:00.000Z', startedBy: CALLER, preflight: true },
    ]);
    expect([terminal.started, deployment.ledger.contents().runs]).toEqual([[], []]);
    const view = await terminal.json<PreflightView>('trigger', '--preflight', '--scheduled-time', NEW_YEAR);
    expect(view).toEqual({ runId: RUN, scheduledTime: '2026-01-01T00:00:00.000Z', problems: [] });
  });

  it('prints every problem with its parameter and what was received, and exits as refused', async () => {
    const deployment = deployAccounts({ settings: testSettings({ recordsPerRun: '9', capRecords: '8' }) });
    deployment.probe.grantOnly();
    const terminal = new Terminal(deployment);
    const { exitCode, out } = await terminal.run('trigger', '--preflight');
    expect(exitCode).toBe(5);
    expect(out).toMatch(
      /Parameter +RecordsPerRun\nReceived +9\nProblem +RecordsPerRun must not be more than CapRecords/,
    );
    expect(out).toMatch(/Parameter +Mode\nReceived +enforce\nProblem +.*the consumer may not expire records/);
    const view = await terminal.json<PreflightView>('trigger', '--preflight');
    expect(view.problems.map(({ parameter, received }) => [parameter, received])).toEqual([
      ['RecordsPerRun', '9'],
      ['Mode', 'enforce'],
    ]);
    expect([terminal.started, deployment.ledger.contents().runs]).toEqual([[], []]);
  });

  it('asks nobody for a yes', async () => {
    const terminal = new Terminal(deployAccounts(), { answer: 'no' });
    expect((await terminal.run('trigger', '--preflight')).exitCode).toBe(0);
    expect(terminal.questions).toEqual([]);
  });

  it.each([
    ['failed', { kind: 'failed', errorType: 'TypeError', errorMessage: 'odd.' }, 1, 'failed with TypeError: odd.'],
    ['refused', { kind: 'failed', errorType: 'RefusedRequest', errorMessage: 'No.' }, 5, 'No.'],
    ['started a run', { kind: 'answered', value: { kind: 'dispatched' } }, 1, 'knows no preflight'],
  ] as const)('where the dispatcher %s, says so', async (_name, answer, code, why) => {
    const terminal = new Terminal(deployAccounts(), { functions: { call: async () => answer } });
    const { exitCode, out, err } = await terminal.run('trigger', '--preflight');
    expect([exitCode, out]).toEqual([code, '']);
    expect(err).toContain(why);
  });
});
