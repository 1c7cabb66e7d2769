import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { targetOf } from '../../../lib/aws/targets/dynamodb/target.ts';
import { failureOf, type RecordResult } from '../../../lib/core/ports/index.ts';
import { callOf, deletionItem, deletionOf, fakeClient, fakeMeter, workItem } from './fixture.ts';

type Entry = { readonly Error?: { readonly Code?: string; readonly Item?: object; readonly Message?: string } };

const ITEMS = Array.from({ length: 25 }, (_, n) => workItem(`r${n}`));
const REFUSED = { Error: { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' } };
const STATE = { id: { S: 'r0' }, status: { S: 'ACTIVE' }, lastActivity: { S: '2021-06-01T12:00:00Z' } };

/** Applies to a store that answers the statements so. */
async function applied(responses: readonly Entry[] | undefined, items = ITEMS, read: () => unknown = () => ({})) {
  const meter = fakeMeter();
  const { client, asked } = fakeClient({
    BatchExecuteStatementCommand: () => ({ Responses: responses, ConsumedCapacity: [{ CapacityUnits: 7 }] }),
    GetItemCommand: read,
  });
  const results = await targetOf('batch-execute', { client, meter }).apply(callOf(items));
  return { results, asked, meter };
}

function brief(result: RecordResult | undefined): string {
  if (result?.kind === 'outcome') return `${result.outcome}/${result.applied}`;
  return `${result?.failure.class}/${result?.failure.error}`;
}

describe('statements that fail inside a successful answer', () => {
  it('P27: a throttle of one of 25 is that record only', async () => {
    const responses = ITEMS.map((_, n): Entry => (n === 7 ? { Error: { Code: 'ThrottlingError' } } : {}));
    const { results } = await applied(responses);
    expect(results.map(brief)).toEqual(ITEMS.map((_, n) => (n === 7 ? 'transient/ThrottlingError' : 'expired/now')));
    expect(results.map((result) => result.key)).toEqual(ITEMS.map((item) => item.key));
  });

  it.each([
    ['ProvisionedThroughputExceeded', 'transient'],
    ['RequestLimitExceeded', 'transient'],
    ['TransactionConflict', 'transient'],
    ['InternalServerError', 'transient'],
    ['SomethingNew', 'transient'],
    ['ValidationError', 'permanent'],
    ['ItemCollectionSizeLimitExceeded', 'permanent'],
    ['AccessDenied', 'permanent'],
    ['ResourceNotFound', 'permanent'],
  ])('P52: %s is %s and no refusal', async (code, wanted) => {
    const { results, asked } = await applied([{ Error: { Code: code, Item: STATE } }], [workItem('r0')]);
    expect(results.map(brief)).toEqual([`${wanted}/${code}`]);
    expect(asked).toHaveLength(1);
  });

  it('P27: an answer of another length says nothing about any record', async () => {
    for (const responses of [undefined, [], ITEMS.slice(1).map(() => ({})), [...ITEMS, ITEMS[0]].map(() => ({}))]) {
      const { results, meter } = await applied(responses);
      expect(results.map(brief)).toEqual(ITEMS.map(() => 'transient/NoAnswer'));
      expect(meter.told).toEqual([]);
    }
  });

  it('a failure carries the request id of its call, and so does every other failure of that call', async () => {
    const { client } = fakeClient({
      BatchExecuteStatementCommand: () => ({
        Responses: [{ Error: { Code: 'ThrottlingError' } }, { Error: { Code: 'ValidationError' } }],
        $metadata: { requestId: 'request-1' },
      }),
    });
    const results = await targetOf('batch-execute', { client, meter: fakeMeter() }).apply(
      callOf([workItem('a'), workItem('b')]),
    );
    expect(results.map((result) => (result.kind === 'failed' ? result.failure.requestId : ''))).toEqual([
      'request-1',
      'request-1',
    ]);
  });

  it('P76: a failure carries the code and no message', async () => {
    const { results } = await applied([{ Error: { Code: 'ValidationError', Message: 'marker' } }], [workItem('r0')]);
    expect(JSON.stringify(results)).not.toContain('marker');
  });

  it('a call that fails as a whole throws what it means', async () => {
    const { client } = fakeClient({
      BatchExecuteStatementCommand: () => {
        throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
      },
    });
    const thrown = await targetOf('batch-execute', { client, meter: fakeMeter() })
      .apply(callOf(ITEMS))
      .catch((error: unknown) => failureOf(error));
    expect(thrown).toEqual({ class: 'transient', error: 'ThrottlingException' });
  });
});

describe('a refused condition', () => {
  it('is read back where the store did not return the record', async () => {
    const read = () => ({ Item: { ...STATE, status: { S: 'CLOSED' } } });
    const { results, asked } = await applied([REFUSED], [workItem('r0')], read);
    expect(results.map(brief)).toEqual(['state_changed/not']);
    expect(asked[1]).toMatchObject({
      command: 'GetItemCommand',
      input: { ConsistentRead: true, Key: { id: { S: 'r0' } } },
    });
  });

  it('means absent only where the record is not there to be read', async () => {
    const { results } = await applied([REFUSED], [workItem('r0')]);
    expect(results.map(brief)).toEqual(['absent/not']);
  });

  it('fails as the read does where that fails, and for this record only', async () => {
    const read = () => {
      throw Object.assign(new Error('no'), { name: 'InternalServerError' });
    };
    const { results } = await applied([REFUSED, {}], [workItem('r0'), workItem('r1')], read);
    expect(results.map(brief)).toEqual(['transient/InternalServerError', 'expired/now']);
  });

  it('is tried again where the record is as planned: nothing explains it', async () => {
    const { results } = await applied([{ Error: { ...REFUSED.Error, Item: STATE } }], [workItem('r0')]);
    expect(results.map(brief)).toEqual(['transient/ConditionUnexplained']);
  });

  it('P55: a lost answer of the first try is found by the second', async () => {
    const Item = { ...STATE, status: { S: 'EXPIRED' }, sweepOperationKey: { S: 'operation-r0' } };
    const { results } = await applied([{ Error: { ...REFUSED.Error, Item } }], [workItem('r0')]);
    expect(results.map(brief)).toEqual(['expired/earlier']);
  });
});

describe('what it costs', () => {
  it('a write costs what the plan quoted, a refusal the record that refused, a throttle nothing', async () => {
    const large = { ...STATE, note: { S: 'n'.repeat(2048) }, hold: { BOOL: true } };
    const responses: Entry[] = [
      {},
      { Error: { Code: 'ThrottlingError' } },
      { Error: { ...REFUSED.Error, Item: large } },
      REFUSED,
    ];
    const items = [workItem('a', 4), workItem('b', 4), workItem('c', 4), workItem('d', 4)];
    const { meter } = await applied(responses, items);
    expect(meter.told).toEqual([{ estimated: 4 + 0 + 3 + 1, reported: 7 }]);
  });

  it('by UpdateItem it adds what the client could not know', async () => {
    const meter = fakeMeter();
    const { client } = fakeClient({ UpdateItemCommand: () => ({}) });
    await targetOf('update-item', { client, meter }).apply(callOf([workItem('a', 4)]));
    expect(meter.told).toEqual([{ estimated: 3, reported: 0 }]);
  });
});

describe('UpdateItem', () => {
  it('an error of one record is that record only', async () => {
    const { client } = fakeClient({
      UpdateItemCommand: ({ Key }: { Key: { id: { S: string } } }) => {
        if (Key.id.S === 'r3') throw Object.assign(new Error('no'), { name: 'ThrottlingException' });
        return {};
      },
    });
    const results = await targetOf('update-item', { client, meter: fakeMeter() }).apply(callOf(ITEMS));
    expect(results.map(brief)).toEqual(
      ITEMS.map((item) => (item.key === '["Sr3"]' ? 'transient/ThrottlingException' : 'expired/now')),
    );
  });
});

const EXPIRED = {
  id: { S: 'r0' },
  status: { S: 'EXPIRED' },
  expiredAt: { S: '2026-01-01T02:00:05.250Z' },
  sweepOperationKey: { S: 'earlier:r0' },
};

/** Deletes one record from a store that answers so; the SDK sent the request so many times. */
async function deleted(response: Entry & { readonly Item?: object }, attempts = 1, read: () => unknown = () => ({})) {
  const meter = fakeMeter();
  const { client } = fakeClient({
    BatchExecuteStatementCommand: () => ({ Responses: [response], $metadata: { attempts } }),
    GetItemCommand: read,
  });
  const results = await targetOf('batch-execute', { client, meter }).apply(deletionOf([deletionItem('r0', 4)]));
  return { said: results.map(brief).join(), meter };
}

/** The same by DeleteItem. */
async function deletedAlone(answer: () => unknown, read: () => unknown = () => ({})) {
  const meter = fakeMeter();
  const { client } = fakeClient({ DeleteItemCommand: answer, GetItemCommand: read });
  const results = await targetOf('update-item', { client, meter }).apply(deletionOf([deletionItem('r0', 4)]));
  return { said: results.map(brief).join(), meter };
}

function refusedDeletion(Item: typeof EXPIRED | undefined, attempts = 1) {
  return () => {
    throw new ConditionalCheckFailedException({
      message: 'The conditional request failed',
      $metadata: { attempts },
      ...(Item === undefined ? {} : { Item }),
    });
  };
}

describe('deletions', () => {
  it('P73: only a record that was returned was deleted', async () => {
    expect((await deleted({ Item: EXPIRED })).said).toBe('deleted/now');
    expect((await deleted({})).said).toBe('absent/not');
    expect((await deleted({ Item: {} })).said).toBe('absent/not');
    expect((await deletedAlone(() => ({ Attributes: EXPIRED }))).said).toBe('deleted/now');
    expect((await deletedAlone(() => ({}))).said).toBe('absent/not');
    expect((await deletedAlone(refusedDeletion(undefined))).said).toBe('absent/not');
  });

  it('P55: what the SDK sent more than once may have been deleted by the first sending', async () => {
    expect((await deleted({}, 2)).said).toBe('gone/not');
    expect((await deleted({ Item: EXPIRED }, 2)).said).toBe('deleted/now');
    expect((await deleted(REFUSED, 2)).said).toBe('gone/not');
    expect((await deletedAlone(refusedDeletion(undefined, 3))).said).toBe('gone/not');
    expect((await deletedAlone(() => ({ $metadata: { attempts: 2 } }))).said).toBe('gone/not');
    // An expiry leaves its key in the record, so that nothing is in doubt.
    const { client } = fakeClient({
      BatchExecuteStatementCommand: () => ({ Responses: [REFUSED], $metadata: { attempts: 2 } }),
      GetItemCommand: () => ({}),
    });
    const results = await targetOf('batch-execute', { client, meter: fakeMeter() }).apply(callOf([workItem('r0')]));
    expect(results.map(brief)).toEqual(['absent/not']);
  });

  it.each([
    ['P57: a hold', { hold: { BOOL: true } }, 'held/not'],
    ['P57: a hold on a record made anew', { hold: { S: 'x' }, status: { S: 'ACTIVE' } }, 'held/not'],
    ['another state', { status: { S: 'ACTIVE' } }, 'state_changed/not'],
    ['another time of expiry', { expiredAt: { S: '2026-01-02T00:00:00Z' } }, 'state_changed/not'],
    ['another operation key', { sweepOperationKey: { S: 'later:r0' } }, 'state_changed/not'],
    ['the key of this very deletion', { sweepOperationKey: { S: 'operation-r0' } }, 'state_changed/not'],
    ['nothing that we see', {}, 'transient/ConditionUnexplained'],
  ])('are refused by %s', async (_what, changes, wanted) => {
    const Item = { ...EXPIRED, ...changes };
    expect((await deleted({ Error: { ...REFUSED.Error, Item } })).said).toBe(wanted);
    expect((await deletedAlone(refusedDeletion(Item))).said).toBe(wanted);
    // Where the store does not return the record, it is read.
    expect((await deleted(REFUSED, 1, () => ({ Item }))).said).toBe(wanted);
  });

  it('cost what the plan quoted, one unit where there was nothing, and the record that refused', async () => {
    expect((await deleted({ Item: EXPIRED })).meter.told).toMatchObject([{ estimated: 4 }]);
    expect((await deleted({})).meter.told).toMatchObject([{ estimated: 1 }]);
    const large = { ...EXPIRED, hold: { S: 'h'.repeat(2048) } };
    expect((await deleted({ Error: { ...REFUSED.Error, Item: large } })).meter.told).toMatchObject([{ estimated: 3 }]);
    // By DeleteItem, the client has counted the size of what came back.
    expect((await deletedAlone(() => ({ Attributes: EXPIRED }))).meter.told).toEqual([{ estimated: 3, reported: 0 }]);
    expect((await deletedAlone(() => ({ Attributes: large }))).meter.told).toEqual([{ estimated: 1, reported: 0 }]);
    expect((await deletedAlone(() => ({}))).meter.told).toEqual([{ estimated: 0, reported: 0 }]);
  });
});
