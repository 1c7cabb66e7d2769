import { describe, expect, it } from 'vitest';
import { type AdmissionOptions, MemoryAdmission, World } from '../../model/index.ts';

const RATE = { name: 'records', perSecond: 100 };

function admission(options: Partial<AdmissionOptions> = {}) {
  const world = new World();
  const model = new MemoryAdmission(world, options);
  return {
    model,
    now: world.millis,
    ask: (amount: number, now = world.millis, latest = now + 60_000) => model.acquire([RATE], amount, now, latest),
  };
}

describe('admission in memory', () => {
  it('hands out shares one after the other, each as long as its amount lasts at the rate', async () => {
    const { ask, now } = admission();
    expect(await ask(100)).toEqual({ kind: 'granted', from: now, until: now + 1_000 });
    expect(await ask(50)).toEqual({ kind: 'granted', from: now + 1_000, until: now + 1_500 });
    expect(await ask(1)).toEqual({ kind: 'granted', from: now + 1_500, until: now + 1_510 });
  });

  it('keeps no time that nobody wanted', async () => {
    const { ask, now } = admission();
    await ask(100);
    expect(await ask(100, now + 9_000)).toEqual({ kind: 'granted', from: now + 9_000, until: now + 10_000 });
  });

  it('defers what could not begin by its latest moment, and takes nothing for it', async () => {
    const { ask, now } = admission();
    await ask(500);
    expect(await ask(100, now, now + 4_999)).toEqual({ kind: 'deferred', until: now + 5_000, dimension: 'records' });
    expect(await ask(100, now, now + 5_000)).toMatchObject({ kind: 'granted', from: now + 5_000 });
  });

  it('takes the slowest of several dimensions, and a share of each', async () => {
    const { model, now } = admission();
    const slow = { name: 'calls', perSecond: 10 };
    const granted = await model.acquire([RATE, slow], 100, now, now);
    expect(granted).toEqual({ kind: 'granted', from: now, until: now + 10_000 });
    expect(await model.acquire([RATE], 1, now, now + 60_000)).toMatchObject({ from: now + 1_000 });
  });

  it('may take a share and lose the answer; the share is then nobody’s', async () => {
    const { model, ask, now } = admission({ answerLost: 1 });
    await expect(ask(100)).rejects.toThrow('AnswerLost');
    model.calm();
    expect(await ask(100)).toMatchObject({ from: now + 1_000 });
  });
});
