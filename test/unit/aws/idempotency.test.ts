import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PowertoolsIdempotency } from '../../../lib/aws/idempotency.ts';
import { PortError } from '../../../lib/core/ports/failure.ts';
import type { RememberedResult } from '../../../lib/core/ports/services.ts';

const RESULT: RememberedResult = { state: 'committed', keysDigest: 'digest' };

interface Input {
  readonly Key?: Parameters<typeof unmarshall>[0];
  readonly Item?: Parameters<typeof unmarshall>[0];
  readonly ExpressionAttributeValues?: Parameters<typeof unmarshall>[0];
}

/** One table as Powertools uses it; a record stands in the way while its lease or its answer holds. */
class FakeStore {
  readonly items = new Map<string, Record<string, unknown>>();
  readonly failing = new Set<'put' | 'update' | 'delete'>();
  readonly client = new DynamoDBClient({ region: 'us-east-1' });

  constructor() {
    const send = async (command: { readonly constructor: { readonly name: string }; readonly input: Input }) => {
      const { Key, Item, ExpressionAttributeValues: values = {} } = command.input;
      const id = unmarshall(Key ?? Item ?? {}).id as string;
      if (command.constructor.name === 'PutItemCommand') this.#put(id, Item ?? {});
      if (command.constructor.name === 'UpdateItemCommand') this.#update(id, unmarshall(values));
      if (command.constructor.name === 'DeleteItemCommand') this.#delete(id);
      return {};
    };
    Object.assign(this.client, { send });
  }

  get only(): Record<string, unknown> | undefined {
    expect(this.items.size).toBeLessThanOrEqual(1);
    return [...this.items.values()][0];
  }

  #put(id: string, Item: NonNullable<Input['Item']>): void {
    this.#failIf('put');
    const there = this.items.get(id) as { status: string; in_progress_expiration?: number; raw: never } | undefined;
    const free = there?.status === 'INPROGRESS' && (there.in_progress_expiration ?? Infinity) < Date.now();
    if (there !== undefined && !free) {
      throw new ConditionalCheckFailedException({ message: '', $metadata: {}, Item: there.raw });
    }
    this.items.set(id, { ...unmarshall(Item), raw: Item });
  }

  #update(id: string, values: Record<string, unknown>): void {
    this.#failIf('update');
    const data = values[':response_data'] as RememberedResult;
    const raw = {
      id: { S: id },
      status: { S: 'COMPLETED' },
      expiration: { N: String(values[':expiry']) },
      data: { M: { state: { S: data.state }, keysDigest: { S: data.keysDigest } } },
    };
    this.items.set(id, { ...unmarshall(raw as never), raw });
  }

  #delete(id: string): void {
    this.#failIf('delete');
    this.items.delete(id);
  }

  #failIf(operation: 'put' | 'update' | 'delete'): void {
    if (this.failing.has(operation)) throw Object.assign(new Error('no'), { name: 'ThrottlingException' });
  }
}

let store: FakeStore;
let remaining: number;
let idempotency: PowertoolsIdempotency;

beforeEach(() => {
  store = new FakeStore();
  remaining = 30_000;
  const deadline = { remainingMillis: () => remaining };
  idempotency = new PowertoolsIdempotency({ client: store.client, tableName: 'idempotency', deadline });
});

describe('idempotency by Powertools', () => {
  it('P40: runs a body once per key and remembers its answer', async () => {
    const body = vi.fn(async () => RESULT);
    expect(await idempotency.once('unit 1', body)).toEqual({ kind: 'ran', result: RESULT });
    expect(await idempotency.once('unit 1', body)).toEqual({ kind: 'remembered', result: RESULT });
    expect(await idempotency.once('unit 2', body)).toEqual({ kind: 'ran', result: RESULT });
    expect(body).toHaveBeenCalledTimes(2);
  });

  it('P41: keeps the answer longer than a message can live in both queues', async () => {
    await idempotency.once('unit 1', async () => RESULT);
    const days = (Number(store.only?.expiration) - Date.now() / 1_000) / 86_400;
    expect(days).toBeGreaterThan(18);
  });

  it('P42: stores a lease for what is left of the invocation, under a prefix of ours', async () => {
    await idempotency.once('unit 1', async () => {
      expect(store.only).toMatchObject({ status: 'INPROGRESS', id: expect.stringMatching(/^ledgersweep#/) });
      const left = Number(store.only?.in_progress_expiration) - Date.now();
      expect(left).toBeGreaterThan(25_000);
      expect(left).toBeLessThanOrEqual(30_000);
      return RESULT;
    });
  });

  it('P42: starts nothing where no time is left', async () => {
    remaining = 0;
    const body = vi.fn(async () => RESULT);
    const refused = idempotency.once('unit 1', body);
    await expect(refused).rejects.toMatchObject({ failure: { class: 'deferred' } });
    expect(body).not.toHaveBeenCalled();
    expect(store.items.size).toBe(0);
  });

  it('says so where another holds the lease, and runs once that has lapsed', async () => {
    await idempotency.once('unit 1', async () => {
      expect(await idempotency.once('unit 1', async () => RESULT)).toEqual({ kind: 'in-progress-elsewhere' });
      return RESULT;
    });
    remaining = 1;
    await idempotency.once('unit 2', async () => {
      await vi.waitFor(async () => {
        expect(await idempotency.once('unit 2', async () => RESULT)).toMatchObject({ kind: 'ran' });
      });
      return RESULT;
    });
  });

  it('rethrows what the body threw, the very thing, and remembers nothing', async () => {
    for (const thrown of [
      new Error('mine'),
      new PortError('apply', { class: 'permanent', error: 'X' }),
      'text',
      undefined,
    ]) {
      const failing = idempotency.once('unit 1', () => Promise.reject(thrown));
      expect(
        await failing.then(
          () => 'no error',
          (error) => error,
        ),
      ).toBe(thrown);
      expect(store.items.size).toBe(0);
    }
  });

  it('rethrows what the body threw although its record could not be deleted', async () => {
    store.failing.add('delete');
    const mine = new Error('mine');
    await expect(idempotency.once('unit 1', () => Promise.reject(mine))).rejects.toBe(mine);
  });

  it('P47: the work is done although its answer could not be stored', async () => {
    store.failing.add('update');
    expect(await idempotency.once('unit 1', async () => RESULT)).toEqual({ kind: 'ran', result: RESULT });
  });

  it('a store that fails is transient, and no body runs', async () => {
    store.failing.add('put');
    const body = vi.fn(async () => RESULT);
    const failed = idempotency.once('unit 1', body);
    await expect(failed).rejects.toMatchObject({ failure: { class: 'transient', error: 'ThrottlingException' } });
    expect(body).not.toHaveBeenCalled();
  });

  it('P45: refuses a blank key for good', async () => {
    const refused = idempotency.once('', async () => RESULT);
    await expect(refused).rejects.toMatchObject({ failure: { class: 'permanent' } });
  });
});
