import { describe, expect, it } from 'vitest';
import type { RememberedResult } from '../../../lib/core/ports/index.ts';
import { MemoryIdempotency, World } from '../../model/index.ts';

const RESULT: RememberedResult = { state: 'committed', keysDigest: 'd' };

/** A body that ends when the test says so. */
function held() {
  let finish: () => void = () => {};
  let fail: (error: Error) => void = () => {};
  const promise = new Promise<RememberedResult>((resolve, reject) => {
    finish = () => resolve(RESULT);
    fail = reject;
  });
  return { body: () => promise, finish: () => finish(), fail: (error: Error) => fail(error) };
}

describe('idempotency model', () => {
  it('remembers a result, and lets nobody else in before the lease ends', async () => {
    const world = new World();
    const port = new MemoryIdempotency(world, { leaseMillis: 1_000 }).on(world.clock());
    const slow = held();
    const first = port.once('k', slow.body);
    expect(await port.once('k', async () => RESULT)).toEqual({ kind: 'in-progress-elsewhere' });
    slow.finish();
    expect(await first).toEqual({ kind: 'ran', result: RESULT });
    expect(await port.once('k', async () => RESULT)).toEqual({ kind: 'remembered', result: RESULT });
  });

  it('P42: leaves the record in progress where the process died in its body, until its lease ends', async () => {
    const world = new World();
    const port = new MemoryIdempotency(world, { leaseMillis: 1_000 }).on(world.clock());
    void port.once('k', () => new Promise(() => {}));
    expect(await port.once('k', async () => RESULT)).toEqual({ kind: 'in-progress-elsewhere' });
    world.advance(1_000);
    expect(await port.once('k', async () => RESULT)).toMatchObject({ kind: 'ran' });
  });

  it('P42: a host whose clock runs ahead starts while another is in its body', async () => {
    const world = new World();
    const store = new MemoryIdempotency(world, { leaseMillis: 10_000 });
    void store.on(world.clock()).once('k', () => new Promise(() => {}));
    expect(await store.on(world.clock(30_000)).once('k', async () => RESULT)).toMatchObject({ kind: 'ran' });
  });

  it('P43: a late loser deletes the record of the winner', async () => {
    const world = new World();
    const store = new MemoryIdempotency(world, { leaseMillis: 1_000 });
    const port = store.on(world.clock());
    const loser = held();
    const late = port.once('k', loser.body);
    world.advance(1_000);
    await port.once('k', async () => RESULT);
    loser.fail(new Error('late'));
    await expect(late).rejects.toThrow('late');
    expect(store.stateOf('k')).toBeUndefined();
    expect(await port.once('k', async () => RESULT)).toMatchObject({ kind: 'ran' });
  });

  it('a failing delete replaces the error of the body', async () => {
    const world = new World();
    const port = new MemoryIdempotency(world, { deleteFails: 1 }).on(world.clock());
    const body = async () => {
      throw new Error('the decision');
    };
    await expect(port.once('k', body)).rejects.toMatchObject({ name: 'PortError' });
  });
});
