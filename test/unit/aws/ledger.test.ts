import { type AttributeValue, type DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { decodeExceptions, encodeExceptions } from '../../../lib/aws/ledger/exceptions.ts';
import { DynamoLedger } from '../../../lib/aws/ledger/ledger.ts';
import { encodeRun } from '../../../lib/aws/ledger/run-item.ts';
import { anEntry, aRun, runScope } from '../../contract/ledger-samples.ts';

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
  const cancel = (reasons: readonly { Code: string; Item?: Record<string, AttributeValue> }[]): Step => {
    return () => {
      throw new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons: [...reasons] });
    };
  };
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
