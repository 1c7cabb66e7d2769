import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { decodeExceptions, encodeExceptions } from '../../../lib/aws/ledger/exceptions.ts';
import { DynamoLedger } from '../../../lib/aws/ledger/ledger.ts';
import { encodeRun } from '../../../lib/aws/ledger/run-item.ts';
import { OPEN_INDEX } from '../../../lib/aws/ledger/schema.ts';
import { anEntry, aRun, runScope } from '../../contract/ledger-samples.ts';
import { aChild } from '../../contract/ledger-split-cases.ts';

type Input = Record<string, unknown>;
type Step = (input: Input) => object;

/** A ledger over a client that takes one step per call and repeats its last one. */
function ledgerOver(...steps: readonly Step[]) {
  const inputs: Input[] = [];
  const waits: number[] = [];
  const send = async ({ input }: { readonly input: Input }) => {
    const step = steps[Math.min(inputs.length, steps.length - 1)];
    inputs.push(input);
    return step?.(input) ?? {};
  };
  const clock = { now: () => 0, sleep: async (millis: number) => void waits.push(millis) };
  const client = { send } as unknown as DynamoDBClient;
  const ledger = new DynamoLedger({ client, tableName: 'ledger', clock, random: { next: () => 1 } });
  return { ledger, inputs, waits };
}

function keysOf(input: Input): Record<string, AttributeValue>[] {
  return (input.RequestItems as { ledger: { Keys: Record<string, AttributeValue>[] } }).ledger.Keys;
}

/** A transaction that is cancelled for these reasons. */
function cancel(reasons: readonly { Code: string; Item?: Record<string, AttributeValue> }[]): Step {
  return () => {
    throw new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons: [...reasons] });
  };
}

describe('load', () => {
  const ref = { runId: 'p.v.t', unit: '0' };
  const run = aRun();
  const item = encodeRun({ ...run, runId: ref.runId });

  it('P27: asks again for what was left unprocessed, with growing waits, and then has it all', async () => {
    const leaveAll: Step = (input) => ({ Responses: {}, UnprocessedKeys: input.RequestItems });
    const { ledger, inputs, waits } = ledgerOver(leaveAll, leaveAll, leaveAll, () => ({
      Responses: { ledger: [item] },
    }));
    const [loaded] = await ledger.load([ref]);
    expect(loaded?.run?.runId).toBe(ref.runId);
    expect(inputs.map((input) => keysOf(input).length)).toEqual([3, 3, 3, 3]);
    expect(waits).toEqual([100, 200, 400]);
  });

  it('P27: keys that stay unprocessed are a failure, not an absence', async () => {
    const { ledger, inputs } = ledgerOver((input) => ({ UnprocessedKeys: input.RequestItems }));
    await expect(ledger.load([ref])).rejects.toMatchObject({
      failure: { class: 'transient', error: 'UnprocessedKeys' },
    });
    expect(inputs).toHaveLength(5);
  });

  it('reads strongly consistent and asks for no key twice', async () => {
    const { ledger, inputs } = ledgerOver(() => ({ Responses: {} }));
    await ledger.load([ref, { ...ref, unit: '0.1' }, ref]);
    const [input] = inputs;
    expect(input).toMatchObject({ RequestItems: { ledger: { ConsistentRead: true } } });
    expect(keysOf(input ?? {}).map((key) => key.sk?.S)).toEqual([
      'RUN',
      'SLICE#00000000',
      'BATCH#00000000',
      'BATCH#00000000.0001',
    ]);
  });
});

describe('transactions', () => {
  const append = (...steps: readonly Step[]) => ledgerOver(...steps).ledger.appendAudit(runScope('r'), anEntry(3));

  it.each([
    ['a conflict', ['None', 'TransactionConflict'], 'transient'],
    ['a conflict beside a failed condition', ['ConditionalCheckFailed', 'TransactionConflict'], 'transient'],
    ['a throttle beside a failed condition', ['ConditionalCheckFailed', 'ThrottlingError'], 'transient'],
    ['a malformed item', ['ValidationError', 'None'], 'permanent'],
    ['reasons that say nothing', ['None', 'None'], 'transient'],
    ['no reasons', [], 'transient'],
  ])('P52: cancelled for %s is a failure, never a result', async (_what, codes, wanted) => {
    const cancelled = append(cancel(codes.map((Code) => ({ Code }))));
    await expect(cancelled).rejects.toMatchObject({ failure: { class: wanted } });
  });

  it('P52: a failed condition is a result, told by the item that stood in the way', async () => {
    const other = { hash: { S: anEntry(3, 'other').hash } };
    const own = { hash: { S: anEntry(3).hash } };
    const refused = 'ConditionalCheckFailed';
    expect(await append(cancel([{ Code: 'None' }, { Code: refused }]))).toBe('moved-on');
    expect(await append(cancel([{ Code: refused, Item: other }, { Code: refused }]))).toBe('moved-on');
    expect(await append(cancel([{ Code: refused, Item: own }, { Code: refused }]))).toBe('appended');
    expect(await append(cancel([{ Code: refused, Item: other }, { Code: 'None' }]))).toBe('occupied');
  });

  it('reads the item where the store does not give it back', async () => {
    const run = aRun();
    const { ledger } = ledgerOver(cancel([{ Code: 'ConditionalCheckFailed' }, { Code: 'None' }]), () => ({
      Item: encodeRun(run),
    }));
    expect(await ledger.createRun(run)).toEqual({ kind: 'exists', run });
  });
});

describe('requests', () => {
  it('P74: no name and no value is part of an expression', async () => {
    const { ledger, inputs } = ledgerOver(() => ({ Attributes: {} }));
    const run = aRun();
    const make = { tenant: 'MARK-tenant', records: 3 };
    await ledger.createRun(run);
    await ledger.moveRun(run.runId, 'freeze', 1, { frozenAt: 5 });
    await ledger.takeLease(run.runId, run.lease, 'MARK-owner', 1, 2);
    await ledger.moveUnit(
      { runId: run.runId, unit: '0' },
      'quarantine',
      { generation: 0, make },
      { since: 1, reason: 'MARK' },
    );
    await ledger.openUnits({ state: 'planned', dueAt: 7 }, undefined);
    await ledger.units(run.runId, undefined);
    await ledger.claimVersion(run.policyId, 'MARK-version', 'MARK-digest');
    await ledger.moveRun(run.runId, 'refuse', 1, { refusals: [] });
    await ledger.appendAudit(runScope(run.runId), anEntry(0));
    const { policyId, runId } = run;
    const pause = { actor: 'MARK-actor', reason: 'MARK-reason', requestId: 'MARK-request', at: 1 };
    await ledger.pause(policyId, pause);
    await ledger.settleIntake(policyId, 'to-disable');
    await ledger.readStops(policyId, runId);
    await ledger.abandonBadMessage(policyId, 'MARK-digest', 5);
    await ledger.splitUnit({ runId, unit: '0' }, { generation: 0 }, { since: 1, split: [3] }, [aChild('0.3')]);
    const expressions = inputs.flatMap((input) => expressionsIn(input));
    expect(expressions.length).toBeGreaterThan(8);
    const words = new Set(expressions.flatMap((text) => text.match(/[#:]?[A-Za-z_][A-Za-z0-9_]*/g) ?? []));
    const functions = ['attribute_not_exists', 'if_not_exists', 'begins_with'];
    const operators = ['SET', 'REMOVE', 'AND', 'OR', 'IN', 'BETWEEN'];
    const others = [...words].filter((word) => !/^(#a|:v)\d+$/.test(word));
    expect(others.filter((word) => ![...functions, ...operators].includes(word))).toEqual([]);
  });
});

function expressionsIn(input: unknown): string[] {
  if (input === null || typeof input !== 'object') return [];
  return Object.entries(input).flatMap(([name, value]) =>
    name.endsWith('Expression') && typeof value === 'string' ? [value] : expressionsIn(value),
  );
}

describe('splitting a batch', () => {
  const split = (...steps: readonly Step[]) => {
    const over = ledgerOver(...steps);
    const change = { since: 1, split: [3] };
    const call = () => over.ledger.splitUnit({ runId: 'r', unit: '0' }, { generation: 0 }, change, [aChild('0.3')]);
    return { ...over, call };
  };
  const standing: Record<string, AttributeValue> = {
    ...{ runId: { S: 'r' }, unit: { S: '0' }, state: { S: 'in_progress' }, generation: { N: '0' } },
  };
  const refused = 'ConditionalCheckFailed';

  it('P52: a transaction that met another one may be tried again', async () => {
    const { call } = split(cancel([{ Code: 'None' }, { Code: 'TransactionConflict' }]));
    await expect(call()).rejects.toMatchObject({ failure: { class: 'transient', cause: 'TransactionConflict' } });
  });

  it('is refused where a child stands in the way, although the batch would allow it', async () => {
    const { call, inputs } = split(cancel([{ Code: 'None' }, { Code: refused }]), () => ({ Item: standing }));
    expect(await call()).toMatchObject({ kind: 'refused', unit: { state: 'in_progress' } });
    expect(inputs).toHaveLength(2);
  });

  it('reads the batch where the store does not give it back', async () => {
    const own = { ...standing, state: { S: 'committed' }, since: { N: '1' }, split: { S: '3' } };
    const { call } = split(cancel([{ Code: refused }, { Code: refused }]), () => ({ Item: own }));
    expect(await call()).toMatchObject({ kind: 'moved', unit: { split: [3] } });
  });

  it('refuses more children than one transaction is to hold', async () => {
    const { ledger, inputs } = ledgerOver(() => ({}));
    for (const count of [0, 26]) {
      const children = Array.from({ length: count }, (_, n) => aChild(`0.${n}`));
      const call = ledger.splitUnit({ runId: 'r', unit: '0' }, { generation: 0 }, { since: 1, split: [] }, children);
      await expect(call).rejects.toMatchObject({ failure: { class: 'permanent' } });
    }
    expect(inputs).toEqual([]);
  });
});

describe('what may stop a unit', () => {
  it('is read strongly consistent, in one call, and without the plan of the run', async () => {
    const { ledger, inputs } = ledgerOver(() => ({ Responses: {} }));
    await ledger.readStops('p', 'r');
    expect(inputs).toHaveLength(1);
    const { ledger: request = {} } = (inputs[0]?.RequestItems ?? {}) as Record<string, Input>;
    expect(request.ConsistentRead).toBe(true);
    const names = Object.values(request.ExpressionAttributeNames ?? {});
    expect(names).toEqual(expect.arrayContaining(['status', 'pause', 'pauses']));
    expect(names).not.toContain('settings');
  });

  it('P27: left unprocessed, it is not taken for "nothing stops"', async () => {
    const { ledger } = ledgerOver((input) => ({ UnprocessedKeys: input.RequestItems }));
    await expect(ledger.readStops('p', 'r')).rejects.toMatchObject({ failure: { class: 'transient' } });
  });
});

describe('resuming', () => {
  it('writes only over the pause that it read, so that no other one is ended by it', async () => {
    const pause = (requestId: string) => ({ S: JSON.stringify({ actor: 'a', reason: 'b', requestId, at: 7 }) });
    const { ledger, inputs } = ledgerOver(
      () => ({ Item: { pause: pause('one') } }),
      () => {
        throw new ConditionalCheckFailedException({ message: '', $metadata: {}, Item: { pause: pause('two') } });
      },
    );
    expect(await ledger.resume('p', 7, 9)).toMatchObject({ kind: 'refused', control: { pause: { requestId: 'two' } } });
    expect(Object.values(inputs[1]?.ExpressionAttributeValues as object)).toContainEqual(pause('one'));
  });
});

describe('the open index', () => {
  it('carries no more attributes than DynamoDB allows', () => {
    expect(new Set(OPEN_INDEX.included).size).toBe(OPEN_INDEX.included.length);
    expect(OPEN_INDEX.included.length).toBeLessThanOrEqual(20);
  });
});

describe('exceptions', () => {
  it.each([
    [{}, ''],
    [{ held: [12] }, 'held:12'],
    [{ state_changed: [5, 4, 0, 1, 9], held: [7] }, 'state_changed:0-1,4-5,9;held:7'],
    [{ absent: [] }, 'absent:'],
  ] as const)('%j are stored as %j', (exceptions, encoded) => {
    expect(encodeExceptions(exceptions)).toBe(encoded);
    const sorted = Object.entries(exceptions).map(([outcome, at]) => [outcome, [...at].sort((a, b) => a - b)]);
    expect(decodeExceptions(encoded)).toEqual(Object.fromEntries(sorted));
  });
});
