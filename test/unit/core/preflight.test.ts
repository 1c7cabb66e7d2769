import { describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../../lib/core/identity/instant.ts';
import { checkOnly, dispatch } from '../../../lib/core/plan/dispatch.ts';
import { RefusedRequest } from '../../../lib/core/plan/request.ts';
import { RELATIONS } from '../../../lib/core/policy/relations.ts';
import { SETTINGS, type SettingKey } from '../../../lib/core/policy/settings.ts';
import { type Ledger, PortError } from '../../../lib/core/ports/index.ts';
import type { Deployment } from '../../helpers/deployment.ts';
import { settle } from '../../helpers/settle.ts';
import { testSettings } from '../../model/index.ts';
import {
  account,
  accounts,
  altered,
  CUTOFF,
  deploy,
  dispatchPorts,
  expiredIds,
  SCHEDULED,
  theRun,
  timeLeft,
} from './stage.ts';

const REQUEST = { scheduledTime: SCHEDULED, startedBy: 'schedule' };
type Overrides = Partial<Record<SettingKey, string>>;

async function dispatched(stage: Deployment, scheduledTime = SCHEDULED) {
  const end = await stage.dispatch(scheduledTime);
  if (end.kind !== 'done') throw new Error(`the dispatch ended as ${end.kind}`);
  return end.value;
}

/** Nothing but the run's own item was touched, and nothing asks for the run again. */
async function expectUntouched(stage: Deployment, before: readonly unknown[]): Promise<void> {
  expect(stage.records.rows()).toEqual(before);
  expect(stage.queue.sent).toHaveLength(0);
  await stage.reconcile();
  expect(stage.resumer.requested).toEqual([]);
}

/** Each setting is well formed; it is their relation that is wrong. */
const WRONG: readonly (readonly [parameter: string, received: string, Overrides])[] = [
  ['RecordsPerSecond', '1', { recordsPerSecond: '1', batchSize: '100', consumerConcurrency: '5' }],
  ['RecordsPerSecond', '16', { recordsPerSecond: '16', batchSize: '100', consumerConcurrency: '5' }],
  ['RecordsPerRun', '11', { recordsPerRun: '11', capRecords: '10' }],
  ['WindowDays', '30', { windowDays: '30', action: 'delete', allowDelete: 'yes' }],
  ['HoldAttributes', 'hold,status', { holdAttributes: 'hold,status' }],
  ['HoldAttributes', 'expiredAt', { holdAttributes: 'expiredAt' }],
  ['HoldAttributes', 'sweepOperationKey', { holdAttributes: 'sweepOperationKey' }],
  ['ScheduleStart', '(nothing)', { scheduleExpression: 'rate(1 day)' }],
  ['ScheduleStart', '2027-02-30T02:00:00Z', { scheduleStart: '2027-02-30T02:00:00Z' }],
  ['ScheduleTimeZone', 'Mars/Olympus', { scheduleTimeZone: 'Mars/Olympus' }],
  ['Action', 'delete', { action: 'delete' }],
  ['EligibleState', 'EXPIRED', { eligibleState: 'EXPIRED' }],
  ['IndexPartitionValues', 'a,b', { indexPartitionValues: 'a,b' }],
];

describe('preflight refuses', () => {
  it.each(WRONG)(
    '%s %s, twice in a row and with nothing changed, until the cause is mended',
    async (parameter, received, wrong) => {
      const stage = deploy(accounts(4));
      const before = stage.records.rows();
      const good = stage.settings;
      stage.settings = testSettings(wrong);
      for (let tries = 0; tries < 2; tries += 1) {
        const { kind, status, problems } = await dispatched(stage);
        expect({ kind, status }).toEqual({ kind: 'refused', status: 'refused' });
        expect(problems).toEqual([{ parameter, received, message: expect.stringContaining(parameter) }]);
        expect(problems[0]?.message).toContain(`Received ${received}.`);
        expect((await theRun(stage)).refusals).toEqual(problems);
        await expectUntouched(stage, before);
      }
      expect(stage.ledger.contents()).toMatchObject({ slices: [], units: [], tenants: [] });

      stage.settings = good;
      expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched', status: 'draining', problems: [] });
      await settle(stage);
      expect(await theRun(stage)).toMatchObject({ status: 'complete', refusals: [], closing: { processed: 4 } });
    },
  );

  it.each(
    RELATIONS.map(
      (relation) => [SETTINGS[relation.first].parameter, SETTINGS[relation.second].parameter, relation] as const,
    ),
  )('%s that does not go with %s, in a sentence that names both', async (first, second, relation) => {
    const stage = deploy(accounts(2));
    const same = { [relation.first]: 'same', [relation.second]: 'same' };
    const needs = { [relation.first]: relation.first === 'action' ? 'delete' : 'a,b' };
    stage.settings = testSettings(relation.kind === 'differ' ? same : needs);
    const { kind, problems } = await dispatched(stage);
    expect(kind).toBe('refused');
    const named = problems.filter((problem) => problem.message.includes(first) && problem.message.includes(second));
    expect(named.map((problem) => problem.parameter)).toEqual([first]);
    expect(stage.records.writes).toHaveLength(0);
  });

  it('a rate that just fits the budget is taken, and one record per second less is not', async () => {
    const fits = { batchSize: '90', consumerConcurrency: '10', batchTimeBudgetSeconds: '30' };
    const stage = deploy(accounts(1), { ...fits, recordsPerSecond: '30' });
    expect((await dispatched(stage)).kind).toBe('dispatched');
    const slower = deploy(accounts(1), { ...fits, recordsPerSecond: '29' });
    expect((await dispatched(slower)).problems[0]?.message).toMatch(/at least 30\b.*Received 29\./);
  });

  it('everything that is wrong at once, so that one attempt mends it all', async () => {
    const stage = deploy(accounts(1));
    stage.settings = testSettings({ action: 'delete', eligibleState: 'EXPIRED', recordsPerRun: '2', capRecords: '1' });
    const sourceFor = async () => {
      throw new RefusedRequest([{ parameter: 'RecordTableName', received: 'x', message: 'RecordTableName x: no.' }]);
    };
    const end = await dispatch(dispatchPorts(stage, { sourceFor }), stage.settings, REQUEST, timeLeft());
    const parameters = end.problems.map((problem) => problem.parameter);
    expect(parameters).toEqual(['Action', 'EligibleState', 'RecordsPerRun', 'RecordTableName']);
  });

  it('P19: what the record source says of table and index, in its own words', async () => {
    const stage = deploy(accounts(3));
    const problem = {
      parameter: 'RecordIndexName',
      received: 'by-activity',
      message: 'RecordIndexName by-activity: the index is still backfilling. Received by-activity.',
    };
    const sourceFor = async () => {
      throw new RefusedRequest([problem]);
    };
    const end = await dispatch(dispatchPorts(stage, { sourceFor }), stage.settings, REQUEST, timeLeft());
    expect(end).toEqual({ kind: 'refused', runId: stage.runId, status: 'refused', problems: [problem] });
    await expectUntouched(stage, stage.records.rows());
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched' });
  });

  it('nothing for a failure that is nobody’s setting: the run stays to be tried again', async () => {
    const stage = deploy(accounts(3));
    const sourceFor = async () => {
      throw new PortError('describe', { class: 'transient', error: 'InternalServerError' });
    };
    await expect(dispatch(dispatchPorts(stage, { sourceFor }), stage.settings, REQUEST, timeLeft())).rejects.toThrow(
      'InternalServerError',
    );
    expect(await theRun(stage)).toMatchObject({ status: 'planning', refusals: [] });
  });

  it('a missing grant, found by asking the consumer, and asks only where something would be written', async () => {
    const stage = deploy(accounts(3));
    stage.probe.grantOnly();
    const { kind, problems } = await dispatched(stage);
    expect(kind).toBe('refused');
    expect(problems).toMatchObject([{ parameter: 'Mode', received: 'enforce' }]);
    await expectUntouched(stage, stage.records.rows());
    stage.probe.grantOnly('expire');
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched' });

    const reporting = deploy(accounts(3), { mode: 'report-only' });
    reporting.probe.grantOnly();
    expect(await dispatched(reporting)).toMatchObject({ kind: 'dispatched', status: 'reported' });
    expect(reporting.probe.asked).toEqual([]);
  });

  it('P73: a deletion whose switch is on in the settings and off in the role', async () => {
    const stage = deploy(accounts(1));
    stage.probe.grantOnly('expire');
    stage.settings = testSettings({ action: 'delete', allowDelete: 'yes' });
    const { problems } = await dispatched(stage);
    expect(problems).toMatchObject([{ parameter: 'AllowDelete', message: expect.stringContaining('may not delete') }]);
  });
});

describe('a version means one policy', () => {
  const TOMORROW = SCHEDULED + DAY_MILLIS;

  async function afterOneRun(mode = 'enforce'): Promise<Deployment> {
    const stage = deploy([...accounts(3), account('later', { lastActivity: new Date(CUTOFF + 1).toISOString() })], {
      mode,
    });
    await stage.dispatch();
    await settle(stage);
    stage.world.advance(DAY_MILLIS);
    return stage;
  }

  it.each(['enforce', 'report-only'])(
    'once a plan of it was frozen in %s: another retention under the same version is refused',
    async (mode) => {
      const stage = await afterOneRun(mode);
      const before = stage.records.rows();
      const sent = stage.queue.sent.length;
      stage.settings = testSettings({ mode, retentionDays: '364', discoverySegments: '1' });
      const { kind, problems } = await dispatched(stage, TOMORROW);
      expect(kind).toBe('refused');
      expect(problems).toMatchObject([{ parameter: 'PolicyVersion', received: 'v1' }]);
      expect(problems[0]?.message).toContain('Received v1.');
      expect(stage.records.rows()).toEqual(before);
      expect(stage.queue.sent).toHaveLength(sent);
    },
  );

  it('a new version may mean it, and the old one back as it was goes on', async () => {
    const stage = await afterOneRun();
    const old = stage.settings;
    stage.settings = testSettings({ retentionDays: '364' });
    expect(await dispatched(stage, TOMORROW)).toMatchObject({ kind: 'refused' });
    stage.settings = testSettings({ retentionDays: '364', policyVersion: 'v2' });
    expect(await dispatched(stage, TOMORROW)).toMatchObject({ kind: 'dispatched' });
    await settle(stage);
    expect(expiredIds(stage)).toContain('later');
    stage.settings = old;
    expect(await dispatched(stage, TOMORROW)).toMatchObject({ kind: 'dispatched', runId: stage.runIdAt(TOMORROW) });
  });

  it('settings that change nothing about what is due may change freely', async () => {
    const stage = await afterOneRun();
    stage.settings = testSettings({ batchSize: '1', recordsPerRun: '5', windowDays: '7', maxAttempts: '3' });
    expect(await dispatched(stage, TOMORROW)).toMatchObject({ kind: 'dispatched' });
  });

  it('P6: before anything is frozen the policy may be mended under its version, and the cutoff follows', async () => {
    const stage = deploy(accounts(3));
    stage.settings = testSettings({ retentionDays: '300', recordsPerRun: '2', capRecords: '1' });
    await dispatched(stage);
    const refused = await theRun(stage);
    expect(refused).toMatchObject({ status: 'refused', cutoff: SCHEDULED - 300 * DAY_MILLIS });
    stage.world.advance(5 * DAY_MILLIS);
    stage.settings = testSettings({ retentionDays: '400' });
    expect(await dispatched(stage)).toMatchObject({ kind: 'dispatched', runId: refused.runId });
    expect(await theRun(stage)).toMatchObject({
      cutoff: SCHEDULED - 400 * DAY_MILLIS,
      policyDigest: expect.any(String),
    });
    expect((await theRun(stage)).policyDigest).not.toBe(refused.policyDigest);
  });

  it('P6: a run that was frozen keeps its settings whatever is deployed since', async () => {
    const stage = deploy(accounts(3));
    await stage.dispatch();
    const frozen = await theRun(stage);
    stage.settings = testSettings({ retentionDays: '1' });
    expect(await dispatched(stage)).toMatchObject({ kind: 'joined' });
    expect(await theRun(stage)).toEqual(frozen);
  });

  it('two plans of one version that are frozen at once: the second is refused with nothing published', async () => {
    const stage = deploy(accounts(3));
    const slow = altered<Ledger>(stage.ledger, { versionDigest: async () => undefined });
    await stage.dispatch();
    const sent = stage.queue.sent.length;
    const settings = testSettings({ retentionDays: '364' });
    const request = { scheduledTime: TOMORROW, startedBy: 'schedule' };
    const end = await dispatch(dispatchPorts(stage, { ledger: slow }), settings, request, timeLeft());
    expect(end).toMatchObject({ kind: 'refused', problems: [{ parameter: 'PolicyVersion' }] });
    expect(stage.queue.sent).toHaveLength(sent);
    expect((await theRun(stage, stage.runIdAt(TOMORROW))).plan).toMatchObject({ records: 3 });
  });
});

describe('preflight alone', () => {
  function watched(stage: Deployment) {
    const calls: string[] = [];
    const ledger = new Proxy<Ledger>(stage.ledger, {
      get: (target, name) => {
        calls.push(String(name));
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    return { calls, ports: dispatchPorts(stage, { ledger }) };
  }

  it('says that all is well and writes nothing, not even a run', async () => {
    const stage = deploy(accounts(3));
    const { calls, ports } = watched(stage);
    expect(await checkOnly(ports, stage.settings, REQUEST)).toMatchObject({ kind: 'passed' });
    expect(calls).toEqual(['versionDigest']);
    expect(stage.ledger.contents().runs).toEqual([]);
    expect(stage.probe.asked).toHaveLength(1);
  });

  it('says what a run would be refused for and leaves no trace of it', async () => {
    const stage = deploy(accounts(3));
    stage.probe.grantOnly();
    const { calls, ports } = watched(stage);
    const settings = testSettings({ recordsPerRun: '2', capRecords: '1' });
    const checked = await checkOnly(ports, settings, REQUEST);
    const parameters = checked.kind === 'refused' ? checked.problems.map((problem) => problem.parameter) : [];
    expect(parameters).toEqual(['RecordsPerRun', 'Mode']);
    expect(calls).toEqual(['versionDigest']);
    expect(stage.ledger.contents().runs).toEqual([]);
  });
});
