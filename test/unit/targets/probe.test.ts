import { describe, expect, it } from 'vitest';
import { probeWrites } from '../../../lib/aws/targets/dynamodb/probe.ts';
import { failureOf } from '../../../lib/core/ports/index.ts';
import { testSettings } from '../../model/settings.ts';
import { fakeClient } from './fixture.ts';

type Answer = () => unknown;

const REFUSED: Answer = () => ({ Responses: [{ Error: { Code: 'ConditionalCheckFailed' } }] });
const NOTHING_DELETED: Answer = () => ({ Responses: [{ TableName: 'accounts-table' }] });
const DENIED_INSIDE: Answer = () => ({ Responses: [{ Error: { Code: 'AccessDenied' } }] });

function failing(name: string): Answer {
  return () => {
    throw Object.assign(new Error('no'), { name });
  };
}

interface Batch {
  readonly Statements: readonly { readonly Statement: string; readonly Parameters: readonly object[] }[];
}

/** Probes a store that answers the update, the read and the deletion so. */
async function probed(
  action: 'expire' | 'delete',
  answers: { update?: Answer; read?: Answer; deletion?: Answer } = {},
) {
  const { update = REFUSED, read = () => ({}), deletion = NOTHING_DELETED } = answers;
  const { client, asked } = fakeClient({
    BatchExecuteStatementCommand: ({ Statements: [first] }: Batch) =>
      (first?.Statement.startsWith('DELETE') ? deletion : update)(),
    GetItemCommand: read,
  });
  const settings = testSettings({ action, allowDelete: action === 'delete' ? 'yes' : 'no', sortKeyAttribute: 'at' });
  const problems = await probeWrites(client, settings, [
    { name: 'id', role: 'partition', type: 'S' },
    { name: 'at', role: 'sort', type: 'N' },
  ]).catch((error: unknown) => failureOf(error));
  return { problems, asked };
}

function statements(asked: readonly { readonly input: object }[]): readonly string[] {
  return asked.flatMap(({ input }) => ((input as Partial<Batch>).Statements ?? []).map((part) => part.Statement));
}

describe('the probe of grants', () => {
  it('makes the writes of the run and no other', async () => {
    const expiry = await probed('expire');
    expect(expiry.problems).toEqual([]);
    expect(statements(expiry.asked)).toEqual([expect.stringMatching(/^UPDATE "accounts-table" SET .* WHERE .* AND /)]);
    const deletion = await probed('delete');
    expect(deletion.problems).toEqual([]);
    expect(statements(deletion.asked)).toEqual([expect.stringMatching(/^UPDATE /), expect.stringMatching(/^DELETE /)]);
  });

  it('P73: its deletion carries the whole condition, on a key and a witness that are new each time', async () => {
    const parametersOf = async () => {
      const { asked } = await probed('delete');
      const last = asked.flatMap(({ input }) => (input as Partial<Batch>).Statements ?? []).at(-1);
      expect(last?.Statement).toContain('"status" = ? AND "expiredAt" = ? AND "sweepOperationKey" = ? AND NOT ("hold"');
      return (last?.Parameters ?? []).slice(0, 5);
    };
    const [first, second] = [await parametersOf(), await parametersOf()];
    expect(first.map((value) => Object.keys(value)[0])).toEqual(['S', 'N', 'S', 'S', 'S']);
    // Id, sort key, time of expiry and operation key differ; the state is the policy's.
    for (const n of [0, 1, 3, 4]) expect(first[n]).not.toEqual(second[n]);
    expect(first[2]).toEqual({ S: 'EXPIRED' });
  });

  it.each<[string, { update?: Answer; read?: Answer; deletion?: Answer }, readonly string[]]>([
    ['the whole call', { update: failing('AccessDeniedException') }, ['Mode']],
    ['the statement', { update: DENIED_INSIDE }, ['Mode']],
    ['the read', { read: failing('AccessDeniedException') }, ['Mode']],
    ['the deletion', { deletion: failing('AccessDeniedException') }, ['AllowDelete']],
    ['the statement of the deletion', { deletion: DENIED_INSIDE }, ['AllowDelete']],
    ['both', { update: DENIED_INSIDE, deletion: failing('AccessDenied') }, ['Mode', 'AllowDelete']],
  ])('names the parameter and its value where %s is denied', async (_what, answers, parameters) => {
    const { problems } = await probed('delete', answers);
    const received = { Mode: '"enforce"', AllowDelete: '"yes"' };
    expect(problems).toEqual(
      parameters.map((parameter) => ({
        parameter,
        received: received[parameter as keyof typeof received],
        message: expect.stringMatching(new RegExp(`^${parameter}: .*accounts-table.* Received "(enforce|yes)"\\.$`)),
      })),
    );
  });

  it.each<[string, { update?: Answer; deletion?: Answer }, object]>([
    ['a throttle', { update: failing('ThrottlingException') }, { class: 'transient', error: 'ThrottlingException' }],
    [
      'a throttle inside',
      { update: () => ({ Responses: [{ Error: { Code: 'ThrottlingError' } }] }) },
      { class: 'transient', error: 'ThrottlingError' },
    ],
    [
      'a key of another type',
      { update: () => ({ Responses: [{ Error: { Code: 'ValidationError' } }] }) },
      { class: 'permanent', error: 'ValidationError' },
    ],
    ['no answer', { update: () => ({}) }, { class: 'transient', error: 'NoAnswer' }],
    ['an update that was done', { update: () => ({ Responses: [{}] }) }, { error: 'ProbeTookEffect' }],
    [
      'a deletion that found a record',
      { deletion: () => ({ Responses: [{ Item: { id: { S: 'x' } } }] }) },
      { error: 'ProbeTookEffect' },
    ],
  ])('%s is a failure and says nothing about grants', async (_what, answers, wanted) => {
    expect((await probed('delete', answers)).problems).toMatchObject(wanted);
  });
});
